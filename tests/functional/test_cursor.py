"""The rows that a cursor returns, in the ways of PEP 249."""

from datetime import datetime
from typing import Any

import pytest

from dbt.adapters.deltawiden.spark.session_connection import SessionConnection
from tests.functional.standard.zones import process_zone
from tests.functional.support import dbt
from tests.small import settings_of

ZONE = "spark.sql.session.timeZone"
QUERY = "select id from range(0, 5, 1, 3)"


@pytest.fixture
def cursor(spark) -> SessionConnection:
    cursor = SessionConnection(spark).cursor()
    cursor.execute(QUERY)
    return cursor


def ids(rows) -> list[int]:
    return [row.id for row in rows]


def test_all_remaining_rows_follow_the_first_ones(cursor):
    assert ids(cursor.fetchmany(2)) == [0, 1]
    assert ids(cursor.fetchall()) == [2, 3, 4]
    assert cursor.fetchall() == []


def test_some_rows_follow_others_until_there_are_none(cursor):
    assert ids(cursor.fetchmany(2)) == [0, 1]
    assert ids([cursor.fetchone()]) == [2]
    assert ids(cursor.fetchmany(9)) == [3, 4]
    assert cursor.fetchmany(9) == []
    assert cursor.fetchone() is None


def test_the_next_statement_starts_again(cursor):
    cursor.fetchmany(2)
    cursor.execute(QUERY)
    assert ids(cursor.fetchall()) == [0, 1, 2, 3, 4]


# In the zone of the process, the first two are the same time of an hour that is repeated.
MOMENTS = ("2024-10-27 00:30:00Z", "2024-10-27 01:30:00Z", "2024-07-01 12:00:00.123456Z")


@pytest.fixture
def in_berlin():
    with process_zone("Europe/Berlin"):
        yield


def fetched(spark, query: str) -> list[Any]:
    cursor = SessionConnection(spark).cursor()
    cursor.execute(query)
    assert "timestamp" in [kind for _, kind, *_ in cursor.description]
    return [*cursor.fetchmany(1), *cursor.fetchall()]


@pytest.mark.parametrize(
    "zone", ["UTC", "Z", "+02:00", "GMT+2", "PST", "America/New_York", "Europe/Berlin"]
)
def test_a_timestamp_has_the_time_of_the_session(spark, in_berlin, zone):
    moments = ", ".join(f"timestamp'{moment}'" for moment in MOMENTS)
    query = f"select at, cast(at as string) as text from values {moments} as v(at)"
    with settings_of(spark, {ZONE: zone}):
        found = fetched(spark, query)
    assert [(str(row.at), row.text) for row in found] == [(row.text, row.text) for row in found]


def test_timestamps_inside_other_types_have_it_too(spark, in_berlin):
    at = "timestamp'2024-07-01 12:00:00Z'"
    query = (
        f"select {at} as `a.b`, {at} as `a.b`, array({at}, null), "
        f"named_struct('x.y', {at}, 'n', 1), map({at}, {at}), cast(null as timestamp), "
        "timestamp_ntz'2024-07-01 01:00:00', 7"
    )
    with settings_of(spark, {ZONE: "UTC"}):
        (row,) = fetched(spark, query)
    noon = datetime(2024, 7, 1, 12)
    assert tuple(row) == (
        *(noon, noon, [noon, None], (noon, 1), {noon: noon}, None, datetime(2024, 7, 1, 1), 7),
    )
    assert row.__fields__[:2] == ["a.b", "a.b"]


@pytest.mark.parametrize(
    "first", ["0001-01-01 00:00:00", "1883-11-18 12:03:57", "9999-12-31 23:59:59"]
)
def test_the_session_decides_which_times_python_has(spark, first):
    with process_zone("Asia/Tokyo"), settings_of(spark, {ZONE: "America/New_York"}):
        (row,) = fetched(spark, f"select timestamp'{first}' as at")
    assert str(row.at) == first


NEWER = """
{{ config(materialized='incremental') }}
{% do run_query("set time zone '" ~ var('zone') ~ "'") if var('zone') %}
select at from values (timestamp'2024-07-01 12:00:00Z'), (timestamp'2024-07-01 13:00:00Z') as v(at)
{% if is_incremental() %}
  where at > timestamp'{{ run_query('select max(at) from ' ~ this).columns[0][0] }}'
{% else %}
  where at <= timestamp'2024-07-01 12:00:00Z'
{% endif %}
"""


class TestAModelThatReadsWhatIsNew:
    @pytest.fixture(scope="class")
    def models(self):
        return {"newer.sql": NEWER}

    @pytest.mark.parametrize(
        ("of_dbt", "of_model"), [("Asia/Tokyo", ""), ("America/Los_Angeles", "Australia/Sydney")]
    )
    def test_stores_each_row_once_wherever_dbt_runs(self, project, table, of_dbt, of_model):
        with process_zone(of_dbt):
            for command in (["--full-refresh"], [], []):
                dbt("run", *command, zone=of_model)
        assert table("newer").rows("unix_seconds(at) % 86400 / 3600") == [(12.0,), (13.0,)]


class TestMomentsForTheAdapterItself:
    def test_are_exact_in_a_repeated_hour_of_the_process(self, project, in_berlin):
        adapter = project.adapter
        moments = " union all ".join(f"select timestamp'{moment}'" for moment in MOMENTS)
        with adapter.connection_named("test"):
            found = [
                adapter._backend.instant(row[0]) for row in adapter._backend.fetch_rows(moments)
            ]
        assert found == [datetime.fromisoformat(each.replace("Z", "+00:00")) for each in MOMENTS]
