"""A schema is listed completely or the run stops. dbt would create a missing relation again."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.backends.jvm import JvmBackend
from dbt.adapters.deltawiden.spark.session_connection import SessionConnection
from tests.functional.support import again_and_again

TABLES = {f"kept_{number}" for number in range(6)}
SECONDS = 120  # the longest wait for a failure of the statement


@contextlib.contextmanager
def another_drops_tables(spark: SparkSession, schema: str) -> Iterator[None]:
    """Make another thread create and drop a table repeatedly."""

    def create_and_drop() -> None:
        spark.sql(f"create table {schema}.zz (id int) using parquet")
        spark.sql(f"drop table {schema}.zz")

    with again_and_again(create_and_drop):
        yield


class TestASchemaInWhichAnotherDropsTables:
    @pytest.fixture(scope="class")
    def schema(self, project: Any, spark: SparkSession) -> str:
        schema: str = project.test_schema
        for name in TABLES:
            spark.sql(f"create table {schema}.{name} (id int) using delta")
        return schema

    @pytest.fixture(autouse=True)
    def by_statement(self, monkeypatch: pytest.MonkeyPatch):
        """Make the session list tables as a server does."""
        monkeypatch.setattr(JvmBackend, "list_schema", lambda backend, schema: None)

    @pytest.fixture
    def failures(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Record the failures of the statement."""
        failures: list[str] = []
        execute = SessionConnection.execute

        def watch(connection: SessionConnection, sql: str, bindings: Any = None) -> None:
            try:
                execute(connection, sql, bindings)
            except Exception as error:
                failures.append(str(error))
                raise

        monkeypatch.setattr(SessionConnection, "execute", watch)
        return failures

    @staticmethod
    def listed(project: Any, schema: str) -> set[str]:
        adapter = project.adapter
        with adapter.connection_named("lists"):
            found = adapter.list_relations_without_caching(
                adapter.Relation.create(schema=schema).without_identifier()
            )
        return {relation.identifier for relation in found}

    def listings(self, project: Any, schema: str, failures: list[str]) -> Iterator[set[str]]:
        """List the schema until the statement has failed."""
        end = time.monotonic() + SECONDS
        while not failures and time.monotonic() < end:
            yield self.listed(project, schema)

    def test_is_listed_completely(
        self, project: Any, spark: SparkSession, schema: str, failures: list[str]
    ):
        with another_drops_tables(spark, schema):
            for found in self.listings(project, schema, failures):
                assert found - {"zz"} == TABLES
        assert "TABLE_OR_VIEW_NOT_FOUND" in failures[0]

    def test_has_the_type_of_each_table(
        self, project: Any, spark: SparkSession, schema: str, failures: list[str]
    ):
        spark.sql(f"create view {schema}.kept_view as select 1 as id")
        adapter = project.adapter
        with another_drops_tables(spark, schema), adapter.connection_named("lists"):
            of_schema = adapter.Relation.create(schema=schema).without_identifier()
            while not failures:
                found = {r.identifier: r for r in adapter.list_relations_without_caching(of_schema)}
        spark.sql(f"drop view {schema}.kept_view")
        assert {name for name, r in found.items() if r.is_delta} == TABLES
        assert found["kept_view"].is_view

    def test_an_empty_or_missing_schema_has_no_relations(self, project: Any, spark: SparkSession):
        spark.sql("create schema nothing_to_list")
        spark.sql("create or replace temporary view in_every_schema as select 1 as id")
        try:
            assert self.listed(project, "nothing_to_list") == set()
        finally:
            spark.sql("drop view in_every_schema")
            spark.sql("drop schema nothing_to_list")
        assert self.listed(project, "nothing_to_list") == set()
