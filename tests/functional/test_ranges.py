"""A type that fits has a range: values outside it stop the run before the table is changed."""

import pytest

from tests.functional.operate import operate
from tests.functional.support import dbt, needs_delta_4

DATES = """
{{{{ config(materialized='incremental', incremental_strategy='append', type_widening=true,
          on_schema_change='append_new_columns') }}}}
select cast(id as int) as id, at, array(named_struct('at', at)) as nested
from values (1, cast('2024-01-01' as {{{{ var('type') }}}})),
  (2, cast('{day}' as {{{{ var('type') }}}})) as v (id, at)
"""
WIDENED = {"first": "-290308-12-22", "last": "+294247-01-10"}
REFUSED = {"too_early": "-290308-12-21", "too_late": "+294247-01-11"}
IN_TIMESTAMPS = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select 1 as id, s.{{ var('type', 'at') }} as at, s
from values (named_struct('at', timestamp'2024-01-01 00:00:00',
  'day', date'{{ var('day', '2024-01-01') }}')) as v (s)
"""
NESTED = """
{{ config(materialized='incremental', incremental_strategy='append',
          on_schema_change='append_new_columns') }}
select array(cast('{{ var('day', '2024-01-01') }}' as {{ var('of', 'timestamp') }})) as days
"""


@needs_delta_4
class TestADateThatNoTimestampHas:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": DATES.format(day=day) for name, day in {**WIDENED, **REFUSED}.items()
        }

    @pytest.fixture(scope="class", autouse=True)
    def _dates(self, project):
        dbt("run", type="date")

    @pytest.mark.slow
    def test_keeps_its_column_a_date(self, project, table, spark):
        before = {name: table(name).version for name in REFUSED}
        run = dbt("run", type="timestamp_ntz")
        for name in REFUSED:
            message = run.message(name)
            assert "at: date -> timestamp_ntz" in message
            assert "nested.element.at: date -> timestamp_ntz" in message
            assert "dates that are too early or too late for a timestamp" in message
            # The message shows a query for these rows.
            query = message.split("correct the rows that this finds: ")[1].splitlines()[0]
            assert [row.id for row in spark.sql(query).select("id").collect()] == [2]
            assert table(name).version == before[name]
        for name, day in WIDENED.items():
            assert run.status(name) == "success", run.message(name)
            assert (2, f"{day} 00:00:00") in table(name).rows("id", "string(at)")
            assert (2, f"[{{{day} 00:00:00}}]") in table(name).rows("id", "string(nested)")

    @pytest.mark.slow
    def test_is_not_widened_by_hand(self, project, table):
        before = table("too_late").version
        asked = {"models": ["too_late"], "columns": {"at": "timestamp_ntz"}}
        assert "too early or too late" in operate("widen_columns", **asked)
        assert table("too_late").version == before

    @pytest.mark.slow
    @pytest.mark.usefixtures("by_sql_alone")
    def test_is_found_by_sql_alone(self, project, table):
        run = dbt("run", "--select", "too_early", type="timestamp_ntz")
        assert "too early or too late" in run.message("too_early")


@needs_delta_4
class TestADateThatWasDeleted:
    """A deletion vector leaves it in its file, which no query could read after the change."""

    @pytest.fixture(scope="class")
    def models(self):
        properties = "tblproperties={'delta.enableDeletionVectors': 'true'}, "
        model = DATES.format(day="+300000-01-01").replace("select", "select /*+ coalesce(1) */")
        model = model.replace("config(", f"config({properties}")
        return {"deleted.sql": model, "deleted_by_sql.sql": model}

    def check(self, name, table, spark):
        assert dbt("run", "--select", name, type="date").status(name) == "success"
        metrics = spark.sql(f"delete from {table(name).name} where id = 2")
        assert metrics.collect()[0].num_affected_rows == 1
        assert table(name).history[-1].operationMetrics["numDeletionVectorsAdded"] == "1"
        asked = {"models": [name], "columns": {"at": "timestamp_ntz"}, "dry_run": True}
        assert f"reorg table {table(name).quoted} apply (purge)" in operate(
            "widen_columns", **asked
        )
        run = dbt("run", "--select", name, "--vars", "type: timestamp_ntz")
        assert run.status(name) == "success", run.message(name)
        assert "REORG" in table(name).operations(2)
        assert (1, "2024-01-01 00:00:00") in table(name).rows("id", "string(at)")

    def test_is_removed_before_the_change(self, project, table, spark):
        self.check("deleted", table, spark)

    @pytest.mark.slow
    @pytest.mark.usefixtures("by_sql_alone")
    def test_is_removed_by_sql_alone(self, project, table, spark):
        self.check("deleted_by_sql", table, spark)


class TestADateInATimestampColumn:
    @pytest.fixture(scope="class")
    def models(self):
        return {"in_timestamps.sql": IN_TIMESTAMPS, "nested.sql": NESTED}

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark, spark_parameters):
        zone = {"spark.sql.session.timeZone": "Pacific/Apia"}
        parameters = {**spark_parameters, **zone}
        return {"type": "deltawiden", "threads": 2, "server_side_parameters": parameters}

    @pytest.mark.slow
    def test_is_its_first_moment_or_stops_the_run(self, project, table):
        expected = "timestamp'2011-12-31 00:00:00 Pacific/Apia'"
        assert dbt("run").status("nested") == "success"
        run = dbt("run", type="day", of="date", day="2011-12-31")
        assert {str(r.status) for r in run.results.values()} == {"success"}, run.output
        assert table("in_timestamps").rows(f"at = {expected}") == [(True,)]
        assert table("nested").rows(f"days[0] = {expected}") == [(False,), (True,)]
        versions = {name: table(name).version for name in ("in_timestamps", "nested")}
        for day in ("2011-12-30", "+294247-01-12"):
            run = dbt("run", type="day", of="date", day=day)
            for name, path in (("in_timestamps", "at"), ("nested", "days.element")):
                message = run.message(name)
                assert f"has the value {day} (date) for the column {path} of" in message
                assert "whose type timestamp does not store it exactly" in message
                assert table(name).version == versions[name]
