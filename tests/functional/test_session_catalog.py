"""The schemas and descriptions in the session's JVM, and a run that uses them."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.backends import jvm_catalog
from dbt.adapters.deltawiden.delta.backends.jvm import JvmBackend
from dbt.adapters.deltawiden.delta.backends.jvm_catalog import (
    delta_schema,
    delta_table,
    describe_tables,
    temporary_view_schema,
)
from dbt.adapters.deltawiden.relation import DeltaWidenRelation
from dbt.adapters.deltawiden.spark.session_connection import SessionConnection
from tests.functional.support import dbt

MODEL = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select cast(1 as bigint) as id, cast(1.25 as decimal(12, 2)) as amount"""


class TestTables:
    @pytest.fixture(scope="class")
    def schema(self, spark: SparkSession):
        spark.sql("create schema at_hand")
        yield "at_hand"
        spark.sql("drop schema at_hand cascade")

    def test_a_delta_table_has_its_newest_schema(self, spark: SparkSession, schema: str):
        table = f"{schema}.grows"
        # Spark 3.5 has no statement for it.
        made = ", y int generated always as (year(day))" if spark.version >= "4" else ""
        spark.sql(
            f"create table {table} (id byte not null comment 'no.', day date, ch char(2), "
            f"s struct<n: byte, t: array<byte>>{made}) using delta "
            "tblproperties ('delta.columnMapping.mode' = 'name', "
            "'delta.enableTypeWidening' = true, 'delta.feature.allowColumnDefaults' = 'supported')"
        )
        spark.sql(f"alter table {table} alter column id type smallint")
        spark.sql(f"alter table {table} alter column s.n type smallint")
        spark.sql(f"alter table {table} alter column s.t.element type smallint")
        spark.sql(f"alter table {table} add columns (note string)")
        spark.sql(f"alter table {table} alter column note set default 'none'")
        found = delta_schema(spark, schema, "Grows")
        assert found is not None
        # Delta 3.3 shows the type changes, too.
        changes = r',?"delta\.typeChanges":\[[^]]*\]'
        assert found.json() == re.sub(changes, "", spark.table(table).schema.json())
        assert found["s"].dataType.simpleString() == "struct<n:smallint,t:array<smallint>>"

    def test_the_log_of_a_table_has_its_comment_properties_and_features(
        self, spark: SparkSession, schema: str
    ):
        table = f"{schema}.described"
        spark.sql(
            f"create table {table} (id byte, `d.e` string) using delta comment 'one, \"two\"' "
            "partitioned by (`d.e`) tblproperties ('delta.enableTypeWidening' = true, "
            "'note' = 'a=b, c', 'delta.feature.allowColumnDefaults' = 'supported')"
        )
        found = delta_table(spark, schema, "Described")
        assert found is not None
        assert found.schema.json() == delta_schema(spark, schema, "described").json()  # type: ignore[union-attr]
        assert found.comment == spark.catalog.getTable(table).description == 'one, "two"'
        shown = {row[0]: row[1] for row in spark.sql(f"show tblproperties {table}").collect()}
        of_the_protocol = {"delta.minReaderVersion", "delta.minWriterVersion"}
        assert found.properties.items() <= shown.items()
        assert shown.keys() - found.properties.keys() <= of_the_protocol
        assert {"note", "delta.feature.allowColumnDefaults"} <= found.properties.keys()

    def test_a_table_without_a_comment_has_none(self, spark: SparkSession, schema: str):
        spark.sql(f"create table {schema}.plain (id int) using delta")
        found = delta_table(spark, schema, "plain")
        assert found is not None
        assert found.comment is None
        spark.sql(f"create view {schema}.plain_view as select 1 as id")
        assert delta_table(spark, schema, "plain_view") is None

    def test_a_thread_that_has_run_no_statement_reads_it_too(
        self, spark: SparkSession, schema: str
    ):
        spark.sql(f"create table {schema}.threads (id int) using delta")
        with ThreadPoolExecutor(1) as threads:
            found = threads.submit(delta_schema, spark, schema, "threads").result()
        assert found == spark.table(f"{schema}.threads").schema

    @pytest.mark.parametrize(
        "statement",
        [
            "create table {0}.other (id int) using parquet",
            "create view {0}.other as select 1 as id",
            "select 1",
        ],
        ids=["parquet", "view", "nothing"],
    )
    def test_other_relations_have_no_cached_schema(
        self, spark: SparkSession, schema: str, statement: str
    ):
        spark.sql(statement.format(schema))
        try:
            assert delta_schema(spark, schema, "other") is None
        finally:
            kind = "view" if "view" in statement else "table"
            spark.sql(f"drop {kind} if exists {schema}.other")

    def test_a_view_keeps_its_schema_after_its_table_is_dropped(
        self, spark: SparkSession, schema: str
    ):
        spark.sql(f"create table {schema}.gone (id int) using delta")
        spark.sql(f"create or replace temporary view keeps as select * from {schema}.gone")
        spark.sql(f"drop table {schema}.gone")
        found = temporary_view_schema(spark, "keeps")
        assert found is not None
        assert found.simpleString() == "struct<id:int>"

    def test_a_missing_view_has_no_schema(self, spark: SparkSession):
        assert temporary_view_schema(spark, "no such view") is None


class TestDescriptions:
    @pytest.fixture(scope="class")
    def schema(self, spark: SparkSession):
        spark.sql("create schema described comment 'Type: VIEW'")
        for statement in (
            "create table described.deltas (id int, `a.b` string) using delta "
            "comment 'one\nType: VIEW\nProvider: hudi' tblproperties ('x' = 'y)\nTable: other')",
            "create table described.parts (id int, day date) using parquet partitioned by (day)",
            "create table described.buckets (id int) using csv clustered by (id) into 2 buckets",
            "create table described.hives (id int) stored as parquet",
            "create view described.views (n comment 'of it') as select id from described.parts",
            "insert into described.parts values (1, date '2025-01-01')",
            "analyze table described.parts compute statistics",
        ):
            spark.sql(statement)
        spark.sql("create or replace temporary view not_described as select 1 as id")
        yield "described"
        spark.sql("drop view not_described")
        spark.sql("drop schema described cascade")

    @staticmethod
    def shown(spark: SparkSession, schema: str) -> list[tuple[str, str, str]]:
        rows = spark.sql(f"show table extended in {schema} like '*'").collect()
        return sorted((row[0], row[1], row[3]) for row in rows if not row.isTemporary)

    def test_are_those_of_sparks_statement(self, spark: SparkSession, schema: str):
        found = describe_tables(spark, "Described")
        assert found is not None
        assert sorted(found) == self.shown(spark, schema)
        assert [name for _, name, _ in sorted(found)] == [
            "buckets",
            "deltas",
            "hives",
            "parts",
            "views",
        ]

    def test_are_read_in_several_parts_for_many_tables(
        self, spark: SparkSession, schema: str, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(jvm_catalog, "_TABLES_AT_ONCE", 2)
        found = describe_tables(spark, schema)
        assert found is not None
        assert sorted(found) == self.shown(spark, schema)

    def test_an_empty_schema_has_no_descriptions(self, spark: SparkSession):
        spark.sql("create schema undescribed")
        try:
            assert describe_tables(spark, "undescribed") == []
        finally:
            spark.sql("drop schema undescribed")

    def test_a_missing_schema_has_no_descriptions(self, spark: SparkSession):
        assert describe_tables(spark, "no such schema") is None

    def test_a_thread_that_has_run_no_statement_has_them_too(
        self, spark: SparkSession, schema: str
    ):
        with ThreadPoolExecutor(1) as threads:
            found = threads.submit(describe_tables, spark, schema).result()
        assert found is not None
        assert sorted(found) == self.shown(spark, schema)


class TestARunThatChangesNoType:
    @pytest.fixture(scope="class")
    def models(self):
        return {"merged.sql": MODEL}

    def test_analyses_no_query_for_its_plan(self, project: Any, monkeypatch: pytest.MonkeyPatch):
        assert dbt("run").status("merged") == "success"

        def refuse(connection: SessionConnection, relation: str) -> None:
            raise AssertionError(f"{relation} was read as a query")

        monkeypatch.setattr(SessionConnection, "schema", refuse)
        assert dbt("run").status("merged") == "success"

    def test_lists_its_schema_without_a_statement(
        self, project: Any, monkeypatch: pytest.MonkeyPatch
    ):
        statements: list[str] = []
        execute = SessionConnection.execute

        def watch(connection: SessionConnection, sql: str, bindings: Any = None) -> None:
            statements.append(sql)
            execute(connection, sql, bindings)

        monkeypatch.setattr(SessionConnection, "execute", watch)
        assert dbt("run").status("merged") == "success"
        assert any("merge into" in sql for sql in statements)
        assert not [sql for sql in statements if "show table" in sql.lower()]


class TestATableThatIsReadBesideAStatement:
    """``JvmBackend.prefetch_schema`` returns the same as ``schema``. It raises errors later."""

    @pytest.fixture
    def backend(self, project: Any, spark: SparkSession) -> JvmBackend:
        def execute(query: str, fetch: bool) -> tuple[None, Any]:
            return None, SimpleNamespace(rows=spark.sql(query).collect())

        return JvmBackend(execute, lambda: SessionConnection(spark))

    @staticmethod
    def relation(project: Any, name: str) -> DeltaWidenRelation:
        return DeltaWidenRelation.create(schema=project.test_schema, identifier=name)

    @pytest.mark.parametrize("provider", ["delta", "parquet"])
    def test_has_its_schema(
        self, project: Any, spark: SparkSession, backend: JvmBackend, provider: str
    ):
        relation = self.relation(project, f"beside_{provider}")
        spark.sql(f"create table {relation} (id smallint, s struct<n: byte>) using {provider}")
        table_schema = backend.prefetch_schema(relation)
        spark.sql("create or replace temporary view beside_view as select 1 as id")
        assert table_schema() == backend.schema(relation) == spark.table(str(relation)).schema
        spark.sql("drop view beside_view")

    def test_does_not_delay_the_statement(
        self,
        project: Any,
        spark: SparkSession,
        backend: JvmBackend,
        monkeypatch: pytest.MonkeyPatch,
    ):
        relation = self.relation(project, "held")
        spark.sql(f"create table {relation} (id smallint) using delta")
        statement_has_run = threading.Event()

        def late(*arguments: Any) -> Any:
            assert statement_has_run.wait(timeout=60)
            return delta_schema(*arguments)

        monkeypatch.setattr("dbt.adapters.deltawiden.delta.backends.jvm.delta_schema", late)
        table_schema = backend.prefetch_schema(relation)
        spark.sql(f"insert into {relation} values (1)")
        statement_has_run.set()
        assert table_schema().simpleString() == "struct<id:smallint>"

    def test_a_missing_table_is_an_error_only_when_its_schema_is_used(
        self, project: Any, backend: JvmBackend
    ):
        table_schema = backend.prefetch_schema(self.relation(project, "not_there"))
        with pytest.raises(DbtDatabaseError, match="TABLE_OR_VIEW_NOT_FOUND"):
            table_schema()


class TestATableWhoseCommentSaysThatItIsAView:
    @pytest.fixture(scope="class")
    def models(self):
        properties = """
            models:
              - name: merged
                description: "Type: VIEW"
                config: {persist_docs: {relation: true}}"""
        return {"merged.sql": MODEL, "properties.yml": properties}

    def test_is_not_listed_as_a_view(self, project: Any, spark: SparkSession):
        assert dbt("run").status("merged") == "success"
        table = f"{project.test_schema}.merged"
        ((*_, information),) = spark.sql(
            f"show table extended in {project.test_schema} like 'merged'"
        ).collect()
        assert "Comment: Type: VIEW" in information
        spark.sql(f"insert into {table} values (2, 2.5)")
        assert dbt("run").status("merged") == "success"
        assert spark.table(table).count() == 2
