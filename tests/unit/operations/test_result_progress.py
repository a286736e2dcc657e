"""How many items of an operation are done."""

import itertools
from types import SimpleNamespace

import pytest

from dbt.adapters.deltawiden.operations import result


def test_many_items_are_counted_every_few_seconds(monkeypatch: pytest.MonkeyPatch):
    seconds = itertools.count(step=2)
    lines: list[str] = []
    monkeypatch.setattr(result, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(result, "log_progress", lines.append)
    assert list(result.with_progress("vacuum", "tables", iter("abc"), str.upper)) == [
        "a",
        "b",
        "c",
    ]
    assert lines == ["vacuum: 1 of 3 tables; next: B"]


def test_few_seconds_have_no_lines(monkeypatch: pytest.MonkeyPatch):
    lines: list[str] = []
    monkeypatch.setattr(result, "log_progress", lines.append)
    assert list(result.with_progress("vacuum", "tables", "abc", str.upper)) == ["a", "b", "c"]
    assert lines == []
