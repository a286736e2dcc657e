"""What other modules know of the rules is the same as what the rules say."""

import pytest
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.stale_types import stale_leaves
from dbt.adapters.deltawiden.widening.common_type import common_type
from dbt.adapters.deltawiden.widening.rules import RULES, Rule, Scale, find_rule

TEXTS = (spark.CharType, spark.VarcharType)
OLD = {
    rule.from_type: spark.DecimalType(6, 2)
    if rule.from_type is spark.DecimalType
    else rule.from_type()
    for rule in RULES
    if rule.from_type not in TEXTS
}


def new(rule: Rule) -> DataType:
    if rule.to_type in TEXTS:
        return rule.to_type(5)
    if rule.to_type is spark.DecimalType:
        return spark.DecimalType(24, 4) if rule.scale is Scale.GROWN else spark.DecimalType(22, 2)
    return rule.to_type()


def named(rule: Rule) -> str:
    return f"{rule.from_type.__name__}-{rule.to_type.__name__}-{rule.scale}"


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.recorded], ids=named)
def test_a_file_is_stale_that_has_the_type_from_before_a_recorded_change(rule: Rule):
    stored, schema = (
        spark.StructType([spark.StructField("x", data_type)])
        for data_type in (OLD[rule.from_type], new(rule))
    )
    assert [leaf.path for leaf in stale_leaves(stored, schema)] == [("x",)]


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.recorded], ids=named)
def test_a_file_is_not_stale_after_another_change(rule: Rule):
    """Delta records none of void, and files have one type for all texts."""
    old = rule.from_type(2) if rule.from_type in TEXTS else OLD[rule.from_type]
    stored, schema = (
        spark.StructType([spark.StructField("x", data_type)]) for data_type in (old, new(rule))
    )
    assert stale_leaves(stored, schema) == ()


@pytest.mark.parametrize(
    "rule",
    # A run makes no text column longer: only widen_columns does.
    [rule for rule in RULES if not rule.manual and rule.from_type not in TEXTS],
    ids=named,
)
def test_the_type_of_every_automatic_rule_can_be_proposed(rule: Rule):
    old, wanted = OLD[rule.from_type], new(rule)
    assert find_rule(old, wanted) is rule
    assert common_type(wanted, old) == wanted
