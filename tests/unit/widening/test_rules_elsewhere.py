"""What other modules know of the rules is the same as what the rules say."""

import pytest
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.stale_types import stale_leaves
from dbt.adapters.deltawiden.widening.common_type import common_type
from dbt.adapters.deltawiden.widening.rules import RULES, Rule, Scale, find_rule

TEXTS = (spark.CharType, spark.VarcharType)
OLD = {
    rule.source: spark.DecimalType(6, 2) if rule.source is spark.DecimalType else rule.source()
    for rule in RULES
    if rule.source not in TEXTS
}


def new(rule: Rule) -> DataType:
    if rule.target in TEXTS:
        return rule.target(5)
    if rule.target is spark.DecimalType:
        return spark.DecimalType(24, 4) if rule.scale is Scale.GROWN else spark.DecimalType(22, 2)
    return rule.target()


def named(rule: Rule) -> str:
    return f"{rule.source.__name__}-{rule.target.__name__}-{rule.scale}"


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.recorded], ids=named)
def test_a_file_is_stale_that_has_the_type_from_before_a_recorded_change(rule: Rule):
    stored, schema = (
        spark.StructType([spark.StructField("x", data_type)])
        for data_type in (OLD[rule.source], new(rule))
    )
    assert [leaf.path for leaf in stale_leaves(stored, schema)] == [("x",)]


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.recorded], ids=named)
def test_a_file_is_not_stale_after_another_change(rule: Rule):
    """Delta records none of void, and files have one type for all texts."""
    old = rule.source(2) if rule.source in TEXTS else OLD[rule.source]
    stored, schema = (
        spark.StructType([spark.StructField("x", data_type)]) for data_type in (old, new(rule))
    )
    assert stale_leaves(stored, schema) == ()


@pytest.mark.parametrize(
    "rule",
    # A run makes no text column longer: only widen_columns does.
    [rule for rule in RULES if not rule.manual and rule.source not in TEXTS],
    ids=named,
)
def test_the_type_of_every_automatic_rule_can_be_proposed(rule: Rule):
    old, wanted = OLD[rule.source], new(rule)
    assert find_rule(old, wanted) is rule
    assert common_type(old, wanted) == wanted
