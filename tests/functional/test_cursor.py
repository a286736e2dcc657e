"""The rows that a cursor returns, in the ways of PEP 249."""

import pytest

from dbt.adapters.deltawiden.spark.session_connection import SessionConnection

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
