"""A microbatch model replaces only the rows of its batch."""

from importlib.metadata import version

import pytest

from tests.functional.support import dbt, needs_delta_4

# The session's time zone is America/New_York: its day begins at 04:00 UTC, and on 3 November 2024
# its clocks show 01:30 at 05:30 UTC and again at 06:30 UTC.
MOMENTS = {
    1: "2024-11-01 23:30:00",
    2: "2024-11-02 00:00:00",
    3: "2024-11-02 03:59:59",
    4: "2024-11-02 23:59:59.999999",
    5: "2024-11-03 00:00:00",
    6: "2024-11-03 05:30:00",
    7: "2024-11-03 06:30:00",
    8: "2024-11-03 07:00:00",
}
SECOND = {2, 3, 4}
LONG_MOMENTS = (
    *("2023-12-01 00:00:00", "2023-12-31 23:59:59.999999", "2024-01-01 00:00:00"),
    *("2024-02-01 00:00:00", "2024-02-29 23:59:59.999999", "2024-03-01 00:00:00"),
    *("2024-12-31 23:59:59.999999", "2025-01-01 00:00:00"),
)
EVENTS = """
{{{{ config(event_time='at') }}}}
select id, at, {{{{ var('n', 1) }}}} as n from values {rows} as e(id, at)
where id not in ({{{{ var('gone', 0) }}}})
"""
TYPES = {
    "events": "timestamp'{}Z'",
    "events_ntz": "timestamp_ntz'{}'",
    "events_date": "cast(timestamp_ntz'{}' as date)",
}
QUOTED = """
models: [{name: events_ntz, columns: [{name: at, quote: true}]}]
"""
MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at',
          begin='2024-11-01', {config}) }}}}
select id, at, n, date_format(at, 'yyyy-MM-dd') as day from {{{{ ref('{source}') }}}}
"""
DAYS = ("--event-time-start", "2024-11-01", "--event-time-end", "2024-11-04")
SECOND_DAY = ("--event-time-start", "2024-11-02", "--event-time-end", "2024-11-03")


def events() -> dict[str, str]:
    """The input models, one for each type of event_time."""
    return {
        f"{name}.sql": EVENTS.format(
            rows=", ".join(f"({n}, {literal.format(text)})" for n, text in MOMENTS.items())
        )
        for name, literal in TYPES.items()
    }


def model(config: str, source: str = "events") -> str:
    return MODEL.format(config=config, source=source)


class TestBatches:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            **events(),
            "events.yml": QUOTED,
            "days.sql": model("batch_size='day'"),
            "days_ntz.sql": model("batch_size='day'", "events_ntz"),
            "dates.sql": model("batch_size='day'", "events_date"),
            # A partition is a day of the session's time zone.
            "partitioned.sql": model("batch_size='day', partition_by='day'"),
        }

    NAMES = ("days", "days_ntz", "dates", "partitioned")

    def test_replace_the_rows_of_a_day_in_utc_and_no_others(self, project, table):
        run = dbt("run", *DAYS)
        for name in self.NAMES:
            assert run.status(name) == "success", run.message(name)
            assert {row[0] for row in table(name).rows("id")} == set(MOMENTS)
        before = {name: table(name).version for name in self.NAMES}
        dbt("run", *SECOND_DAY, n=2)
        for name in self.NAMES:
            rows = [(number, 2 if number in SECOND else 1) for number in MOMENTS]
            assert table(name).rows("id", "n") == rows
            assert table(name).operations(before[name]) == ["WRITE"]
        # The batch has no rows.
        dbt("run", *SECOND_DAY, gone=", ".join(map(str, SECOND)))
        for name in self.NAMES:
            assert {row[0] for row in table(name).rows("id")} == set(MOMENTS) - SECOND

    @pytest.mark.slow
    def test_that_run_at_once_lose_no_row(self, project, table):
        for n in (3, 4):
            run = dbt("run", "--select", "+days", "+partitioned", "--threads", "4", *DAYS, n=n)
        for name in ("days", "partitioned"):
            assert run.status(name) == "success", run.message(name)
            assert table(name).rows("id", "n") == [(number, 4) for number in MOMENTS]

    @pytest.mark.skipif(
        version("delta-spark") < "4.1", reason="Delta 4.0 creates no generated column by SQL"
    )
    @pytest.mark.slow
    def test_a_table_with_generated_columns_is_written(self, project, table):
        days = table("days")
        days.spark.sql(
            f"create or replace table {days.name} (key bigint generated always as identity, "
            "id int, at timestamp, n int, day string, "
            "next int generated always as (id + 1)) using delta"
        )
        for n in (5, 6):
            run = dbt("run", "--select", "+days", *DAYS, n=n)
            assert run.status("days") == "success", run.message("days")
        run = dbt("run", "--select", "+days", *SECOND_DAY, n=7)
        assert days.rows("id", "n", "next") == [
            (moment, 7 if moment in SECOND else 6, moment + 1) for moment in MOMENTS
        ]
        days.spark.sql(f"drop table {days.name}")


class TestRetry:
    @pytest.fixture(scope="class")
    def models(self):
        fails = (
            "{{ \"cast(raise_error('late') as int)\" if var('fails') == model.batch.id else 'n' }}"
        )
        return {**events(), "days.sql": model("batch_size='day'").replace("n, ", fails + " as n, ")}

    @pytest.mark.parametrize("options", [(), ("--full-refresh",)])
    def test_runs_the_batch_that_failed(self, project, table, options):
        dbt("run", "--select", "+days", *DAYS, *options, fails="")
        run = dbt("run", "--select", "+days", *DAYS, *options, n=2, fails="20241103")
        assert run.status("days") == "partial success", run.output
        before = {} if options else {n: 1 for n in MOMENTS if n >= 5}
        assert dict(table("days").rows("id", "n")) == {**dict.fromkeys(range(1, 5), 2), **before}
        run = dbt("retry", "--vars", "{n: 3, fails: ''}")
        assert run.status("days") == "success", run.output
        assert dict(table("days").rows("id", "n")) == dict.fromkeys(MOMENTS, 2)


class TestHours:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            **events(),
            "hours.sql": model("batch_size='hour'"),
            "in_days.sql": model("batch_size='hour', partition_by='day'"),
            "hours_of_dates.sql": model("batch_size='hour'", "events_date"),
        }

    @pytest.mark.slow
    @pytest.mark.parametrize("name", [pytest.param("hours", marks=pytest.mark.slow), "in_days"])
    def test_an_hour_that_the_clock_shows_twice_is_two_batches(self, project, table, name):
        run = dbt(
            "run",
            "--select",
            "+" + name,
            "--full-refresh",
            "--event-time-start",
            "2024-11-03 00:00:00",
            "--event-time-end",
            "2024-11-03 08:00:00",
        )
        assert {row[0] for row in table(name).rows("id")} == {5, 6, 7, 8}
        assert run.status(name) == "success", run.output
        for n, changed in ((2, 6), (3, 7), (4, 8)):
            hours = (f"2024-11-03 0{n + 3}:00:00", f"2024-11-03 0{n + 4}:00:00")
            run = dbt(
                "run",
                "--select",
                "+" + name,
                "--event-time-start",
                hours[0],
                "--event-time-end",
                hours[1],
                n=n,
            )
            assert run.status(name) == "success", run.message(name)
            assert [row[0] for row in table(name).rows("id", "n") if row[1] == n] == [changed]
        assert {row[0] for row in table(name).rows("id")} == {5, 6, 7, 8}

    def test_a_date_cannot_separate_hours(self, project):
        hours = (
            "--event-time-start",
            "2024-11-02 00:00:00",
            "--event-time-end",
            "2024-11-02 02:00:00",
        )
        run = dbt("run", "--select", "+hours_of_dates", *hours)
        assert "Set batch_size to day, month or year" in run.output


CONTRACT = """
models:
  - name: moved
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: int}
      - {name: at, data_type: timestamp}
      - {name: n, data_type: int}
      - {name: day, data_type: string}
"""


class TestRowsOutsideOfTheBatch:
    """The model computes another time than that of its input, or reads an input without one."""

    NAMES = ("moved", "moved_parquet")

    @pytest.fixture(scope="class")
    def models(self):
        moved = ("at, n", "at + make_dt_interval({{ var('days') }}) as at, n")
        by_day = "batch_size='day', file_format='parquet', partition_by='id'"
        return {
            **events(),
            "moved.sql": model("batch_size='day', on_schema_change='fail'").replace(*moved)
            + " -- a comment",
            "moved_parquet.sql": model(by_day).replace(*moved),
            "moved.yml": CONTRACT,
        }

    def test_stop_the_run_also_if_it_would_create_the_table(self, project, table):
        self._check_that_they_stop(dbt("run", *SECOND_DAY, days=1))
        assert not project.run_sql("show tables in {schema} like 'moved*'", fetch="all")
        run = dbt("run", *SECOND_DAY, days=0)
        for name in self.NAMES:
            assert run.status(name) == "success", run.message(name)
        self._check_that_they_stop(dbt("run", *SECOND_DAY, days=1))
        refresh = ("--select", "+moved", "--full-refresh")
        self._check_that_they_stop(dbt("run", *refresh, *SECOND_DAY, days=1))
        assert table("moved").version == 0
        for name in self.NAMES:
            assert {row[0] for row in table(name).rows("id")} == SECOND

    def _check_that_they_stop(self, run):
        for name in self.NAMES:
            if name not in run.results:
                continue
            assert run.status(name) == "error"
            message = run.message(name)
            assert "has a row whose event time is not in the batch: its column at is" in message
            assert "Set event_time for the models and sources that the model reads" in message


class TestTheSecondBatchOfTheFirstRun:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            **events(),
            "widens.sql": model(
                "batch_size='day', on_schema_change='append_new_columns', type_widening=true"
            ).replace("n, ", "cast(n as {{ 'bigint' if is_incremental() else 'int' }}) as n, "),
        }

    @needs_delta_4
    def test_widens_its_table(self, project, table):
        run = dbt("run", *DAYS)
        assert run.status("widens") == "success", run.message("widens")
        assert table("widens").types["n"] == "bigint"
        assert {row[0] for row in table("widens").rows("id")} == set(MOMENTS)


class TestPredicates:
    """As with dbt-databricks, a batch replaces only the rows that also meet the predicates."""

    OF_TENANT = "incremental_predicates=['n = ' ~ var('n', 1)"
    NAMES = ("tenants", "merged")

    @pytest.fixture(scope="class")
    def models(self):
        day = f"batch_size='day', {self.OF_TENANT}"
        parquet = ", file_format='parquet', partition_by='day'"
        in_utc = "date_format(to_utc_timestamp(at, current_timezone()), 'yyyy-MM-dd')"
        in_days = model(f"{day}]{parquet}").replace("date_format(at, 'yyyy-MM-dd')", in_utc)
        return {
            **events(),
            "tenants.sql": model(f"{day}]"),
            # Delta can't read the second one as text.
            "merged.sql": model(f"{day}, \"lower(day) >= '2024' -- all\"]"),
            "in_days.sql": in_days,
            "other.sql": model("batch_size='day', incremental_predicates='n = 1'"),
            "first.sql": model("batch_size='day', incremental_predicates='n = 5'"),
        }

    def test_keep_the_other_rows_of_a_batch(self, project, table):
        run = dbt("run", *DAYS)
        for name in (*self.NAMES, "in_days", "other"):
            assert run.status(name) == "success", run.message(name)
        # The next run of a batch would keep such a row of the batch that creates the table.
        assert "that incremental_predicates do not select: n = 5." in run.message("first")
        both = sorted([(n, 1) for n in MOMENTS] + [(n, 2) for n in SECOND])
        before = {name: table(name).version for name in self.NAMES}
        for _ in range(2):
            run = dbt("run", *SECOND_DAY, n=2)
            for name in self.NAMES:
                assert run.status(name) == "success", run.message(name)
                assert table(name).rows("id", "n") == both
        assert table("tenants").operations(before["tenants"]) == ["WRITE"] * 2
        assert table("merged").operations(before["merged"]) == ["MERGE"] * 2
        # This format has no other statement than one that replaces whole partitions.
        assert ", or they do not meet incremental_predicates." in run.message("in_days")
        assert "has a row that incremental_predicates do not select: n = 1." in run.message("other")
        for name in ("in_days", "other"):
            assert run.status(name) == "error"
            assert table(name).rows("id", "n") == [(n, 1) for n in MOMENTS]


class TestParquet:
    @pytest.fixture(scope="class")
    def models(self):
        parquet = "batch_size='day', file_format='parquet', partition_by='{}'"
        in_utc = "date_format(to_utc_timestamp(at, current_timezone()), 'yyyy-MM-dd')"
        return {
            **events(),
            "in_days.sql": model(parquet.format("day")).replace(
                "date_format(at, 'yyyy-MM-dd')", in_utc
            ),
            "in_months.sql": model(parquet.format("day")).replace("yyyy-MM-dd", "yyyy-MM"),
            "unpartitioned.sql": model("batch_size='day', file_format='parquet'"),
        }

    def test_only_partitions_of_the_batch_are_replaced(self, project, table):
        for n in (1, 2):
            run = dbt("run", *DAYS, n=n)
        assert run.status("in_days") == "success", run.message("in_days")
        assert table("in_days").rows("id", "n") == [(moment, 2) for moment in MOMENTS]
        run = dbt("run", "--select", "+in_days", *SECOND_DAY, n=3)
        assert table("in_days").rows("id", "n") == [
            (moment, 3 if moment in SECOND else 2) for moment in MOMENTS
        ]

    def test_a_partition_with_rows_of_other_batches_is_refused(self, project, table):
        # The first batch has no rows, and the next two run at once.
        days = ("--event-time-start", "2024-10-31", "--event-time-end", "2024-11-04")
        run = dbt("run", "--select", "+in_months", "--full-refresh", "--threads", "4", *days)
        assert "partitions of" in run.output
        assert "that have rows of other batches too" in run.output
        batches = run.results["in_months"].batch_results
        assert (len(batches.successful), len(batches.failed)) == (2, 2)
        assert {row[0] for row in table("in_months").rows("id")} in ({1}, SECOND)

    def test_a_table_without_partitions_is_refused(self, project, table):
        run = dbt("run", "--select", "+unpartitioned", "--full-refresh", *DAYS)
        assert "With `file_format: delta` it needs none." in run.output


@pytest.mark.slow
@needs_delta_4
class TestLongBatches:
    @pytest.fixture(scope="class")
    def models(self):
        rows = ", ".join(f"({n}, timestamp'{at}Z')" for n, at in enumerate(LONG_MOMENTS, 1))
        begin = ("begin='2024-11-01'", "begin='2023-11-01'")
        sizes = {f"{size}.sql": model(f"batch_size='{size}'") for size in ("month", "year")}
        models = {name: text.replace(*begin) for name, text in sizes.items()}
        return {"events.sql": EVENTS.format(rows=rows), **models}

    @pytest.mark.parametrize(
        ("size", "start", "end", "replaced"),
        [
            ("month", "2024-02-01", "2024-03-01", {4, 5}),
            ("year", "2024-01-01", "2025-01-01", {3, 4, 5, 6, 7}),
        ],
    )
    def test_replace_the_rows_of_a_month_or_a_year_and_no_others(
        self, project, table, size: str, start: str, end: str, replaced: set[int]
    ):
        def run(first: str, last: str, **variables: int) -> None:
            limits = ("--event-time-start", first, "--event-time-end", last)
            dbt("run", "--select", "events", size, *limits, **variables)

        run("2023-01-01", "2026-01-01")
        run(start, end, n=2)
        assert table(size).rows("id", "n") == [
            (n, 2 if n in replaced else 1) for n in range(1, len(LONG_MOMENTS) + 1)
        ]
