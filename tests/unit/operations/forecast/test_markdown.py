"""The Markdown of a plan: what a reader of a pull request sees, whatever the names are."""

import re

import pytest

from dbt.adapters.deltawiden.operations.forecast.markdown import plans_markdown
from dbt.adapters.deltawiden.operations.result import OperationResult, OperationResults
from tests.hostile import NAMES
from tests.unit.pages import tables

NOTHING = {"statements": [], "type_changes": [], "new": [], "dropped": [], "not_stored_exactly": []}


def rendered(*results: OperationResult) -> str:
    return plans_markdown(OperationResults("plan", results), (), "")


def planned(model: str, **values: object) -> OperationResult:
    table = f"`shop`.`{model}`"
    return OperationResult(model, {}, {"model": model, "table": table, **NOTHING, **values})


WIDENED = planned(
    "orders",
    statements=["alter table `shop`.`orders` alter column `amount` type bigint"],
    type_changes=[{"path": ["amount"], "from": "int", "to": "bigint"}],
    new=[["s", "a b"]],
)
REFUSED = OperationResult(
    "fares", error="fares: can't\n  Do: ```this```", values={"model": "fares"}
)


def test_the_heading_counts_the_models_by_what_happens_to_them():
    text = rendered(
        REFUSED,
        WIDENED,
        planned("customers"),
        OperationResult("new", {}, {"new_table": True}),
        planned("behind", skipped=True),
    )
    assert text.splitlines()[0] == (
        "## plan: 1 refused, 1 to change, 1 new, 1 skipped, 1 without change"
    )
    ((_, *rows), *_) = tables(text)
    assert [row[2] for row in rows] == [
        "**stops**: see below",
        "1 type change, 1 new column",
        "no change",
        "creates the table",
        "dbt skips it",
    ]


def test_a_change_is_shown_with_its_types_and_statements():
    text = rendered(WIDENED)
    assert "| `amount` | `int` | `bigint` |" in text
    assert "- `` s.`a b` ``: new" in text
    assert "```sql\nalter table `shop`.`orders` alter column `amount` type bigint;\n```" in text


def test_a_message_does_not_end_its_block():
    assert "````text\nfares: can't\n  Do: ```this```\n````" in rendered(REFUSED)


def test_a_name_does_not_end_its_cell():
    change = {"path": ["a|b"], "from": "int", "to": "bigint"}
    assert "| `` `a\\|b` `` | `int` |" in rendered(planned("x|y", type_changes=[change]))


@pytest.mark.parametrize("name", [*NAMES.values(), "<img src=x onerror=alert(1)>", "a|`b`|*c*"])
def test_a_model_of_any_name_is_one_cell_of_text(name: str):
    ((_, (model, table, _)), *_) = tables(rendered(planned(name)) + "\n")
    assert not re.search(r"(?<!\\)[<*_`|\[]", model.replace("\\\\", ""))
    assert re.sub(r"\\([\\|<>*_`\[\]#])", r"\1", model) == name
    fence = re.match("`+", table)[0]
    assert table.endswith(fence)
    assert fence not in table[len(fence) : -len(fence)]


def test_a_model_that_reads_what_the_run_changes_says_so():
    assert "the run changes what it reads: orders" in rendered(
        planned("sums", reads_changed=["orders"])
    )


def test_there_may_be_no_models():
    assert "no incremental models" in rendered()


def test_what_was_applied_and_what_was_not_are_told_apart():
    text = rendered(
        planned("a", statements=["x", "y"], applied=["x"], not_run=["y"], warnings=["z <b>"])
    )
    assert "- not run: `y`\n- z \\<b\\>" in text
    assert "```sql\nx;\n```" in text
