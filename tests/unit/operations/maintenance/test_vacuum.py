"""How long files are kept, as table properties say it."""

from datetime import timedelta

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.operations.maintenance.vacuum import (
    PROPERTY,
    parse_interval,
    retention,
)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("interval 1 week", 168),
        ("interval 7 days", 168),
        ("7 days", 168),
        ("INTERVAL 30 Days 12 hours", 732),
        ("interval 0 hours", 0),
        ("interval 1 day -1 hour", 23),
        ("interval 90 minutes", 1.5),
        ("interval 1800.5 seconds", 1800.5 / 3600),
        ("1 week 1 day 1 hour 60 minutes 0 seconds 0 milliseconds 0 microseconds", 194),
    ],
)
def test_an_interval_of_delta_is_read(text: str, hours: float):
    assert parse_interval(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["", "interval", "1 month", "soon", "7", "1 day, 2 hours", "days"])
def test_another_text_is_none(text: str):
    assert parse_interval(text) is None


def test_a_table_without_the_property_keeps_files_for_a_week():
    assert retention({}) == timedelta(days=7)


def test_the_property_is_found_in_any_spelling():
    assert retention({PROPERTY.lower(): "interval 2 days"}) == timedelta(days=2)


LONG = ["interval 25000000000 hours", f"interval {'9' * 400} days", "999999999 days 30 hours"]


@pytest.mark.parametrize("text", ["soon", *LONG])
def test_a_property_that_is_no_interval_is_an_error_that_names_it(text: str):
    with pytest.raises(DbtRuntimeError, match=f"{PROPERTY} is '{text}'"):
        retention({PROPERTY: text})
