"""Render the table of refusals in `docs/errors.md` from the code.

    python -m tests.errors_page

updates the table. A unit test compares the page with the code.
"""

import string
from pathlib import Path

from dbt.adapters.deltawiden.widening.refusals import REBUILD, Reason

PAGE = Path(__file__).parents[1] / "docs" / "errors.md"
PLACEHOLDERS = {
    "column": "*column*",
    "table": "*table*",
    "name": "*name*",
    "from_type": "*the table's type*",
    "detail": "*detail*",
    "rebuild": f"`{REBUILD}`",
    "by_hand": "`dbt run-operation widen_columns --args ...`",
    "enable": "`dbt run-operation enable_type_widening --args ...`",
}
_BEFORE, _AFTER = "|---|---|\n", "<!-- end -->"


def page() -> str:
    """Return the page with the texts of the code in its first table."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEFORE)
    _, _, after = rest.partition(_AFTER)
    rows = (f"| {_cell(each.meaning)} | {_cell(each.remedy)} |\n" for each in Reason)
    return "".join([before, _BEFORE, *rows, _AFTER, after])


def _cell(text: str) -> str:
    shown = string.Formatter().vformat(text, (), PLACEHOLDERS).replace("|", "\\|")
    return shown.replace("docs/readers.md", "[readers.md](readers.md)")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
