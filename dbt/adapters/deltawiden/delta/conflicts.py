"""Detect conflicts with other writers, and retry the commits that they prevented."""

from collections.abc import Callable
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.errors import condition_of

MAX_ATTEMPTS = 8
"""The number of attempts at a write."""

_WAIT = wait_random_exponential(multiplier=0.25, max=10)  # seconds

CONFLICTS = frozenset(
    {
        *("DELTA_CONCURRENT_APPEND", "DELTA_CONCURRENT_TRANSACTION", "DELTA_CONCURRENT_WRITE"),
        *("DELTA_CONCURRENT_DELETE_DELETE", "DELTA_CONCURRENT_DELETE_READ"),
        *("DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED"),
    }
)
"""The error conditions of a commit that failed because another writer committed first,
https://docs.delta.io/latest/concurrency-control.html#conflict-exceptions."""


def retry_same_commit(commit: Callable[[], Any]) -> None:
    """Make a commit that needs no new plan, and retry it after each conflict.

    Raises:
        DbtRuntimeError: the engine refused the commit, or every attempt ended in a conflict.
    """
    retry_while(is_conflict)(commit)


def retry_while(may_retry: Callable[[BaseException], bool]) -> Retrying:
    """Return a callable that calls a function, with pauses, up to ``MAX_ATTEMPTS`` times."""
    return Retrying(
        stop=stop_after_attempt(MAX_ATTEMPTS),
        wait=_WAIT,
        retry=retry_if_exception(may_retry),
        before_sleep=_log_retry,
        reraise=True,
    )


def is_conflict(error: BaseException) -> bool:
    """Return whether an error says that another writer committed first."""
    return main_condition(error) in CONFLICTS


def main_condition(error: BaseException) -> str:
    """Return an error's condition without its subcondition. Empty if the error has no condition."""
    found = condition_of(error) if isinstance(error, DbtRuntimeError) else None
    return (found or "").partition(".")[0]


def _log_retry(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    if error is not None and is_conflict(error):
        logger.info(
            f"Another writer came first ({main_condition(error)}): reading the table again, "
            f"attempt {state.attempt_number + 1} of {MAX_ATTEMPTS}"
        )
