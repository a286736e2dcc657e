"""Which errors mean that another writer came first, and how often a commit is tried."""

from collections.abc import Callable
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from dbt.adapters.deltawiden.spark.errors import condition

logger = AdapterLogger("DeltaWiden")

MAX_ATTEMPTS = 8
"""How often a write is tried."""

_WAIT = wait_random_exponential(multiplier=0.25, max=10)  # seconds

CONFLICTS = frozenset(
    {
        "DELTA_CONCURRENT_APPEND",
        "DELTA_CONCURRENT_DELETE_DELETE",
        "DELTA_CONCURRENT_DELETE_READ",
        "DELTA_CONCURRENT_TRANSACTION",
        "DELTA_CONCURRENT_WRITE",
        "DELTA_METADATA_CHANGED",
        "DELTA_PROTOCOL_CHANGED",
    }
)
"""Conditions of a commit that was not made because of another writer's,
https://docs.delta.io/latest/concurrency-control.html#conflict-exceptions."""


def retry_conflicts(commit: Callable[[], Any]) -> None:
    """Make a commit that needs no new plan; where another writer came first, again.

    Args:
        commit: makes it.

    Raises:
        DbtRuntimeError: the engine refused it, or other writers came first each time.
    """
    retrying(is_conflict)(commit)


def retrying(may_retry: Callable[[BaseException], bool]) -> Retrying:
    """Return what runs a function again, after a pause, a bounded number of times.

    Args:
        may_retry: whether an error is one after which the function may run again.

    Returns:
        A callable that takes the function, and raises its last error.
    """
    return Retrying(
        stop=stop_after_attempt(MAX_ATTEMPTS),
        wait=_WAIT,
        retry=retry_if_exception(may_retry),
        before_sleep=_log_retry,
        reraise=True,
    )


def is_conflict(error: BaseException) -> bool:
    """Tell whether an error says that another writer's commit came first."""
    return error_class(error) in CONFLICTS


def error_class(error: BaseException) -> str:
    """Return the main class of an error's condition; empty where it has none."""
    found = condition(error.msg) if isinstance(error, DbtRuntimeError) else None
    return (found or "").partition(".")[0]


def _log_retry(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    if error is not None and is_conflict(error):
        logger.info(
            f"Another writer came first ({error_class(error)}): reading the table again, "
            f"attempt {state.attempt_number + 1} of {MAX_ATTEMPTS}"
        )
