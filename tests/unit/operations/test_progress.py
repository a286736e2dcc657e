"""Sizes in readable units, and how many items are done."""

import itertools

import pytest

from dbt.adapters.deltawiden.operations import progress
from dbt.adapters.deltawiden.operations.progress import size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (2_150_000_000, "2.1 GB"),
        (9_000_000_000_000_000, "9000.0 TB"),
    ],
)
def test_a_size_is_shown_in_units(size, text):
    assert size_text(size) == text


def test_many_items_are_counted_every_few_seconds(monkeypatch: pytest.MonkeyPatch):
    seconds = itertools.count(step=2)
    lines: list[str] = []
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(progress, "log_progress", lines.append)
    assert list(progress.in_view("vacuum", "tables", iter("abc"), str.upper)) == ["a", "b", "c"]
    assert lines == ["vacuum: 1 of 3 tables; next: B"]


def test_few_seconds_have_no_lines(monkeypatch: pytest.MonkeyPatch):
    lines: list[str] = []
    monkeypatch.setattr(progress, "log_progress", lines.append)
    assert list(progress.in_view("vacuum", "tables", "abc", str.upper)) == ["a", "b", "c"]
    assert lines == []
