"""The operations on a connection that has SQL only, as a Thrift server's."""

import contextlib
from functools import partial
from types import SimpleNamespace

import agate
import pytest
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.freshness import last_modified
from dbt.adapters.deltawiden.operations.maintenance.analyze import analyze_table
from dbt.adapters.deltawiden.operations.maintenance.optimize import optimize_table
from dbt.adapters.deltawiden.operations.maintenance.table import run_on_each_table
from dbt.adapters.deltawiden.operations.maintenance.vacuum import Vacuum, vacuum_table
from dbt.adapters.deltawiden.spark.session_connection import SessionConnection

CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


@pytest.fixture
def ran():
    return []


@pytest.fixture
def backend(project, ran, spark):
    """The backend of a server, over the session of the test."""

    def execute(statement: str, fetch: bool = False) -> tuple[None, SimpleNamespace]:
        ran.append(statement)
        # This cursor changes the session itself, not a copy.
        cursor = SessionConnection(spark)
        cursor.execute(statement)
        rows = [agate.Row(row, row.__fields__) for row in cursor.fetchall()]
        return None, SimpleNamespace(rows=rows)

    return SqlBackend(execute, lambda: None)


@pytest.fixture
def orders(project, spark) -> SparkRelation:
    name = f"{project.test_schema}.orders"
    spark.sql(f"create or replace table {name} (id int) using delta")
    for number in range(2):
        spark.sql(f"insert into {name} values ({number})")
    return SparkRelation.create(
        schema=project.test_schema, identifier="orders", type="table", is_delta=True
    )


def vacuum(backend: SqlBackend, table: SparkRelation, request: Vacuum):
    work = partial(vacuum_table, request=request)
    return run_on_each_table(backend, "vacuum", [table], work).each


def test_files_are_compacted_and_then_deleted_and_the_check_is_restored(
    backend, orders, table, spark, ran
):
    (optimized,) = run_on_each_table(
        backend, "optimize", [orders], lambda found: optimize_table(found, (), None, dry_run=False)
    ).each
    assert optimized.error == ""
    assert (optimized.values["files_removed"], optimized.values["files_added"]) == (2, 1)
    removed_in = table("orders").version
    (refused,) = vacuum(backend, orders, Vacuum(1, force=False, dry_run=False))
    assert "is less than the table's retention of 168 hours" in refused.error
    assert not any(statement.startswith(("vacuum", f"set `{CHECK}`")) for statement in ran)
    (vacuumed,) = vacuum(backend, orders, Vacuum(0, force=True, dry_run=False))
    assert vacuumed.error == ""
    assert vacuumed.values["files"] == 2
    assert vacuumed.values["oldest_readable_version"] == removed_in
    own = [text for text in ran if CHECK in text or text.startswith("vacuum")]
    name = optimized.table
    assert own == [
        f"set `{CHECK}`",
        f"set `{CHECK}`=`false`",
        f"vacuum {name} retain 0 hours",
        f"set `{CHECK}`=`true`",
    ]
    assert spark.conf.get(CHECK) == "true"


def test_a_setting_is_restored_after_an_error_too(backend, project, spark):
    with contextlib.suppress(ZeroDivisionError), backend.with_setting("spark.test.upkeep", "1"):
        assert spark.conf.get("spark.test.upkeep") == "1"
        raise ZeroDivisionError
    assert spark.conf.get("spark.test.upkeep", None) is None
    spark.conf.set("spark.test.upkeep", "before")
    with backend.with_setting("spark.test.upkeep", "1"):
        pass
    assert spark.conf.get("spark.test.upkeep") == "before"


def test_the_time_of_a_commit_is_read_in_the_zone_of_the_session(backend, spark):
    # A server returns the text that the session shows for a moment.
    moment = "timestamp'2024-07-01 12:00:00.123456Z'"
    (shown,) = spark.sql(f"select cast({moment} as string)").first()
    assert "08:00" in shown
    assert backend.instant(shown).isoformat() == "2024-07-01T12:00:00.123456+00:00"


def test_the_statistics_of_files_need_a_session(backend, orders, table):
    before = table("orders").version
    (result,) = run_on_each_table(
        backend, "analyze", [orders], lambda found: analyze_table(found, dry_run=False)
    ).each
    assert "`method: session`" in result.error
    assert table("orders").version == before


def test_freshness_is_read_by_sql(backend, orders):
    backend.instant = lambda value: value  # This connection returns times of this machine.
    (row,) = last_modified(backend, [orders]).table.rows
    assert row["identifier"] == "orders"
    assert row["last_modified"] is not None
