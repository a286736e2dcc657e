"""The permitted type changes, compared with a table of what Spark and Delta accepted."""

import itertools

import pytest
from hypothesis import given
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.engine import Capability, Engine
from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.widening.rules import RULES, find_rule, manual_integer_digits
from dbt.adapters.deltawiden.writing.store_assignment import store_assignment
from tests.unit.schemas import DELTA_3_3, DELTA_4_0, DELTA_4_4, data_type
from tests.unit.strategies import FLOATS, atoms, many_examples

CASE_INSENSITIVE = spark.StringType("UTF8_LCASE")

ATOMS = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(5,2)",
    "decimal(9,0)",
    "decimal(10,0)",
    "decimal(10,2)",
    "decimal(11,2)",
    "decimal(11,4)",
    "decimal(12,2)",
    "decimal(12,4)",
    "decimal(19,0)",
    "decimal(20,0)",
    "decimal(22,2)",
    "decimal(38,0)",
    "decimal(38,38)",
    "string",
    "binary",
    "boolean",
    "date",
    "timestamp",
    "timestamp_ntz",
    "varchar(5)",
    "varchar(10)",
    "char(5)",
    "char(10)",
    "void",
    "variant",
)

UNIVERSE = {
    **{text: data_type(text) for text in ATOMS},
    "string collate UTF8_LCASE": CASE_INSENSITIVE,
    "array<int>": data_type(["int"]),
    "array<bigint>": data_type(["bigint"]),
    "struct<a: int>": data_type({"a": "int"}),
    "struct<a: bigint>": data_type({"a": "bigint"}),
    "map<int, int>": data_type(("int", "int")),
}

TEN_DIGITS = {
    "decimal(10,0)",
    "decimal(12,2)",
    "decimal(19,0)",
    "decimal(20,0)",
    "decimal(22,2)",
    "decimal(38,0)",
}
TWENTY_DIGITS = {"decimal(20,0)", "decimal(22,2)", "decimal(38,0)"}

OF_TEXT = {
    "varchar(5)": {"varchar(10)", "string"},
    "varchar(10)": {"string"},
    "char(5)": {"varchar(5)", "varchar(10)", "string"},
    "char(10)": {"varchar(10)", "string"},
}

BY_DELTA_4 = {
    "tinyint": {"smallint", "int", "bigint", "double"} | TEN_DIGITS,
    "smallint": {"int", "bigint", "double"} | TEN_DIGITS,
    "int": {"bigint", "double"} | TEN_DIGITS,
    "bigint": TWENTY_DIGITS,
    "float": {"double"},
    "decimal(5,2)": {
        "decimal(10,2)",
        "decimal(11,2)",
        "decimal(11,4)",
        "decimal(12,2)",
        "decimal(12,4)",
        "decimal(22,2)",
    },
    "decimal(9,0)": {
        "decimal(10,0)",
        "decimal(11,2)",
        "decimal(12,2)",
        "decimal(19,0)",
        "decimal(20,0)",
        "decimal(22,2)",
        "decimal(38,0)",
    },
    "decimal(10,0)": TEN_DIGITS - {"decimal(10,0)"},
    "decimal(10,2)": {"decimal(11,2)", "decimal(12,2)", "decimal(12,4)", "decimal(22,2)"},
    "decimal(11,2)": {"decimal(12,2)", "decimal(22,2)"},
    "decimal(11,4)": {"decimal(12,4)"},
    "decimal(12,2)": {"decimal(22,2)"},
    "decimal(19,0)": {"decimal(20,0)", "decimal(22,2)", "decimal(38,0)"},
    "decimal(20,0)": {"decimal(22,2)", "decimal(38,0)"},
    "date": {"timestamp_ntz"},
    **OF_TEXT,
}

# A void column has no value that another type could not store.
BY_DELTA_4_4 = {**BY_DELTA_4, "void": {*ATOMS} - {"void"}}

BY_DELTA_3_3 = {"tinyint": {"smallint", "int"}, "smallint": {"int"}, **OF_TEXT}


def permitted(source: str, engine: Engine) -> set[str]:
    rules = {target: find_rule(UNIVERSE[source], UNIVERSE[target]) for target in UNIVERSE}
    return {target for target, rule in rules.items() if rule and rule.since <= engine.delta}


@pytest.mark.parametrize("source", UNIVERSE)
@pytest.mark.parametrize(
    ("engine", "accepted"),
    [
        (DELTA_4_4, BY_DELTA_4_4),
        (Engine(spark=(4, 1), delta=(4, 3, 9)), BY_DELTA_4),
        (DELTA_4_0, BY_DELTA_4),
        (DELTA_3_3, BY_DELTA_3_3),
    ],
    ids=["4.4", "4.3", "4.0", "3.3"],
)
def test_a_change_is_permitted_if_delta_accepts_it(source: str, engine: Engine, accepted):
    assert permitted(source, engine) == accepted.get(source, set())


@pytest.mark.parametrize("delta", [(3, 1), (2, 4, 0)])
def test_no_type_change_is_permitted_before_delta_3_2(delta: tuple[int, ...]):
    assert all(not permitted(data_type, Engine((3, 5), delta)) for data_type in UNIVERSE)


# Iceberg V2: Delta's protocol, "Writer Requirements for Type Widening", lists what it lacks.
NOT_IN_ICEBERG_V2 = {
    "tinyint": {"double"} | TEN_DIGITS,
    "smallint": {"double"} | TEN_DIGITS,
    "int": {"double"} | TEN_DIGITS,
    "bigint": TWENTY_DIGITS,
    "date": {"timestamp_ntz"},
    "decimal(5,2)": {"decimal(11,4)", "decimal(12,4)"},
    "decimal(9,0)": {"decimal(11,2)", "decimal(12,2)", "decimal(22,2)"},
    "decimal(10,0)": {"decimal(12,2)", "decimal(22,2)"},
    "decimal(10,2)": {"decimal(12,4)"},
    "decimal(19,0)": {"decimal(22,2)"},
    "decimal(20,0)": {"decimal(22,2)"},
}

# DuckLake: its documentation, "Type Promotion", lists what it has; its varchar has no length.
# DuckDB's extension makes every decimal wider.
IN_DUCKLAKE = {
    **{source: wider for source, wider in BY_DELTA_4_4.items() if source.startswith("decimal")},
    "tinyint": {"smallint", "int", "bigint"},
    "smallint": {"int", "bigint"},
    "int": {"bigint"},
    "float": {"double"},
    "void": BY_DELTA_4_4["void"],
    **OF_TEXT,
}


def permitted_within(source: str, format: Compatibility) -> set[str]:
    rules = {target: find_rule(UNIVERSE[source], UNIVERSE[target]) for target in UNIVERSE}
    return {target for target, rule in rules.items() if rule and format in rule.also_in_formats}


@pytest.mark.parametrize("source", UNIVERSE)
def test_a_change_that_iceberg_v2_lacks_is_not_compatible_with_it(source: str):
    expected = BY_DELTA_4_4.get(source, set()) - NOT_IN_ICEBERG_V2.get(source, set())
    assert permitted_within(source, Compatibility.ICEBERG_V2) == expected


@pytest.mark.parametrize("source", UNIVERSE)
def test_a_change_is_compatible_with_ducklake_if_ducklake_promotes_the_type(source: str):
    assert permitted_within(source, Compatibility.DUCKLAKE) == IN_DUCKLAKE.get(source, set())


@pytest.mark.parametrize("source", ["tinyint", "smallint", "int", "bigint"])
def test_only_an_integer_to_decimal_or_double_is_manual(source: str):
    for target in permitted(source, DELTA_4_4):
        rule = find_rule(UNIVERSE[source], UNIVERSE[target])
        assert rule is not None
        assert rule.manual == target.startswith(("decimal", "double")), target


@pytest.mark.parametrize("source", [data_type for data_type in UNIVERSE if "int" not in data_type])
def test_nothing_but_an_integer_has_a_manual_change(source: str):
    rules = [find_rule(UNIVERSE[source], data_type) for data_type in UNIVERSE.values()]
    assert not any(rule.manual for rule in rules if rule)


def test_a_longer_varchar_and_a_type_for_nulls_are_not_recorded_and_every_other_change_is():
    for source, target in itertools.permutations(UNIVERSE, 2):
        rule = find_rule(UNIVERSE[source], UNIVERSE[target])
        if rule:
            assert rule.recorded == (source not in {*OF_TEXT, "void"}), (source, target)


def test_only_timestamp_ntz_needs_a_table_feature():
    features = {
        (source, target): rule.feature
        for source, target in itertools.permutations(UNIVERSE, 2)
        if (rule := find_rule(UNIVERSE[source], UNIVERSE[target])) and rule.feature
    }
    assert features == {("date", "timestamp_ntz"): "timestampNtz"}


@many_examples
@given(atoms, atoms)
def test_every_permitted_change_keeps_every_value(source: DataType, target: DataType):
    if find_rule(source, target):
        assert store_assignment(source, target).fits


@many_examples
@given(atoms, atoms, atoms)
def test_changes_made_one_after_the_other_are_permitted_at_once(one, two, three):
    first, then = find_rule(one, two), find_rule(two, three)
    if first and then and one not in FLOATS:
        assert find_rule(one, three)


@given(atoms)
def test_no_rule_permits_a_change_to_the_same_type(data_type: DataType):
    assert find_rule(data_type, data_type) is None


@pytest.mark.parametrize("text", ["tinyint", "smallint", "int", "bigint"])
def test_an_integer_needs_as_many_digits_as_delta_requires(text: str):
    digits = 20 if text == "bigint" else 10
    assert manual_integer_digits(data_type(text)) == digits
    assert find_rule(data_type(text), spark.DecimalType(digits, 0))
    assert not find_rule(data_type(text), spark.DecimalType(digits - 1, 0))


@pytest.mark.parametrize("text", ["float", "double", "decimal(5,2)", "string", "date"])
def test_only_an_integer_needs_digits_of_a_decimal(text: str):
    assert manual_integer_digits(data_type(text)) == 0


@pytest.mark.parametrize(
    ("engine", "can"),
    [
        (DELTA_4_4, True),
        (DELTA_4_0, True),
        (DELTA_3_3, False),
        (Engine(spark=(3, 5, 9), delta=(4, 0)), False),
        (Engine(spark=(4, 0), delta=(3, 3)), False),
        (Engine(spark=(4, 0), delta=(4, 0)), True),
        (Engine(spark=(), delta=()), False),
    ],
)
def test_several_columns_are_altered_at_once_only_from_spark_4_and_delta_4_on(engine, can):
    assert engine.can(Capability.ALTER_SEVERAL_COLUMNS) is can


def test_no_two_rules_say_the_same():
    keys = [(rule.from_type, rule.to_type, rule.scale) for rule in RULES]
    assert len(keys) == len(set(keys))
