"""What a plan takes back after its statements failed."""

import pytest

from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.widening.plan import Plan
from tests.unit.schemas import DELTA_3_3, make_plan, policy, table_snapshot

UNSET = "alter table `s`.`t` unset tblproperties if exists ('delta.enableTypeWidening')"


def widening_that_turns_the_property_on(snapshot: TableSnapshot | None = None) -> Plan:
    table, source = {"a": "tinyint", "b": "tinyint"}, {"a": "int", "b": "int", "c": "int"}
    return make_plan(table, source, policy(type_widening=True), snapshot or table_snapshot({}))


def test_a_property_that_was_set_for_failed_changes_is_unset():
    plan = widening_that_turns_the_property_on()
    assert plan.undo(plan.statements[:1]) == [UNSET]


@pytest.mark.parametrize("ran", [0, 2, 3])
def test_nothing_is_undone_before_the_property_is_set_or_after_a_type_is_changed(ran: int):
    plan = widening_that_turns_the_property_on()
    assert plan.undo(plan.statements[:ran]) == []


def test_the_property_stays_after_the_first_of_several_statements():
    plan = widening_that_turns_the_property_on(table_snapshot({}, engine=DELTA_3_3))
    assert plan.undo(plan.statements[:1]) == [UNSET]
    assert plan.undo(plan.statements[:2]) == []


def test_a_property_that_was_set_before_is_never_unset():
    plan = widening_that_turns_the_property_on(table_snapshot())
    assert plan.undo(plan.statements[:1]) == []


def test_the_statements_that_ran_can_be_an_iterator():
    plan = widening_that_turns_the_property_on()
    assert plan.undo(iter(plan.statements[:1])) == [UNSET]
