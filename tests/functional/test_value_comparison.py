"""Spark accepts each comparison of a produced and a stored value, and it tells them apart."""

import pytest
from pyspark.sql import types as spark_types

from dbt.adapters.deltawiden.operations.audit.value_comparison import (
    cast_sql,
    hashes_sql,
    is_comparable,
    same_sql,
    unchanged_sql,
)
from dbt.adapters.deltawiden.sql.types import parse_type, type_sql
from tests.unit.schemas import data_type

ATOMIC = [
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(8,2)", "decimal(10,4)"),
    *("string", "binary", "boolean", "date", "timestamp", "timestamp_ntz"),
    *(["variant"] if hasattr(spark_types, "VariantType") else []),
]


def test_spark_accepts_the_comparison_of_each_pair_of_types(spark):
    pairs = [
        (source, column)
        for source in map(parse_type, ATOMIC)
        for column in [*map(parse_type, ATOMIC), parse_type("char(4)")]
        if is_comparable(source, column)
    ]
    assert len(pairs) > 100
    conditions = []
    for source, column in pairs:
        stored = "string" if isinstance(column, spark_types.CharType) else type_sql(column)
        values = f"cast(null as {type_sql(source)})", source, f"cast(null as {stored})", column
        conditions += [same_sql(*values), cast_sql(*values, (), {})]
        conditions += [unchanged_sql(values[0], source, column, (), {})]
    row = spark.sql(f"select {', '.join(conditions)}").first()
    # Null is null, whatever the types are.
    assert [value for value in row if value is not True] == []


def compared(spark, produced: str, source, stored: str, column) -> tuple[bool, bool]:
    source, column = data_type(source), data_type(column)
    given = f"select {produced} as p, {stored} as s"
    types = "p", source, "s", column
    hashes = hashes_sql([("p", "s", (source, column))])
    are_equal = " = ".join(hashes) if hashes else same_sql(*types)
    unchanged = unchanged_sql("p", source, column, (), {})
    selected = f"{same_sql(*types)}, {cast_sql(*types, (), {})}, {are_equal}, {unchanged}"
    row = spark.sql(f"select {selected} from ({given})").first()
    assert row[2] is row[0], "the hashes are equal only if the values are the same"
    if row[1] and not row[0]:
        assert row[3] is False, "a cast changes the value"
    return row[0], row[1]


def test_a_null_in_another_column_has_another_hash(spark):
    types = (parse_type("int"), parse_type("int"))
    produced, stored = hashes_sql([("a", "c", types), ("b", "d", types)])
    values = "null as a, 5 as b, 5 as c, null as d"
    assert not spark.sql(f"select {produced} = {stored} from (select {values})").first()[0]


SAME, CAST, OTHER = (True, True), (False, True), (False, False)


@pytest.mark.parametrize(
    ("produced", "source", "stored", "column", "result"),
    [
        ("double('NaN')", "double", "float('NaN')", "float", SAME),
        ("double('0.5')", "double", "float('0.5')", "float", SAME),
        ("double('0.1')", "double", "float('0.1')", "float", CAST),
        ("null", "int", "0", "int", OTHER),
        ("0", "int", "null", "int", OTHER),
        ("cast(1.25 as decimal(10,4))", "decimal(10,4)", "1.25", "decimal(8,2)", SAME),
        ("cast(1.255 as decimal(10,4))", "decimal(10,4)", "1.26", "decimal(8,2)", CAST),
        ("cast(1.255 as decimal(10,4))", "decimal(10,4)", "1.25", "decimal(8,2)", OTHER),
        ("7.9D", "double", "7", "int", CAST),
        ("7D", "double", "7", "int", SAME),
        ("7", "int", "'7'", "string", SAME),
        ("'007'", "string", "7", "int", CAST),
        ("5000000000L", "bigint", "705032704", "int", OTHER),
        # A null is no result of a cast, in which Spark raises an error instead.
        ("5000000000L", "bigint", "null", "int", OTHER),
        ("12345678.9D", "double", "null", "decimal(5,2)", OTHER),
        ("9007199254740993L", "bigint", "9007199254740992D", "double", CAST),
        ("true", "boolean", "1", "int", SAME),
        ("'ab'", "string", "'ab  '", "char(4)", CAST),
        ("'ab'", "string", "'abc'", "string", OTHER),
        ("array(1.25, null)", ["decimal(3,2)"], "array(1.3, null)", ["decimal(2,1)"], CAST),
        ("array(1, null)", ["int"], "array(1L, null)", ["bigint"], SAME),
        ("array(1, 2)", ["int"], "array(1L)", ["bigint"], OTHER),
        ("array(1, 2)", ["int"], "array(2L, 1L)", ["bigint"], OTHER),
        (
            "map('a', 1, 'b', 2)",
            ("string", "int"),
            "map('b', 2L, 'a', 1L)",
            ("string", "bigint"),
            SAME,
        ),
        ("map('a', 1)", ("string", "int"), "map('c', 1L)", ("string", "bigint"), OTHER),
        (
            "map(1.25, 'x')",
            ("decimal(3,2)", "string"),
            "map(1.3, 'x')",
            ("decimal(2,1)", "string"),
            CAST,
        ),
        (
            "array(named_struct('b', 2, 'a', 1))",
            [{"b": "int", "a": "int"}],
            "array(named_struct('a', 1L, 'b', 2L))",
            [{"a": "bigint", "b": "bigint"}],
            SAME,
        ),
    ],
)
def test_a_comparison_tells_the_same_value_a_cast_and_another_value_apart(
    spark, produced, source, stored, column, result
):
    assert compared(spark, produced, source, stored, column) == result
