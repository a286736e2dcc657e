"""Write `docs/reference.md` from the code: each configuration, and each operation.

    python -m tests.reference_page

writes the page. A unit test compares the page with the code.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from dbt.adapters.deltawiden.config.after_run import AFTER_RUN
from dbt.adapters.deltawiden.config.validation import CHECKS, configuration_problems

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference.md"
OPERATIONS = ROOT / "dbt/adapters/deltawiden/operations/operations.yml"
# Where a page says more of a configuration than what is accepted.
DECISIONS = ("type_widening", "type_widening_compatible_with", "on_lossy_write")
PAGES = {
    **{key: f"decisions.md#{key}" for key in (*DECISIONS, "rewrite_widened_files")},
    "backfill_new_columns": "decisions.md#backfill_new_columns",
    "on_schema_change": "decisions.md#differences-and-actions",
    "store_assignment_policy": "strategies.md#materializations-of-your-own",
    "renamed_columns": "renames.md",
    "location_root": "folders.md",
    "liquid_clustered_by": "clustering.md",
    "catalog_name": "catalogs.md",
}
# What is accepted of a configuration whose other values are no error.
IGNORED = {
    "optimize": f"{AFTER_RUN}. Another value is ignored with a warning",
    "row_filter": "nothing. It has no effect, with a warning",
    "sql_header": "nothing. It is not run, with a warning",
}
HEAD = """# Reference

<!-- `python -m tests.reference_page` writes this page from the code. -->

This page lists every configuration that is checked before a model's first statement, and every
operation. [configuration.md](configuration.md), [maintenance.md](maintenance.md) and
[errors.md](errors.md) say what they do.

## Configurations of a model

Another value is an error, which names the model, the key, the value and what is accepted. An
empty value is the same as no value, except for `liquid_clustered_by: []`, which removes the
clustering. So is `false` where it is not listed, except for `on_lossy_write` and
`on_schema_change`, which refuse it.

| configuration | accepted |
|---|---|
"""
BETWEEN = """
## Operations

An operation is run by `dbt run-operation NAME --args '{...}'`.
"""


class _Wrong:
    """A value that no configuration accepts."""

    def __repr__(self) -> str:
        return "?"


def page() -> str:
    """Return the page."""
    keys = sorted({*CHECKS, *PAGES, *IGNORED})
    rows = "".join(f"| {_linked(key)} | {_accepted(key)} |\n" for key in keys)
    with OPERATIONS.open(encoding="utf-8") as file:
        operations = sorted(yaml.safe_load(file)["macros"], key=lambda each: str(each["name"]))
    return f"{HEAD}{rows}{BETWEEN}{''.join(map(_operation, operations))}"


def _linked(key: str) -> str:
    return f"[`{key}`]({PAGES[key]})" if key in PAGES else f"`{key}`"


def _accepted(key: str) -> str:
    """Return what the error about a wrong value says is accepted."""
    if key in IGNORED:
        return IGNORED[key]
    config = {key: _Wrong(), "materialized": "incremental"}
    (problem,) = {text for text in _problems(config) if text.startswith(f"{key}: got ")}
    return problem.partition("accepted: ")[2].replace("|", "\\|")


def _problems(config: dict[str, Any]) -> Iterator[str]:
    for text in configuration_problems(config, lambda _: False):
        yield from text.splitlines()


def _operation(macro: dict[str, Any]) -> str:
    arguments = "".join(
        f"| `{each['name']}` | `{each['type']}` | {_line(each['description'])} |\n"
        for each in macro["arguments"]
    )
    table = f"\n| argument | type | meaning |\n|---|---|---|\n{arguments}"
    return f"\n### {macro['name']}\n\n{_line(macro['description'])}\n{table}"


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
