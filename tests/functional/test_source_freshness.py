"""`dbt source freshness` without a column: the last commit that changed data decides."""

import time
from datetime import datetime, timedelta, timezone

import pytest

from tests.functional.support import dbt
from tests.small import settings_of

SOURCES = """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    config:
      freshness: {warn_after: {count: 1, period: hour}, error_after: {count: 2, period: hour}}
    tables:
      - name: orders
      - name: Old_Orders_2
      - name: empty_table
      - name: of_parquet
      - name: a_view
      - name: with_column
        config: {loaded_at_field: loaded_at}
"""


class TestSourceFreshness:
    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": SOURCES}

    @pytest.fixture(scope="class")
    def written_at(self, project, spark):
        """The times between which the rows of `orders` were written."""
        spark.sql(f"use {project.test_schema}")
        spark.sql(
            "create table orders (id smallint, day string) using delta partitioned by (day) "
            "tblproperties ('delta.enableTypeWidening' = 'true')"
        )
        before = datetime.now(timezone.utc)
        spark.sql("insert into orders values (1, 'a')")
        spark.sql("insert into orders values (2, 'a')")
        after = datetime.now(timezone.utc)
        time.sleep(2)
        for statement in (
            "alter table orders alter column id type int",
            "alter table orders set tblproperties ('a' = 'b')",
            "alter table orders add columns (n int)",
            "optimize orders",
            "comment on table orders is 'x'",
            "vacuum orders",
            "delete from orders where id = 77",
            "merge into orders using (select 9 as id where false) s on orders.id = s.id "
            "when matched then delete",
        ):
            spark.sql(statement)
        spark.sql("create table Old_Orders_2 using delta as select 1 as id")
        spark.sql("create table empty_table (id int) using delta")
        spark.sql("create table of_parquet using parquet as select 1 as id")
        spark.sql("create view a_view as select * from orders")
        spark.sql(
            "create table with_column using delta as "
            "select timestamp'2020-01-01 00:00:00' as loaded_at"
        )
        spark.sql("use default")
        return before, after

    @pytest.fixture(scope="class")
    def checked(self, written_at):
        run = dbt("source", "freshness")
        return {name: result.to_dict() for name, result in run.results.items()}, run.output

    @pytest.fixture(scope="class")
    def results(self, checked):
        return checked[0]

    @pytest.mark.slow
    def test_commits_that_change_no_data_do_not_count(self, results, written_at, table):
        assert "OPTIMIZE" in table("orders").operations(since=2)
        assert "VACUUM END" in table("orders").operations(since=2)
        loaded_at = datetime.fromisoformat(
            results["orders"]["max_loaded_at"].replace("Z", "+00:00")
        )
        before, after = written_at
        # The time of a commit is that of its file, in milliseconds.
        assert before - timedelta(seconds=1) <= loaded_at <= after
        assert results["orders"]["status"] == "pass"
        assert results["orders"]["age"] > 2

    def test_a_table_with_a_name_in_capitals_has_the_time_of_its_rows(self, results):
        assert results["Old_Orders_2"]["status"] == "pass"
        assert 0 <= results["Old_Orders_2"]["age"] < 600

    def test_a_table_that_never_had_rows_has_the_time_of_its_creation(self, results):
        assert results["empty_table"]["status"] == "pass"

    def test_a_column_still_decides_where_it_is_configured(self, results):
        assert results["with_column"]["status"] == "error"
        assert results["with_column"]["max_loaded_at"].startswith("2020-01-01")

    @pytest.mark.parametrize("name", ["of_parquet", "a_view"])
    def test_what_has_no_history_is_an_error_that_says_what_to_set(self, checked, name):
        results, output = checked
        assert results[name]["status"] == "runtime error"
        assert f"`{name}` does not say when its data last changed" in output
        assert "set `loaded_at_field`" in output


LOADED = """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    config:
      freshness: {error_after: {count: 1, period: hour}}
    tables:
      - name: by_column
        identifier: loaded
        config: {loaded_at_field: at, freshness: {filter: "at < timestamp'2100-01-01'"}}
      - name: by_query
        identifier: loaded
        config:
          loaded_at_query: >
            with a as (select at from {{ target.schema }}.loaded) select max(at) from a
      - name: without_zone
        identifier: loaded
        config: {loaded_at_field: utc}
      - name: by_text
        identifier: loaded
        config: {loaded_at_field: string(at)}
"""


class TestTimesOfLoadingInAZone:
    """The first half past one of the night in which New York's clocks are set back."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": LOADED}

    def test_are_those_of_utc(self, project, spark):
        spark.sql(
            f"create table {project.test_schema}.loaded using delta as select "
            "timestamp'2024-11-03 05:30:00+00:00' as at, timestamp_ntz'2024-11-03 05:30:00' as utc"
        )
        before = datetime.now(timezone.utc)
        with settings_of(spark, {"spark.sql.session.timeZone": "America/New_York"}):
            run = dbt("source", "freshness")
        for name in ("by_column", "by_query", "without_zone"):
            found = run.results[name].to_dict()
            assert found["max_loaded_at"].startswith("2024-11-03T05:30:00"), name
            at = datetime.fromisoformat(found["snapshotted_at"].replace("Z", "+00:00"))
            assert before <= at <= datetime.now(timezone.utc)
        assert "cast it to a timestamp" in run.output
