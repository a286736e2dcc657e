"""A line about a start that takes long."""

import threading

import pytest

from dbt.adapters.deltawiden.spark import announce


def test_only_a_long_block_has_a_line(monkeypatch: pytest.MonkeyPatch):
    said = threading.Event()
    monkeypatch.setattr(announce, "_SECONDS", 0.01)
    monkeypatch.setattr(announce.logger, "info", lambda text: said.set())
    with announce.announced("Spark is starting."):
        assert said.wait(60)
    said.clear()
    monkeypatch.setattr(announce, "_SECONDS", 60)
    with announce.announced("Spark is starting."):
        pass
    assert not said.is_set()
