"""Defects of Spark and Delta that this adapter works around, each still there.

If a test fails, an engine has mended the defect: ``docs/engine-defects.md`` says which code can go.
No test uses the adapter's code.
"""

import struct
from collections.abc import Iterator
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.functional.plain_spark import DEFAULTS
from tests.functional.support import needs_delta_4
from tests.small import SMALL, settings_of

pytestmark = pytest.mark.slow

WIDENS = "'delta.enableTypeWidening' = 'true'"
AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
MAPS_COLUMNS = "'delta.columnMapping.mode' = 'name'"
FAILURES = (PySparkException, Py4JJavaError)

since_delta_4_1 = pytest.mark.skipif(
    version("delta-spark") < "4.1", reason="Delta 3.3 and 4.0 do not have this defect"
)

until_delta_4_1 = pytest.mark.skipif(
    version("delta-spark") >= "4.1", reason="Delta 4.1 and newer do not have this defect"
)


@pytest.fixture(autouse=True)
def _defaults(spark: SparkSession) -> Iterator[None]:
    with settings_of(spark, {**SMALL, **DEFAULTS}):
        yield


@pytest.fixture
def table(spark: SparkSession, schema: str) -> Iterator[str]:
    name = f"{schema}.defect"
    spark.sql(f"drop table if exists {name}")
    yield name
    spark.sql(f"drop table if exists {name}")


def create(
    spark: SparkSession, table: str, query: str, clause: str = "", properties: str = WIDENS
) -> None:
    spark.sql(f"create table {table} using delta {clause} tblproperties ({properties}) as {query}")


def count(spark: SparkSession, table: str, condition: str) -> int:
    return spark.sql(f"select * from {table} where {condition}").count()


def rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


@needs_delta_4
@pytest.mark.parametrize("path", ["a", "s.a"])
@pytest.mark.parametrize("vectorized", ["true", "false"])
def test_a_filter_misses_rows_of_a_widened_decimal(
    spark: SparkSession, table: str, path: str, vectorized: str
):
    column = "cast(1.25 as decimal(8,2))"
    create(spark, table, f"select {column} as a, struct({column} as a) as s")
    spark.sql(f"alter table {table} alter column {path} type decimal(12,2)")
    reader = {"spark.sql.parquet.enableVectorizedReader": vectorized}
    for condition in (f"{path} < 30000000", f"{path} <> 42949674.21"):
        with settings_of(spark, reader):
            assert count(spark, table, condition) == 0
        with settings_of(spark, {**reader, "spark.sql.parquet.filterPushdown.decimal": "false"}):
            assert count(spark, table, condition) == 1
    spark.sql(f"delete from {table} where {path} < 30000000")
    assert spark.table(table).count() == 1


@needs_delta_4
@pytest.mark.parametrize(
    ("before", "after", "fewest_bytes"),
    [(20, 38, "false"), (10, 12, "true"), (10, 18, "true"), (5, 9, "true")],
)
def test_a_filter_on_a_widened_decimal_of_many_digits_fails(
    spark: SparkSession, table: str, before: int, after: int, fewest_bytes: str
):
    with settings_of(spark, {"spark.sql.parquet.writeLegacyFormat": fewest_bytes}):
        create(spark, table, f"select cast(1.25 as decimal({before},2)) as a")
    spark.sql(f"alter table {table} alter column a type decimal({after},2)")
    with pytest.raises(FAILURES, match="FAILED_READ_FILE"):
        count(spark, table, f"a < {'9' * (after - 2)}.99")


@needs_delta_4
def test_not_in_misses_rows_of_an_integer_that_became_bigint(spark: SparkSession, table: str):
    create(spark, table, "select 1 as a")
    spark.sql(f"alter table {table} alter column a type bigint")
    condition = "a not in (7, 4294967297)"
    assert count(spark, table, condition) == 0
    with settings_of(spark, {"spark.sql.parquet.pushdown.inFilterThreshold": "0"}):
        assert count(spark, table, condition) == 1


@needs_delta_4
def test_the_statistics_of_a_float_that_became_double_miss_rows(spark: SparkSession, table: str):
    create(spark, table, "select cast(0.7 as float) as a")
    spark.sql(f"alter table {table} alter column a type double")
    (value,) = spark.table(table).head()
    assert value == struct.unpack("f", struct.pack("f", 0.7))[0]
    assert count(spark, table, f"a = {value!r}D") == 0
    assert count(spark, table, f"a + 0 = {value!r}D") == 1


@needs_delta_4
def test_a_float_that_partitions_a_table_changes_when_it_becomes_double(
    spark: SparkSession, table: str
):
    create(spark, table, "select 1 as id, cast(1.1 as float) as p", "partitioned by (p)")
    before = spark.sql(f"select cast(p as double) as p from {table}").head().p
    spark.sql(f"alter table {table} alter column p type double")
    assert (before, spark.table(table).head().p) == (1.100000023841858, 1.1)


@needs_delta_4
def test_a_date_after_the_year_294247_can_not_be_read_as_timestamp(spark: SparkSession, table: str):
    properties = f"{WIDENS}, 'delta.feature.timestampNtz' = 'supported'"
    create(spark, table, "select date'+294248-01-01' as a", properties=properties)
    spark.sql(f"alter table {table} alter column a type timestamp_ntz")
    with pytest.raises(FAILURES, match="FAILED_READ_FILE"):
        spark.sql(f"select cast(a as string) from {table}").collect()


@needs_delta_4
def test_drop_feature_leaves_files_with_the_older_type_of_array_elements(
    spark: SparkSession, table: str
):
    create(spark, table, "select array(1) as a")
    spark.sql(f"alter table {table} alter column a.element type bigint")
    spark.sql(f"alter table {table} drop feature 'typeWidening'")
    (location,) = spark.sql(f"describe detail {table}").select("location").head()
    files = [str(file) for file in Path(location.removeprefix("file:")).glob("*.parquet")]
    types = {spark.read.parquet(file).schema["a"].dataType.simpleString() for file in files}
    assert types == {"array<int>"}
    assert spark.table(table).schema["a"].dataType.simpleString() == "array<bigint>"


def test_merge_on_a_char_column_fails(spark: SparkSession, table: str):
    spark.sql(f"create table {table} (c char(5), n int) using delta")
    with pytest.raises(FAILURES, match="MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"):
        spark.sql(
            f"merge into {table} t using (select 'ab' as c, 1 as n) s on t.c = s.c "
            "when matched then update set n = s.n when not matched then insert *"
        )


def test_a_union_declares_the_char_of_its_first_query(spark: SparkSession, table: str):
    spark.sql(f"create table {table} (c char(5)) using delta")
    union = f"select c from {table} union all select 'ab'"
    (field,) = spark.sql(union).schema.fields
    assert field.metadata["__CHAR_VARCHAR_TYPE_STRING"] == "char(5)"
    assert [row.c for row in spark.sql(union).collect()] == ["ab"]


def test_an_empty_text_that_partitions_a_table_becomes_null(spark: SparkSession, table: str):
    create(spark, table, "select 1 as id, '' as p", "partitioned by (p)")
    assert spark.table(table).head().p is None


def test_a_timestamp_that_partitions_a_table_is_read_in_the_first_of_two_hours(
    spark: SparkSession, table: str
):
    with settings_of(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        second = "timestamp'2024-11-03 01:30:00-05:00'"
        create(spark, table, f"select 1 as id, {second} as p", "partitioned by (p)")
        (shift,) = spark.sql(f"select unix_seconds({second}) - unix_seconds(p) from {table}").head()
    assert shift == 3600


def test_replace_where_with_a_list_of_decimals_fails(spark: SparkSession, table: str):
    create(spark, table, "select cast(1.25 as decimal(8,2)) as a")
    with pytest.raises(FAILURES, match=r"INTERNAL_ERROR|MatchError"):
        spark.sql(f"insert into {table} replace where a in (0, 1.25) select 1.25")


@needs_delta_4
def test_a_view_casts_back_what_was_widened(spark: SparkSession, schema: str, table: str):
    create(spark, table, "select cast(1.25 as decimal(8,2)) as a")
    view = f"{schema}.defect_view"
    spark.sql(f"create view {view} as select a from {table}")
    try:
        spark.sql(f"alter table {table} alter column a type decimal(12,4)")
        spark.sql(f"insert into {table} values (1.2367)")
        assert {str(row.a) for row in spark.table(view).collect()} == {"1.25", "1.24"}
    finally:
        spark.sql(f"drop view {view}")


@needs_delta_4
def test_change_data_can_not_be_read_across_a_widening(spark: SparkSession, table: str):
    properties = f"{WIDENS}, 'delta.enableChangeDataFeed' = 'true'"
    create(spark, table, "select 1 as a", properties=properties)
    spark.sql(f"alter table {table} alter column a type bigint")
    spark.sql(f"insert into {table} values (5000000000)")
    with pytest.raises(FAILURES, match="DELTA_CHANGE_DATA_FEED_INCOMPATIBLE"):
        spark.sql(f"select * from table_changes('{table}', 0)").collect()


def test_a_filter_with_microseconds_misses_rows_of_an_orc_table(spark: SparkSession, table: str):
    value = "timestamp'2024-01-01 00:00:00.123456'"
    spark.sql(f"create table {table} using orc as select {value} as a")
    with settings_of(spark, {"spark.sql.orc.filterPushdown": "true"}):
        assert count(spark, table, f"a = {value}") == 0
    with settings_of(spark, {"spark.sql.orc.filterPushdown": "false"}):
        assert count(spark, table, f"a = {value}") == 1


def test_orc_stores_other_days_and_seconds(spark: SparkSession, table: str):
    spark.sql(
        f"create table {table} using orc as "
        "select date'1582-10-10' as a, timestamp'1969-12-31 23:59:59.5Z' as b"
    )
    found = rows(spark, f"select cast(a as string), unix_millis(b) from {table}")
    assert found == [("1582-10-15", 500)]


@pytest.mark.parametrize("file_format", ["delta", "parquet"])
def test_a_filter_misses_a_text_that_is_not_utf_8(
    spark: SparkSession, table: str, file_format: str
):
    spark.sql(f"create table {table} using {file_format} as select cast(X'ff' as string) as a")
    assert count(spark, table, "a = cast(X'ff' as string)") == 0
    assert count(spark, table, "hex(a) = 'FF'") == 1


def test_a_text_that_is_not_utf_8_changes_in_a_partition(spark: SparkSession, table: str):
    create(spark, table, "select 1 as id, cast(X'ff' as string) as p", "partitioned by (p)")
    assert rows(spark, f"select hex(p) from {table}") == [("EFBFBD",)]


@since_delta_4_1
def test_a_timestamp_before_the_year_1_loses_its_era_in_a_partition(
    spark: SparkSession, table: str
):
    create(spark, table, "select 1 as id, timestamp'-0044-03-15' as p", "partitioned by (p)")
    assert rows(spark, f"select year(p) from {table}") == [(45,)]


def test_replace_where_reads_the_text_of_a_function_as_a_pattern(spark: SparkSession, table: str):
    create(spark, table, "select * from values ('a_1'), ('ab1') as v (a)")
    spark.sql(f"insert into {table} replace where startswith(a, 'a_') select 'a_2'")
    assert rows(spark, f"select a from {table}") == [("a_2",)]


def test_replace_where_replaces_some_partitions_if_its_condition_is_always_true(
    spark: SparkSession, table: str
):
    query = "select * from values (1, 1), (2, 2) as v (a, p)"
    create(spark, table, query, "partitioned by (p)")
    with settings_of(spark, {"spark.sql.sources.partitionOverwriteMode": "dynamic"}):
        spark.sql(f"insert into {table} replace where true select 3, 1")
    assert rows(spark, f"select a, p from {table}") == [(2, 2), (3, 1)]


def test_a_table_can_not_be_read_without_the_struct_that_clusters_it(
    spark: SparkSession, table: str
):
    spark.sql(
        f"create table {table} (id int, s struct<a: int>) using delta cluster by (s.a) "
        f"tblproperties ({MAPS_COLUMNS})"
    )
    spark.sql(f"alter table {table} drop column s")
    with pytest.raises(FAILURES, match=r"None\.get"):
        spark.sql(f"describe detail {table}")


def test_merge_does_not_quote_a_backtick_in_its_star(spark: SparkSession, table: str):
    spark.sql(
        f"create table {table} (id int, `a``b` int) using delta tblproperties ({MAPS_COLUMNS})"
    )
    with pytest.raises(FAILURES, match=r"[Ss]yntax error in (the )?attribute name"):
        spark.sql(
            f"merge into {table} t using (select 1 as id, 2 as `a``b`) s on t.id = s.id "
            "when not matched then insert *"
        )


def test_insert_swaps_nested_fields_if_one_is_cast(spark: SparkSession, table: str):
    spark.sql(f"create table {table} (k int, s struct<a: int, b: int>) using delta")
    for key, number in ((1, "22"), (2, "22L")):
        fields = f"named_struct('b', {number}, 'a', 11) as s"
        spark.sql(f"insert into {table} by name select {key} as k, {fields}")
    assert rows(spark, f"select k, s.a, s.b from {table}") == [(1, 11, 22), (2, 22, 11)]


@until_delta_4_1
def test_a_null_struct_becomes_a_struct_of_nulls(spark: SparkSession, table: str):
    spark.sql(f"create table {table} (id bigint, s struct<a: bigint>) using delta")
    no_struct = "case when rand() > 2 then named_struct('a', 1L) end"
    for number in ("1L", "2"):
        spark.sql(f"insert into {table} select {number} as id, {no_struct} as s")
    assert rows(spark, f"select id, s is null from {table}") == [(1, True), (2, False)]
    spark.sql(f"update {table} set s = named_struct('a', 1L)")
    for key, values in ((1, "s = v.s"), (2, "*")):
        with settings_of(spark, {AUTO_MERGE: "true"}):
            spark.sql(
                f"merge into {table} t using (select {key}L as id, {no_struct} as s) v "
                f"on t.id = v.id when matched then update set {values}"
            )
    assert rows(spark, f"select id, s is null from {table}") == [(1, True), (2, False)]


@since_delta_4_1
def test_schema_evolution_makes_a_double_of_an_integer(spark: SparkSession, table: str):
    create(spark, table, "select 1 as a")
    automatic = "spark.databricks.delta.typeWidening.allowAutomaticWidening"
    evolves = {"spark.databricks.delta.schema.autoMerge.enabled": "true"}
    for value, becomes in (("same_family_type", "int"), ("always", "double")):
        with settings_of(spark, {**evolves, automatic: value}):
            spark.sql(f"insert into {table} select 1.5D as a")
        assert spark.table(table).dtypes == [("a", becomes)]


def test_a_session_does_not_see_a_column_that_another_one_adds(spark: SparkSession, table: str):
    spark.sql(f"create table {table} using parquet as select 1 as a")
    spark.table(table).collect()
    spark.newSession().sql(f"alter table {table} add columns (b int)")
    with pytest.raises(FAILURES, match="INSERT_COLUMN_ARITY_MISMATCH"):
        spark.sql(f"insert into {table} select 1, 2")
    spark.sql(f"refresh table {table}")
    spark.sql(f"insert into {table} select 1, 2")


def test_spark_replaces_a_variable_inside_a_text(spark: SparkSession):
    with settings_of(spark, {"spark.sql.session.timeZone": "UTC"}):
        (row,) = spark.sql("select '${spark.sql.session.timeZone}' as a").collect()
    assert row.a == "UTC"


def test_describe_does_not_quote_the_names_of_fields(spark: SparkSession, table: str):
    spark.sql(
        f"create table {table} (s struct<`a:int,b`: int>) using delta "
        f"tblproperties ({MAPS_COLUMNS})"
    )
    (column,) = spark.sql(f"describe {table}").collect()
    assert column.data_type == "struct<a:int,b:int>"


def test_a_table_can_not_be_replaced_with_a_column_that_needs_a_feature(
    spark: SparkSession, table: str
):
    create(spark, table, "select 1 as a")
    with pytest.raises(FAILURES, match="DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"):
        spark.sql(
            f"create or replace table {table} using delta as "
            "select timestamp_ntz'2024-01-01 00:00:00' as a"
        )


def test_values_of_a_pandas_data_frame_change_without_an_error(spark: SparkSession):
    import pandas

    at = pandas.Timestamp("2024-01-01 00:00:00.000000001")
    frame = pandas.DataFrame({"n": [Decimal("NaN"), Decimal(1)], "at": [at, at]})
    changed, _ = spark.createDataFrame(frame).collect()
    assert (changed.n, changed["at"].microsecond) == (None, 0)


@needs_delta_4
def test_a_field_beside_a_char_is_read_in_its_older_type(spark: SparkSession, table: str):
    spark.sql(
        f"create table {table} (s array<struct<c: char(2), n: int>>) using delta "
        f"tblproperties ({WIDENS})"
    )
    spark.sql(f"alter table {table} alter column s.element.n type bigint")
    spark.sql(f"insert into {table} select array(named_struct('c', 'ab', 'n', 5000000000))")
    (row,) = spark.table(table).collect()
    assert row.s[0].n != 5000000000
