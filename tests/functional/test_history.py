"""The type changes of a table, read from its log by SQL alone, are those that were made."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from delta.tables import DeltaTable, IdentityGenerator
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.column_metadata import ColumnMetadata, read_metadata
from dbt.adapters.deltawiden.delta.engine import DELTA_4_0, Capability, Engine
from dbt.adapters.deltawiden.delta.transaction_log import newest_schema
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import path_sql
from dbt.adapters.deltawiden.sql.types import parse_type
from tests.small import settings_of

# Delta removes type changes from the schemas that it shows, unless this is off.
HIDES = "spark.databricks.delta.typeWidening.removeSchemaMetadata"

COLUMNS = (
    "a tinyint, s struct<x: tinyint, `d.o t`: array<tinyint>>, arr array<struct<`y,`: tinyint>>, "
    "m map<tinyint, map<string, tinyint>>, date date"
)
CHANGES = {
    ("a",): ["smallint", "int"],
    ("s", "x"): ["int"],
    ("s", "d.o t", "element"): ["smallint"],
    ("arr", "element", "y,"): ["int"],
    ("m", "key"): ["smallint"],
    ("m", "value", "value"): ["int"],
}
CHANGES_OF_DELTA_4 = {
    ("a",): [*CHANGES[("a",)], "decimal(12,2)", "decimal(14,4)"],
    ("date",): ["timestamp_ntz"],
}


@pytest.fixture(scope="module")
def schema(spark: SparkSession) -> Iterator[str]:
    spark.sql("create schema if not exists recorded")
    yield "recorded"
    spark.sql("drop schema recorded cascade")


@pytest.fixture
def changed(spark: SparkSession, engine: Engine, schema: str, tmp_path) -> tuple[str, set]:
    """A table in a folder with an unusual name, and the type changes that were made to it."""
    table = f"{schema}.t"
    spark.sql(f"drop table if exists {table}")
    spark.sql(
        f"create table {table} ({COLUMNS}) using delta location '{tmp_path}/a b%20[c]{{d}}*?/t' "
        "tblproperties ('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true',"
        "'delta.feature.timestampNtz' = 'supported')"
    )
    changes = {**CHANGES, **(CHANGES_OF_DELTA_4 if engine.delta >= DELTA_4_0 else {})}
    made = set()
    for path, types in changes.items():
        before = "date" if path == ("date",) else "tinyint"
        for after in types:
            spark.sql(f"alter table {table} alter column {path_sql(path)} type {after}")
            made.add(TypeChange(path, parse_type(before), parse_type(after)))
            before = after
    return table, made


def metadata(spark: SparkSession, table: str) -> ColumnMetadata:
    location = spark.sql(f"describe detail {table}").collect()[0].location
    return read_metadata(newest_schema(location, lambda query: spark.sql(query).collect()))


def shown_by_session(spark: SparkSession, table: str) -> StructType:
    spark.conf.set(HIDES, "false")
    try:
        return spark.table(table).schema
    finally:
        spark.conf.unset(HIDES)


def test_the_log_has_every_change_with_its_path_and_types(spark, changed):
    table, made = changed
    assert set(metadata(spark, table).changes) == made
    assert len(metadata(spark, table).changes) == len(made)


def test_the_changes_of_a_column_are_in_order(spark, changed):
    table, _ = changed
    of_a = [change for change in metadata(spark, table).changes if change.path == ("a",)]
    assert [change.from_type for change in of_a[1:]] == [change.to_type for change in of_a[:-1]]


def test_sql_alone_reads_the_same_changes_as_the_session(spark, changed):
    table, made = changed
    assert set(read_metadata(shown_by_session(spark, table).json()).changes) == made


@pytest.mark.slow
def test_a_log_whose_commits_were_cleaned_up_is_read_from_its_checkpoint(spark, changed, tmp_path):
    table, made = changed
    spark.sql(f"alter table {table} set tblproperties ('delta.checkpointInterval' = '1')")
    spark.sql(f"insert into {table} (a) values (1)")
    (folder,) = tmp_path.rglob("_delta_log")
    clean_up(folder)
    assert set(metadata(spark, table).changes) == made


@pytest.mark.slow
def test_a_checkpoint_in_json_is_read(spark, schema, tmp_path):
    name = f"{schema}.in_json"
    spark.sql(
        f"create table {name} (a tinyint) using delta location '{tmp_path}' tblproperties "
        "('delta.enableTypeWidening' = 'true', 'delta.checkpointPolicy' = 'v2')"
    )
    spark.sql(f"alter table {name} alter column a type int")
    with settings_of(spark, {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "json"}):
        spark.sql(f"alter table {name} set tblproperties ('delta.checkpointInterval' = '1')")
        spark.sql(f"insert into {name} values (1)")
    clean_up(tmp_path / "_delta_log")
    assert len(list((tmp_path / "_delta_log").glob("*.checkpoint.*.json"))) > 0
    assert [change.text for change in metadata(spark, name).changes] == ["a: tinyint -> int"]


def clean_up(log: Path) -> None:
    """Delete the commits before the newest checkpoint. Delta leaves the files of a compaction."""
    (log / f"{0:020}.{1:020}.compacted.json").write_text((log / f"{0:020}.json").read_text())
    newest = max(log.glob("*.checkpoint*")).name.split(".")[0]
    for commit in log.glob(f"{'[0-9]' * 20}.json"):
        if commit.stem < newest:
            commit.unlink()


def test_a_new_table_has_no_changes_and_names_its_computed_columns(spark, schema):
    (
        DeltaTable.createOrReplace(spark)
        .tableName(f"{schema}.made")
        .addColumn("amount", "int")
        .addColumn("Tenfold", "int", generatedAlwaysAs="amount * 10")
        .addColumn("Number", "bigint", generatedAlwaysAs=IdentityGenerator())
        .execute()
    )
    assert metadata(spark, f"{schema}.made") == ColumnMetadata(
        (), (("Tenfold", "amount * 10"),), ("Number",)
    )


def test_a_change_of_several_columns_is_recorded_for_each(spark, engine, schema):
    table = f"{schema}.several"
    spark.sql(
        f"create table {table} (a tinyint, b tinyint) using delta "
        "tblproperties ('delta.enableTypeWidening' = 'true')"
    )
    changes = ["a type int", "b type smallint"]
    together = engine.can(Capability.ALTER_SEVERAL_COLUMNS)
    for statement in [", ".join(changes)] if together else changes:
        spark.sql(f"alter table {table} alter column {statement}")
    assert [change.path for change in metadata(spark, table).changes] == [("a",), ("b",)]
