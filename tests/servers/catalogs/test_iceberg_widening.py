"""Iceberg tables: what can be widened, compared with Iceberg itself, and models that widen them."""

import math
import operator
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.policy import Policy
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.widening.blockers import iceberg_blockers
from dbt.adapters.deltawiden.widening.request import find_leaf
from dbt.adapters.deltawiden.widening.rules import find_rule
from tests.conformance.test_widening import accepts
from tests.conformance.types import POSITIONS
from tests.functional.operate import document, operate
from tests.functional.support import dbt

TYPES = (
    "boolean",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(5,2)",
    "decimal(10,0)",
    "decimal(10,2)",
    "decimal(12,2)",
    "decimal(12,4)",
    "decimal(20,0)",
    "decimal(38,18)",
    "string",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
)
"""Types that an Iceberg column can have."""


@pytest.fixture(scope="module")
def namespace(spark: SparkSession) -> Iterator[str]:
    spark.sql("create namespace if not exists lake.conformance")
    yield "lake.conformance"
    for row in spark.sql("show tables in lake.conformance").collect():
        spark.sql(f"drop table lake.conformance.{row.tableName}")
    spark.sql("drop namespace lake.conformance")


@pytest.mark.parametrize("position", POSITIONS)
def test_rules_and_iceberg_agree_on_every_pair(spark: SparkSession, namespace: str, position: str):
    place = POSITIONS[position]
    table = f"{namespace}.{position.replace(' ', '_')}"
    pairs = [(source, target) for source in TYPES for target in TYPES if source != target]
    definitions = (f"c{n} {place.type.format(pair[0])}" for n, pair in enumerate(pairs))
    spark.sql(f"create table {table} ({', '.join(definitions)}) using iceberg")
    before = spark.table(table).schema
    permitted, made = set(), set()
    for number, (source, target) in enumerate(pairs):
        if not blockers(before, f"c{number}{place.path}", source, target):
            permitted.add((source, target))
        if accepts(spark, table, f"c{number}{place.path} type {target}"):
            made.add((source, target))
    after = spark.table(table).schema
    changed = {
        pair
        for n, pair in enumerate(pairs)
        if find_leaf(path(f"c{n}{place.path}"), after)[1] == parse_type(pair[1])
    }
    assert permitted == made == changed
    assert bool(permitted) == (position != "map key")


def path(text: str) -> tuple[str, ...]:
    return tuple(text.split("."))


def blockers(table: StructType, leaf: str, source: str, target: str) -> list[Any]:
    change = TypeChange(path(leaf), parse_type(source), parse_type(target))
    rule = find_rule(change.from_type, change.to_type)
    return list(iceberg_blockers(change, rule, Policy(), table))


OLD_AND_NEW = {
    ("int", "bigint"): (
        ["-2147483648", "0", "7", "2147483647"],
        ["-9000000000", "7", "9000000000"],
    ),
    ("float", "double"): (
        ["'0.1'", "'-0.7'", "'16777216'", "'3.4028235e38'", "'1.4e-45'", "'NaN'", "'-Infinity'"],
        ["'0.1'", "'-0.7'", "'16777217'", "'1.7976931348623157e308'", "'4.9e-324'"],
    ),
    ("decimal(5,2)", "decimal(22,2)"): (
        ["-999.99", "0.01", "999.99"],
        ["-99999999999999999999.99", "0.01", "12345678901234567890.12"],
    ),
}
PARTITIONS = {
    "not partitioned": "",
    "by the column": "partitioned by (c)",
    "by buckets": "partitioned by (bucket(4, c))",
    "by truncated values": "partitioned by (truncate(10, c))",
}
COMPARISONS = {"=": operator.eq, "<": operator.lt, ">=": operator.ge}


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("change", OLD_AND_NEW, ids="-".join)
def test_filters_find_every_row_after_a_widening(spark, namespace, change, partitions):
    source, target = change
    if source == "float" and partitions in ("by buckets", "by truncated values"):
        pytest.skip("Iceberg has no such partitions of floats")
    old, new = OLD_AND_NEW[change]
    if partitions == "by truncated values":
        # Iceberg truncates the smallest number of a type to one that the type does not hold.
        old, new = old[1:], new[1:]
    table = f"{namespace}.filtered"
    spark.sql(f"drop table if exists {table}")
    spark.sql(
        f"create table {table} (c {source}, s struct<x: {source}>) using iceberg "
        f"{PARTITIONS[partitions]}"
    )
    write(spark, table, old, source)
    assert accepts(spark, table, f"c type {target}, s.x type {target}")
    write(spark, table, new, target)
    spark.sql(f"refresh table {table}")
    stored = [row.c for row in spark.table(table).collect()]
    assert len(stored) == len(old) + len(new)
    # Iceberg skips files without regard to NaN, in tables that were never widened too.
    numbers = [value for value in stored if not is_nan(value)]
    for wanted in numbers:
        for sign, compare in COMPARISONS.items():
            expected = sum(compare(value, wanted) for value in numbers)
            for column in ("c", "s.x"):
                condition = f"{column} {sign} cast('{wanted!s}' as {target})"
                query = f"select c from {table} where {condition} and not isnan(cast(c as double))"
                assert spark.sql(query).count() == expected, condition


def write(spark: SparkSession, table: str, values: list[str], type_name: str) -> None:
    rows = ", ".join(f"(cast({value} as {type_name}))" for value in values)
    spark.sql(
        f"insert into {table} select v as c, named_struct('x', v) as s from values {rows} as t(v)"
    )


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


ICEBERG = "materialized='incremental', file_format='iceberg', catalog='lake'"
COLUMNS = (
    "cast({{ var('n', 1) }} as {{ var('int', 'int') }}) as n, "
    "cast({{ var('f', '0.5') }} as {{ var('float', 'float') }}) as f, "
    "named_struct('d', cast({{ var('d', '1.25') }} as {{ var('decimal', 'decimal(5,2)') }})) as s, "
    "array(cast({{ var('n', 1) }} as {{ var('int', 'int') }})) as a"
)
WIDE = {
    "n": "9000000000",
    "int": "bigint",
    "f": "0.1D",
    "float": "double",
    "d": "123456789.25",
    "decimal": "decimal(12,2)",
}


def model(**config: str) -> str:
    more = "".join(f", {key}={value}" for key, value in config.items())
    return f"{{{{ config({ICEBERG}{more}) }}}} select {{{{ var('id', 1) }}}} as id, {COLUMNS}"


APPEND, MERGE = "'append_new_columns'", {"incremental_strategy": "'merge'", "unique_key": "'id'"}


class TestModelsThatWiden:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "appended.sql": model(on_schema_change=APPEND, incremental_strategy="'append'"),
            "merged.sql": model(on_schema_change=APPEND, **MERGE),
            "replaced.sql": model(
                on_schema_change=APPEND,
                incremental_strategy="'insert_overwrite'",
                partition_by="'id'",
            ),
            "after_it.sql": "{{ config(materialized='table') }} select * from {{ ref('merged') }}",
            "kept.sql": model(on_schema_change=APPEND, type_widening="false", **MERGE),
            "ignoring.sql": model(on_schema_change="'ignore'", **MERGE),
            "failing.sql": model(on_schema_change="'fail'", **MERGE),
            "untyped.sql": model(on_schema_change=APPEND, **MERGE)
            + "{% if var('id', 1) == 2 %}, null as note{% endif %}",
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "versions.sql": "{% snapshot versions %} {{ config(unique_key='id', strategy='check', "
            "check_cols='all', file_format='iceberg', database='lake', "
            "target_schema=target.schema) }} "
            "select id, n, s from {{ ref('appended') }} where id = {{ var('id', 1) }} "
            "{% endsnapshot %}"
        }

    @pytest.fixture(scope="class")
    def first(self, project):
        return dbt("build")

    @pytest.fixture(scope="class")
    def planned(self, first):
        return operate("plan", models=["merged"])

    @pytest.fixture(scope="class")
    def second(self, first, planned):
        return dbt("build", id=2, **WIDE)

    @pytest.mark.parametrize("name", ["appended", "merged", "replaced"])
    def test_every_value_is_stored(self, second, lake, name):
        assert second.status(name) == "success", second.output
        assert lake(name).types == {
            "id": "int",
            "n": "bigint",
            "f": "double",
            "s": "struct<d:decimal(12,2)>",
            "a": "array<bigint>",
        }
        assert lake(name).rows("id", "n", "f", "s.d", "a[0]") == [
            (1, 1, 0.5, Decimal("1.25"), 1),
            (2, 9000000000, 0.1, Decimal("123456789.25"), 9000000000),
        ]

    def test_one_commit_changes_all_types(self, second, lake, spark):
        files = spark.table(f"{lake('appended').name}.metadata_log_entries").count()
        assert files == 3  # a table with rows, the changes, rows

    def test_a_model_after_it_reads_the_new_rows(self, second, table):
        assert len(table("after_it").rows()) == 2

    def test_a_snapshot_is_widened(self, second, lake):
        assert second.status("versions") == "success", second.output
        assert lake("versions").rows("n", "s.d") == [
            (1, Decimal("1.25")),
            (9000000000, Decimal("123456789.25")),
        ]

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("kept", "type_widening: false"),
            ("failing", "the column could be widened in place"),
            ("ignoring", "does not store it exactly"),
        ],
    )
    def test_what_the_configuration_forbids_stops_the_write(self, second, lake, name, reason):
        assert second.status(name) == "error"
        assert reason in second.message(name)
        assert lake(name).types["n"] == "int"
        assert lake(name).rows("id") == [(1,)]

    def test_what_iceberg_can_not_change_is_refused_before_the_first_statement(self, second, lake):
        found = dbt("run", "--select", "merged", **{**WIDE, "decimal": "decimal(14,4)"}, id=3)
        assert "Iceberg can't change this column" in found.message("merged")
        assert lake("merged").rows("id") == [(1,), (2,)]

    def test_a_new_column_that_iceberg_refuses_leaves_the_types(self, second, lake):
        assert second.status("untyped") == "error"
        assert "unknown" in second.message("untyped")
        assert lake("untyped").types["n"] == "int"
        assert lake("untyped").rows("id") == [(1,)]

    def test_columns_are_widened_by_hand(self, second, lake):
        name = lake("appended").name
        (result,) = document("widen_columns", relations=[name], columns={"id": "bigint"})["tables"]
        assert result["type_changes"] == [{"path": ["id"], "from": "int", "to": "bigint"}]
        assert lake("appended").types["id"] == "bigint"
