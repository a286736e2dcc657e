"""The type of a partition column is changed only if its old values are found afterwards."""

import pytest

from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.planner import plan_by_hand
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import data_type, make_plan, reasons, schema_of, table_snapshot

DELTA_4_2, DELTA_4_3 = (Engine(spark=(4, 1), delta=(4, minor, 0)) for minor in (2, 3))
OTHER_TEXT = [
    ("decimal(8,2)", "decimal(12,4)"),
    ("date", "timestamp_ntz"),
    ("int", "decimal(12,2)"),
    ("smallint", "double"),
]
SAME_TEXT = [
    ("tinyint", "int"),
    ("int", "bigint"),
    ("decimal(8,2)", "decimal(12,2)"),
    ("int", "decimal(10,0)"),
    ("varchar(3)", "string"),
]


def refused(before: str, after: str, engine: Engine, **others: object) -> list:
    changed = TypeChange(("P",), data_type(before), data_type(after))
    snapshot = table_snapshot(
        engine=engine,
        **{"partition_columns": ("p",), **others},
        schema=schema_of({"P": before}),
    )
    return reasons(plan_by_hand([changed], snapshot))


@pytest.mark.parametrize(("before", "after"), OTHER_TEXT)
def test_a_change_of_the_text_is_refused_if_delta_compares_texts(before, after):
    assert refused(before, after, DELTA_4_2) == [(("P",), Reason.PARTITION_TEXT)]
    assert refused(before, after, DELTA_4_3) == []
    assert refused(before, after, DELTA_4_2, partition_columns=("other",)) == []


@pytest.mark.parametrize(("before", "after"), SAME_TEXT)
def test_a_change_that_keeps_the_text_is_made(before, after):
    assert refused(before, after, DELTA_4_2) == []


def test_a_run_is_refused_as_a_change_by_hand_is():
    snapshot = table_snapshot(engine=DELTA_4_2, partition_columns=("d",))
    plan = make_plan({"d": "decimal(8,2)"}, {"d": "decimal(12,4)"}, snapshot=snapshot)
    assert reasons(plan) == [(("d",), Reason.PARTITION_TEXT)]
    assert "upgrade" in plan.refusals[0].words("t", "", "")[1]
