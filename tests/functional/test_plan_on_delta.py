"""The statements of a plan give a real table the planned schema: random types and names."""

import json
from collections.abc import Iterator

import agate
import pytest
from hypothesis import HealthCheck, assume, given, settings
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.policy import Policy
from dbt.adapters.deltawiden.delta.column_metadata import TYPE_CHANGES
from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_changes
from dbt.adapters.deltawiden.widening.schema_diff import compare
from tests.functional.support import needs_delta_4
from tests.unit.strategies import automatic_policies, tables_with_sources, widenable_tables

PROPERTIES = "'delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true'"


class RealTable:
    """A table with a random schema, and plans for it."""

    def __init__(self, spark: SparkSession, engine: Engine, schema: StructType) -> None:
        self.spark, self.engine = spark, engine
        listed = ", ".join(f"{quote(field.name)} {type_sql(field.dataType)}" for field in schema)
        spark.sql("drop table if exists planned.t")
        spark.sql(f"create table planned.t ({listed}) using delta tblproperties ({PROPERTIES})")

    @property
    def schema(self) -> StructType:
        # Delta 3.3 shows the recorded type changes, which are no part of a type.
        text = self.spark.table("planned.t").schema.json()
        return StructType.fromJson(json.loads(text, object_hook=without_type_changes))

    def fetch_rows(self, query: str) -> list[agate.Row]:
        """Run a query, and return its rows as dbt does."""
        rows = self.spark.sql(query).collect()
        return [agate.Row(tuple(row), row.__fields__) for row in rows]

    def plan(self, source: StructType, model: Policy) -> Plan:
        schema = self.schema
        snapshot = TableSnapshot(
            "planned.t",
            lambda: self.engine,
            self.fetch_rows,
            schema=schema,
            # Statistics of files have other tests.
            corrects_statistics=True,
        )
        return plan_changes(compare(source, schema), source, model, snapshot, check=None)


def without_type_changes(values: dict) -> dict:
    return {key: value for key, value in values.items() if key != TYPE_CHANGES}


@pytest.fixture(scope="module", autouse=True)
def schema(spark: SparkSession) -> Iterator[None]:
    spark.sql("create schema if not exists planned")
    yield
    spark.sql("drop schema planned cascade")


# An example takes seconds.
drawn = settings(
    max_examples=settings.default.max_examples // 10, suppress_health_check=[*HealthCheck]
)


def run_and_check(table: RealTable, source: StructType, model: Policy) -> None:
    plan = table.plan(source, model)
    assume(not plan.refusals)
    for step in plan.before:
        table.spark.sql(step.statement)
    at_write = table.schema
    reached = compare(source, at_write)
    assert reached.types == ()
    assert reached.new == ()
    assert [(field.name, field.type) for field in plan.write.columns] == [
        (field.name, field.dataType) for field in at_write
    ]
    for step in plan.after:
        table.spark.sql(step.statement)
    assert table.plan(source, model).statements == []


@needs_delta_4
@drawn
@given(widenable_tables, automatic_policies)
def test_every_widening_is_made_as_planned(spark, engine, sides, model):
    table_schema, source = sides
    table = RealTable(spark, engine, table_schema)
    assert table.plan(source, model).refusals == ()
    run_and_check(table, source, model)


@pytest.mark.slow
@drawn
@given(tables_with_sources, automatic_policies)
def test_a_table_that_differs_in_any_way_gets_the_schema_of_the_plan(spark, engine, sides, model):
    table_schema, source = sides
    assume(len(table_schema.fields) > 0 and len(source.fields) > 0)
    try:
        table = RealTable(spark, engine, table_schema)
    except AnalysisException:
        assume(
            False
        )  # Not every random type can be the type of a column, such as a map with void keys.
    run_and_check(table, source, model)
