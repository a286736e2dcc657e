"""A change is refused as impossible only if no Delta type holds both types."""

import pytest
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.rules import find_rule
from dbt.adapters.deltawiden.writing.store_assignment import store_assignment
from tests.unit.schemas import PLANNED_MODES, data_type, make_plan, policy, reasons
from tests.unit.strategies import FLOATS, INTEGERS

REACHABLE = [
    *INTEGERS,
    *FLOATS,
    spark.DateType(),
    spark.TimestampNTZType(),
    *(spark.DecimalType(p, s) for s in (0, 1, 2, 5, 18) for p in range(max(s, 1), 39)),
]


def reachable(column: DataType, source: DataType) -> bool:
    """Whether Delta can make some type of the column that holds the values of both."""
    return any(
        find_rule(column, candidate) and store_assignment(source, candidate).fits
        for candidate in REACHABLE
    )


@pytest.mark.parametrize("scale", [0, 1, 2, 5, 18])
@pytest.mark.parametrize("other", [*INTEGERS, *FLOATS], ids=type_text)
def test_a_change_is_impossible_only_if_no_type_that_delta_makes_holds_both(other, scale):
    wrong = []
    for precision in range(max(scale, 1), 39):
        decimal = spark.DecimalType(precision, scale)
        for column, source in ((other, decimal), (decimal, other)):
            impossible = {Reason.IMPOSSIBLE, Reason.TOO_MANY_DIGITS}
            found = {reason for _, reason in reasons(make_plan({"v": column}, {"v": source}))}
            if found & impossible and reachable(column, source):
                wrong.append(f"table {type_text(column)}, source {type_text(source)}")
    assert wrong == []


@pytest.mark.parametrize("column", [*INTEGERS, *FLOATS], ids=type_text)
@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS], ids=type_text)
def test_a_change_between_numbers_is_not_impossible_if_a_type_holds_both(column, source):
    if not store_assignment(source, column).fits and reachable(column, source):
        assert (("v",), Reason.IMPOSSIBLE) not in reasons(make_plan({"v": column}, {"v": source}))


@pytest.mark.parametrize(
    ("table", "source"),
    [
        ("bigint", "double"),
        ("bigint", "float"),
        ("float", "bigint"),
        ("decimal(10,2)", "double"),
        ("decimal(5,0)", "float"),
        ("date", "timestamp"),
        ("timestamp", "timestamp_ntz"),
        ("timestamp_ntz", "timestamp"),
        ("int", "string"),
        ("string", "binary"),
        ("boolean", "int"),
        ("int", ["int"]),
        ({"a": "int"}, "string"),
    ],
)
@pytest.mark.parametrize("mode", PLANNED_MODES)
def test_two_types_without_a_common_type_are_refused_as_impossible(table, source, mode):
    plan = make_plan({"v": table}, {"v": source}, policy(mode))
    assert reasons(plan) == [(("v",), Reason.IMPOSSIBLE)]
    assert (plan.refusals[0].from_type, plan.refusals[0].to_type) == (
        data_type(table),
        data_type(source),
    )


@pytest.mark.parametrize(
    ("table", "source", "digits"),
    [
        ("decimal(38,18)", "decimal(38,10)", "46"),
        ("decimal(38,37)", "int", "47"),
        ("bigint", "decimal(38,20)", "40"),
    ],
)
def test_a_decimal_past_38_digits_is_refused_with_the_digits_it_needs(table, source, digits):
    (refusal,) = make_plan({"v": table}, {"v": source}).refusals
    assert (refusal.reason, refusal.detail) == (Reason.TOO_MANY_DIGITS, digits)
