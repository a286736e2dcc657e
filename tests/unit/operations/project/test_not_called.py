"""The macros that dbt-spark's materializations call, and this adapter's do not."""

import re
from pathlib import Path

import dbt.include.global_project
import dbt.include.spark

import dbt.include.deltawiden
from dbt.adapters.deltawiden.operations.project.configuration import NOT_CALLED

# dbt's own materializations call these.
_CALLED = {"create_view_as", "py_script_comment"}


def sources(package: object) -> list[tuple[Path, str]]:
    folder = Path(str(package.PACKAGE_PATH)) / "macros"  # type: ignore[attr-defined]
    return [(file, file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.sql"))]


def test_each_has_a_name_in_the_list_of_check_project():
    theirs = sources(dbt.include.spark)
    ours = "".join(text for _, text in sources(dbt.include.deltawiden))
    known = "".join(text for _, text in (*theirs, *sources(dbt.include.global_project)))
    macros = set(re.findall(r"\{%-?\s*macro (\w+)\(", known))
    written = "".join(
        text for file, text in theirs if file.stem in ("incremental", "snapshot", "table")
    )
    called = {name for name in re.findall(r"\b(\w+)\(", written) if name in macros}
    left = {name for name in called if "__" not in name and f"{name}(" not in ours}
    assert left - _CALLED - set(NOT_CALLED) == set()
