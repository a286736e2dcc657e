"""The macros of dbt-spark that the adapter replaces. A test fails if one of them changes."""

import hashlib
import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import dbt.include.spark
import pytest

import dbt.include.deltawiden

KNOWN = Path(__file__).with_name("upstream_macros.json")
_BLOCK = re.compile(
    r"\{%-?\s*(?P<kind>macro|materialization)\s+(?P<name>\w+)(?P<signature>.*?)%\}"
    r"(?P<body>.*?)\{%-?\s*end(?P=kind)",
    re.DOTALL,
)
# The adapter's macros replace these without a dispatch.
_OWNED = (
    *("incremental", "snapshot", "table", "clone"),
    *("dbt_spark_get_incremental_sql", "get_insert_into_sql", "get_insert_overwrite_sql"),
    "spark_build_snapshot_staging_table",
)


def blocks(package: object) -> Iterator[tuple[str, str]]:
    """Yield each macro and materialization of a package: its name, and its text without spaces."""
    folder = Path(str(package.PACKAGE_PATH)) / "macros"  # type: ignore[attr-defined]
    for file in sorted(folder.rglob("*.sql")):
        for found in _BLOCK.finditer(file.read_text(encoding="utf-8")):
            yield found["name"], "".join((found["signature"] + found["body"]).split())


def replaced() -> dict[str, str]:
    """The hashes of the dbt-spark macros that the adapter replaces."""
    ours = {name.removeprefix("deltawiden__") for name, _ in blocks(dbt.include.deltawiden)}
    return {
        name: hashlib.sha256(text.encode()).hexdigest()[:16]
        for name, text in blocks(dbt.include.spark)
        if (name.removeprefix("spark__") in ours and (name.startswith("spark__"))) or name in _OWNED
    }


def test_the_macros_of_dbt_spark_have_not_changed():
    minor = ".".join(version("dbt-spark").split(".")[:2])
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    if minor not in known:
        pytest.fail(f"dbt-spark {minor} is new: compare its macros with ours, then add its hashes")
    changed = {
        name
        for name in known[minor].keys() | replaced().keys()
        if known[minor].get(name) != replaced().get(name)
    }
    assert not changed, f"dbt-spark has changed {changed}: compare with ours, then change the hash"
