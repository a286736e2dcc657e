"""The types, statements and refusals on the pages are those of the code."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.report import changes_text, refusals_text
from dbt.adapters.deltawiden.widening.rules import RULES, Rule, Scale
from tests.unit.pages import DOCS, every_page, read, table, tables
from tests.unit.schemas import DELTA_3_3, data_type, make_plan, policy, table_snapshot

# Types


def rows_of_rules() -> set[tuple[str, str, str, str]]:
    """The rules as the page has them: from, what a run makes, what a person can, since."""
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for rule in RULES:
        row = found.setdefault((_from(rule), ".".join(map(str, rule.since))), ([], []))
        # A run never changes the length of a text. Another length is not a difference.
        by_hand = rule.manual or _from(rule) == "`char(n)`, `varchar(n)`"
        target = _to(rule)
        if target not in row[by_hand]:
            row[by_hand].append(target)
    return {
        (name, ", ".join(row[0]), ", ".join(row[1]), since) for (name, since), row in found.items()
    }


def _from(rule: Rule) -> str:
    name = rule.from_type.typeName()
    if name in ("char", "varchar"):
        return "`char(n)`, `varchar(n)`"
    return "`decimal(p,s)`" if name == "decimal" else f"`{_spelled(name)}`"


def _to(rule: Rule) -> str:
    name = rule.to_type.typeName()
    if rule.from_type.typeName() == "void":
        return "any atomic type that a table can have"
    if rule.scale in (Scale.KEPT, Scale.GROWN):
        return "`decimal` of no fewer digits before and after the point"
    if rule.integer_digits:
        return f"`decimal` of {rule.integer_digits} digits before the point"
    return "`varchar` of no smaller length" if name == "varchar" else f"`{_spelled(name)}`"


def _spelled(name: str) -> str:
    spelled = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
    return spelled.get(name, name)


def test_the_type_changes_are_those_of_the_rules():
    assert {tuple(row) for row in table("decisions.md", "from|widened")} == rows_of_rules()


@pytest.mark.parametrize(
    ("table_type", "model", "documented"), table("decisions.md", "table|model|becomes")
)
def test_the_type_that_a_table_goes_to(table_type: str, model: str, documented: str):
    _holds(_planned(table_type, model), documented)


@pytest.mark.parametrize(
    ("table_type", "model", "documented"), table("manual.md", "table|model|the command")
)
def test_the_type_that_the_command_names(table_type: str, model: str, documented: str):
    plan = _planned(table_type, model)
    _holds(
        plan,
        documented.replace("none:", "refused:")
        if "none" in documented
        else f"by hand {documented}",
    )


def _planned(table_type: str, model: str) -> Plan:
    return make_plan(
        {"v": table_type.strip("`")}, {"v": model.strip("`")}, policy(type_widening=True)
    )


def _holds(plan: Plan, documented: str) -> None:
    by_hand = re.search(r"by hand `(.+)`", documented)
    digits = re.search(r"(\d+) digits", documented)
    if not plan.refusals:
        assert [f"`{change.to_type.simpleString()}`" for change in plan.changes] == [documented]
    elif by_hand:
        (refusal,) = plan.refusals
        assert refusal.reason is Reason.MANUAL
        assert refusal.to_type == data_type(by_hand.group(1))
    elif digits:
        assert [refusal.detail for refusal in plan.refusals] == [digits.group(1)]
    else:
        assert "refused" in documented
        assert [refusal.reason for refusal in plan.refusals] == [Reason.IMPOSSIBLE]


WITHIN = {
    "between integers": ("tinyint", "bigint"),
    "`float` to `double`": ("float", "double"),
    "more digits before a decimal's point": ("decimal(8,2)", "decimal(9,2)"),
    "more digits after it": ("decimal(8,2)", "decimal(9,3)"),
    "`date` to `timestamp_ntz`": ("date", "timestamp_ntz"),
}


def test_the_page_shows_the_changes_that_each_format_supports():
    rows = {change: cells for change, *cells in table("decisions.md", "|`iceberg_v2`|`ducklake`")}
    assert WITHIN.keys() <= rows.keys()
    by_hand = rows["integer to `decimal` or `double`, by hand"]
    for number, kept in enumerate((Compatibility.ICEBERG_V2, Compatibility.DUCKLAKE)):
        model = policy(type_widening=True, compatible_with=frozenset({kept}))
        for change, (before, after) in WITHIN.items():
            plan = make_plan({"v": before}, {"v": after}, model)
            assert (rows[change][number] == "yes") != bool(plan.refusals), (change, kept)
        supported = {kept in rule.also_in_formats for rule in RULES if rule.manual}
        assert supported == {by_hand[number] == "yes"}, kept


# Statements

CUSTOMERS: Mapping[str, Any] = {
    "address": {"zip": "int", "city": "string"},
    "items": [{"sku": "string", "price": "decimal(8,2)"}],
    "scores": ("smallint", "float"),
}
WIDER: Mapping[str, Any] = {
    "address": {"city": "string", "zip": "bigint", "country": "string"},
    "items": [{"sku": "string", "price": "decimal(10,4)", "vat": "double"}],
    "scores": ("int", "double"),
}


def test_the_example_of_nested_types_is_the_planned_one():
    _, blocks = read(DOCS / "nested.md")
    shown = [block.text.strip() for block in blocks]
    plan = make_plan(CUSTOMERS, WIDER, snapshot=table_snapshot(name="`shop`.`customers`"))
    assert "\n".join(plan.statements) in shown
    assert changes_text(plan) in shown
    assert plan.write.columns[0].select_sql in shown
    refused = make_plan(
        CUSTOMERS, WIDER, snapshot=table_snapshot(name="`shop`.`customers`", engine=DELTA_3_3)
    )
    assert refusals_text(refused) in shown
    text, _ = read(DOCS / "nested.md")
    types = [row for rows in tables(text) if rows[0] == ["column", "type"] for row in rows[1:]]
    columns = [*CUSTOMERS.items(), *WIDER.items()]
    assert [[f"`{name}`", f"`{_text(column)}`"] for name, column in columns] == types


def _text(short: Any) -> str:
    return type_text(data_type(short))


def test_the_refusal_that_manual_shows_is_the_one_that_is_raised():
    _, blocks = read(DOCS / "manual.md")
    plan = make_plan(
        {"quantity": "int"},
        {"quantity": "decimal(5,2)"},
        snapshot=table_snapshot(name="`shop`.`orders`"),
    )
    assert refusals_text(plan) in [block.text.strip() for block in blocks]


def test_the_line_that_decisions_shows_is_the_one_that_is_logged():
    _, blocks = read(DOCS / "decisions.md")
    plan = make_plan(
        {"amount": "decimal(8,2)", "ordered_at": "date"},
        {"amount": "decimal(10,4)", "ordered_at": "timestamp_ntz"},
        snapshot=table_snapshot(name="`shop`.`orders`"),
    )
    assert changes_text(plan) in [block.text.strip() for block in blocks]


@every_page
def test_a_refusal_that_a_page_shows_is_one_of_the_codes(page: Path):
    _, blocks = read(page)
    meanings = [re.sub(r"\\\{\w+\\\}", ".+", re.escape(reason.meaning)) for reason in Reason]
    for block in blocks:
        for why in re.findall(r"^ *Why: (.+)\.$", block.text, re.MULTILINE):
            assert any(re.fullmatch(meaning, why) for meaning in meanings), why
