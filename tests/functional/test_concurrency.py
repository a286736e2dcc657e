"""A run whose table another writer changes is planned again and written once."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery
from tenacity import wait_none

from dbt.adapters.deltawiden.delta import conflicts
from dbt.adapters.deltawiden.writes import attempts
from tests.functional.cells import ONE_DAY, STRATEGIES
from tests.functional.support import Table, again_and_again, dbt, needs_delta_4

STARTED = "deltawiden.test.started"
# The query signals that it runs, and waits until the other writer has committed.
SLOW = f"""
from range(1)
where coalesce(java_method('java.lang.System', 'setProperty', '{STARTED}', 'yes'), '') <> 'x'
  and coalesce(java_method('java.lang.Thread', 'sleep', 6000L), '') <> 'x'
"""
CONFIG = """
{{ config(materialized='incremental', incremental_strategy=var('strategy', 'append'),
          unique_key='id', incremental_predicates=var('predicates', none),
          on_schema_change='append_new_columns', type_widening=true) }}
"""
SELECT = """
select {{ var('id', 1) }} as id, cast({{ var('n', 1) }} as {{ var('type', 'smallint') }}) as n
"""
MODEL = CONFIG + SELECT + "{% if var('slow', false) %}" + SLOW + "{% endif %}"
# Another run's commit, between this one's plan and its write.
MEANWHILE = """
{% macro write_meanwhile(relation) %}
  {%- set names = adapter.get_columns_in_relation(relation) | map(attribute='name') | list -%}
  {%- if var('meanwhile', none) and 'other' not in names -%}
    {%- for statement in var('meanwhile') -%}
      {% do run_query(statement.replace('TABLE', relation | string)) %}
    {%- endfor -%}
  {%- endif %}
{% endmacro %}
{% macro _deltawiden_run_write(write) %}
  {% do write_meanwhile(write.existing) %}
  {{ dbt._deltawiden_run_write(write) }}
{% endmacro %}
{% macro _deltawiden_run_snapshot_write(plan, strategy, target_relation, columns) %}
  {% do write_meanwhile(target_relation) %}
  {{ dbt._deltawiden_run_snapshot_write(plan, strategy, target_relation, columns) }}
{% endmacro %}
"""
OWN_STRATEGY = """
{% macro get_incremental_own_sql(arg_dict) %}
  insert into {{ arg_dict['target_relation'] }} (id, amount, at)
  select id, amount, at from {{ arg_dict['temp_relation'] }}
{% endmacro %}
"""
ADD = "alter table TABLE add column other string"
READS_SOURCE = CONFIG + "select id, n from {{ schema }}.source"


@contextmanager
def whenever_it_writes(spark: SparkSession, commit: Callable[[], object]) -> Iterator[None]:
    """Run another writer's commit whenever the model's query has started."""
    java = spark._jvm.System
    java.clearProperty(STARTED)

    def watch() -> None:
        if java.getProperty(STARTED):
            java.clearProperty(STARTED)
            commit()
        time.sleep(0.02)

    with again_and_again(watch):
        yield


class TestConflicts:
    @pytest.fixture(scope="class")
    def models(self):
        return {"t.sql": MODEL, "u.sql": READS_SOURCE}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"meanwhile.sql": MEANWHILE}

    @pytest.fixture
    def t(self, project, table) -> Table:
        assert dbt("run", "--full-refresh", "-s", "t").status("t") == "success"
        return table("t")

    @pytest.mark.parametrize("strategy", [pytest.param("append", marks=pytest.mark.slow), "merge"])
    @needs_delta_4
    def test_a_metadata_change_during_the_write_is_planned_again(self, spark, t, strategy):
        before = t.version
        changes = iter(["set tblproperties ('k' = 'v')", "set tblproperties ('k' = 'w')"])
        with whenever_it_writes(
            spark,
            lambda: spark.sql(
                f"alter table {t.name} {next(changes, 'unset tblproperties if exists (x)')}"
            ),
        ):
            run = dbt("run", slow=True, id=2, n=70000, type="int", strategy=strategy)
        assert run.status("t") == "success", run.output
        assert "Another writer came first (DELTA_METADATA_CHANGED)" in run.output
        assert t.rows() == [(1, 1), (2, 70000)]
        # The first attempt had widened; the last one's plan had nothing to change.
        assert [change["path"] for change in run.response("t")["type_changes"]] == [["n"]]
        assert t.operations(since=before).count("CHANGE COLUMN") == 1

    def test_the_last_attempt_fails_and_writes_nothing(self, spark, t, monkeypatch):
        monkeypatch.setattr(conflicts, "MAX_ATTEMPTS", 2)
        monkeypatch.setattr(attempts, "MAX_ATTEMPTS", 2)
        monkeypatch.setattr(conflicts, "_WAIT", wait_none())
        commits = iter(range(100))
        with whenever_it_writes(
            spark,
            lambda: spark.sql(f"alter table {t.name} set tblproperties ('k' = '{next(commits)}')"),
        ):
            run = dbt("run", slow=True, id=2)
        assert "Other writers came first in each of 2 attempts; no row was written" in run.message(
            "t"
        )
        assert "DELTA_METADATA_CHANGED" in run.message("t")
        assert t.rows() == [(1, 1)]

    @pytest.mark.slow
    @needs_delta_4
    def test_another_run_widens_and_adds_a_column_after_the_plan(self, t):
        widened = "alter table TABLE alter column n type bigint"
        enabled = "alter table TABLE set tblproperties ('delta.enableTypeWidening' = 'true')"
        run = dbt("run", id=2, n=2, meanwhile=[enabled, widened, ADD])
        assert run.status("t") == "success", run.output
        assert t.types == {"id": "int", "n": "bigint", "other": "string"}
        assert t.rows() == [(1, 1, None), (2, 2, None)]

    @pytest.mark.slow
    def test_another_run_moves_a_column_after_the_plan(self, t):
        run = dbt("run", id=2, n=3, meanwhile=["alter table TABLE alter column n first"])
        assert run.status("t") == "success", run.output
        assert list(t.types) == ["n", "id"]
        assert t.rows() == [(1, 1), (3, 2)]

    @pytest.mark.slow
    def test_another_run_moves_a_column_that_is_written_by_position(self, t):
        moved = "alter table TABLE alter column n first"
        options = {"strategy": "replace_where", "predicates": "id > 1"}
        run = dbt("run", id=2, n=3, meanwhile=[moved], **options)
        assert run.status("t") == "success", run.output
        assert t.rows() == [(1, 1), (3, 2)]

    @pytest.mark.slow
    @needs_delta_4
    def test_another_run_widens_the_models_source_after_the_plan(self, project, spark, table):
        source = f"{project.test_schema}.source"
        spark.sql(
            f"create table {source} using delta "
            "tblproperties ('delta.enableTypeWidening' = 'true') as select 1 as id, 2S as n"
        )
        assert dbt("run", "-s", "u").status("u") == "success"
        later = [
            f"alter table {source} alter column n type int",
            f"insert into {source} values (2, 70000)",
        ]
        run = dbt("run", "-s", "u", meanwhile=[*later, ADD])
        assert run.status("u") == "success", run.output
        assert table("u").types == {"id": "int", "n": "int", "other": "string"}
        assert table("u").rows() == [(1, 2, None), (1, 2, None), (2, 70000, None)]

    def test_a_write_that_fails_without_a_conflict_is_not_retried(self, t):
        run = dbt("run", id=2, n="raise_error('no such luck')")
        assert "no such luck" in run.message("t")
        assert "Another writer" not in run.output
        assert t.rows() == [(1, 1)]


class TestTableReplacedAfterThePlan:
    """Another run replaces the table by one with a narrower type, before this run's write."""

    strategies: ClassVar[dict[str, str]] = {
        **dict.fromkeys((*STRATEGIES, "delete+insert"), ""),
        "replace_where": ", incremental_predicates='id = 2'",
        "own": "",
    }
    names = tuple(strategy.replace("+", "_") for strategy in strategies)

    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{strategy.replace('+', '_')}.sql": f"""
{{{{ config(materialized='incremental', incremental_strategy='{strategy}', unique_key='id',
  on_schema_change='append_new_columns', type_widening=var('widens', true), event_time='at',
  batch_size='day', begin='2024-01-01'{condition}) }}}}
select 2 as id, cast(1.2367 as decimal(10,4)) as amount, timestamp'2024-01-01 12:00:00' as at
"""
            for strategy, condition in self.strategies.items()
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "versions.sql": """
{% snapshot versions %}
{{ config(target_schema=schema, unique_key='id', strategy='check', check_cols='all',
          file_format='delta', type_widening=true) }}
select {{ var('id', 1) }} as id, cast(1.2367 as decimal(10,4)) as amount
{% endsnapshot %}
"""
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"meanwhile.sql": MEANWHILE, "own.sql": OWN_STRATEGY}

    @pytest.fixture(autouse=True)
    def _first(self, project):
        dbt("run", "--full-refresh", *ONE_DAY)

    def _narrower(self) -> list[str]:
        amount = "cast(1 as decimal(8,2)) as amount"
        rows = f"select 1 as id, {amount}, timestamp'2024-01-01 13:00:00' as at, 'x' as other"
        return [f"create or replace table TABLE using delta as {rows}"]

    @needs_delta_4
    def test_each_strategy_widens_the_new_table(self, table):
        run = dbt("run", *ONE_DAY, meanwhile=self._narrower())
        # The statements of a project's own strategy never run twice.
        assert "[TABLE_TYPES_CHANGED]" in run.message("own")
        assert table("own").rows("amount") == [(Decimal("1.00"),)]
        for name in self.names[:-1]:
            assert run.status(name) == "success", run.message(name)
            assert table(name).types["amount"] == "decimal(10,4)", name
            assert Decimal("1.2367") in [row[0] for row in table(name).rows("amount")], name

    @pytest.mark.slow
    def test_each_strategy_stops_if_the_types_stay(self, table):
        run = dbt("run", *ONE_DAY, widens=False, meanwhile=self._narrower())
        assert "can't take the model's output" in run.message("merge")
        for name in self.names:
            assert run.status(name) == "error", name
            assert table(name).rows("id", "amount", "other") == [(1, Decimal("1.00"), "x")], name

    @pytest.mark.slow
    @needs_delta_4
    def test_a_snapshot_widens_the_new_table(self, table):
        assert dbt("snapshot").status("versions") == "success"
        narrower = "create or replace table TABLE using delta as select * except (amount),"
        columns = "cast(amount as decimal(8,2)) as amount, 'x' as other from TABLE"
        run = dbt("snapshot", id=2, meanwhile=[f"{narrower} {columns}"])
        assert run.status("versions") == "success", run.output
        assert table("versions").types["amount"] == "decimal(10,4)"
        assert table("versions").rows("id", "amount") == [
            (1, Decimal("1.2400")),
            (2, Decimal("1.2367")),
        ]


@pytest.mark.slow
class TestWriter:
    """Another program inserts one row after the other while models widen its table."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"t.sql": MODEL}

    @needs_delta_4
    def test_no_row_is_lost_or_duplicated(self, project, spark, table):
        assert dbt("run", id=-1).status("t") == "success"
        written, errors = [], []

        def insert() -> None:
            # A MERGE of the whole table never commits between inserts that don't pause.
            for _ in range(5):
                try:
                    spark.sql(f"insert into {table('t').name} values ({len(written)}, 7)")
                    written.append(len(written))
                except Exception as error:
                    errors.append(str(error))
                time.sleep(1)

        for step, (kind, strategy) in enumerate(
            (("int", "append"), ("bigint", "merge"), ("bigint", "merge")), start=2
        ):
            thread = threading.Thread(target=insert)
            thread.start()
            run = dbt("run", id=-step, n=-step, type=kind, strategy=strategy)
            thread.join()
            assert run.status("t") == "success", run.output
        t = table("t")
        assert t.types["n"] == "bigint"
        assert len(written) > 3
        # Delta does not retry a plain INSERT after a widening. The program has to.
        assert [error for error in errors if "DELTA_METADATA_CHANGED" not in error] == []
        ours = [(-1, 1), (-2, -2), (-3, -3), (-4, -4)]
        assert t.rows() == sorted([(number, 7) for number in written] + ours, key=repr)


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def wait_until_more_or_stopped(stream: StreamingQuery, count: Callable[[], int]) -> None:
    before = count()
    wait_until(lambda: not stream.isActive or count() > before)


@pytest.mark.slow
class TestStream:
    """A structured stream appends while models widen its table."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"t.sql": MODEL}

    @needs_delta_4
    def test_no_row_is_lost_or_duplicated(self, project, spark, table, tmp_path: Path):
        assert dbt("run", id=-1).status("t") == "success"
        rates = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
        rows = rates.selectExpr("cast(value as int) as id", "cast(value % 7 as smallint) as n")

        def start():
            writer = rows.writeStream.format("delta").option("checkpointLocation", str(tmp_path))
            return writer.trigger(processingTime="200 milliseconds").toTable(table("t").name)

        def streamed() -> int:
            return spark.table(table("t").name).where("id >= 0").count()

        stream, restarts = start(), 0
        wait_until(lambda: streamed() > 0)
        for step, kind in enumerate(("int", "bigint"), start=2):
            run = dbt("run", id=-step, n=-step, type=kind)
            assert run.status("t") == "success", run.output
            wait_until_more_or_stopped(stream, streamed)
            if not stream.isActive:  # A stream stops after a metadata change.
                assert "DELTA_METADATA_CHANGED" in str(stream.exception())
                stream, restarts = start(), restarts + 1
        before = streamed()
        wait_until(lambda: streamed() > before)
        stream.stop()

        t = table("t")
        assert t.types["n"] == "bigint"
        ids = [row[0] for row in t.rows("id")]
        rows_of_stream = sorted(number for number in ids if number >= 0)
        assert rows_of_stream == list(range(len(rows_of_stream))), f"after {restarts} restarts"
        assert sorted(number for number in ids if number < 0) == [-3, -2, -1]
