"""Warnings, of which `--warn-error` makes errors before a write, and never after it."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from dbt_common.events import get_event_manager
from dbt_common.exceptions import EventCompilationError
from dbt_common.helper_types import WarnErrorOptionsV2

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.warnings import warn_as_macro, warn_once


@pytest.fixture
def fired(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the texts of dbt's events, under `--warn-error` for each warning."""
    manager = get_event_manager()
    texts: list[str] = []
    # A later command sets this one again. An attribute of the manager would hide it.
    monkeypatch.setattr("dbt_common.events.functions.WARN_ERROR", True)
    monkeypatch.setattr(manager, "require_warn_or_error_handling", True)
    manager.add_callback(lambda event: texts.append(event.info.msg))
    yield texts
    manager.callbacks.pop()


def test_one_of_before_a_write_is_an_error_each_time(fired: list[str]):
    text = f"not in the database {uuid4()}"
    for _ in range(2):
        with pytest.raises(EventCompilationError, match=text):
            warn_once(text)


def test_one_of_after_a_write_is_shown_once(fired: list[str]):
    text = f"not in the database {uuid4()}"
    for _ in range(2):
        warn_as_macro(text, is_late=True)
    assert [text in each for each in fired] == [True]


def test_one_of_the_log_is_never_an_error(fired: list[str]):
    logger.warning("OPTIMIZE did not run")
    assert ["OPTIMIZE did not run" in each for each in fired] == [True]


def test_a_warning_of_a_macro_can_be_left_out_of_the_errors_by_its_name(
    fired: list[str], monkeypatch: pytest.MonkeyPatch
):
    names = ["JinjaLogWarning"]
    options = WarnErrorOptionsV2(error="all", warn=names, valid_error_names={*names})
    monkeypatch.setattr("dbt_common.events.functions.WARN_ERROR", False)
    monkeypatch.setattr(get_event_manager(), "_warn_error_options", options)
    warn_as_macro(text := f"not in the database {uuid4()}")
    assert [text in each for each in fired] == [True]
