"""Which errors mean that another writer came first, and how often a write is tried again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from dbt.adapters.deltawiden.errors import condition
from dbt.adapters.deltawiden.widening.plan import Plan

logger = AdapterLogger("DeltaWiden")

MAX_ATTEMPTS = 8
"""How often a write is begun."""

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

_SCHEMA_IS_ANOTHER = frozenset(
    {
        "CANNOT_UP_CAST_DATATYPE",  # of the view: a table that it reads has become wider
        "DELTA_FAILED_TO_MERGE_FIELDS",
        "DELTA_INSERT_COLUMN_ARITY_MISMATCH",
        "DELTA_MERGE_UNRESOLVED_EXPRESSION",
        "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS",
        "INCOMPATIBLE_DATA_FOR_TABLE",
        "INSERT_COLUMN_ARITY_MISMATCH",
        "UNRESOLVED_COLUMN",
    }
)
"""Conditions that a statement ends with before it writes, where the schema of the table, or of one
that it reads, is not the one that it was made for."""


class SchemaChangeFailed(DbtDatabaseError):
    """The engine refused a statement that changes a table's schema or properties."""


class _NothingMoved(Exception):
    """The table is as it was when the write failed, so trying again is no use."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Attempts:
    """The attempts of one write, each with a plan of its own."""

    def __init__(self) -> None:
        self._last: Plan | None = None
        self._stopped_by: BaseException | None = None

    def remember(self, plan: Plan) -> Plan:
        """Take the plan of an attempt.

        Args:
            plan: a plan that is not refused, made from the table as it is now.

        Returns:
            The plan, with the type changes that earlier attempts have made.
        """
        last, error = self._last, self._stopped_by
        if last is not None and error is not None:
            if not is_conflict(error) and plan == replace(last, made_before=()):
                raise _NothingMoved(error)
            changes = (*last.made_before, *last.changes)
            plan = replace(
                plan, made_before=tuple(each for each in changes if each not in plan.changes)
            )
        self._last = plan
        return plan

    def stop(self, error: BaseException) -> None:
        """Take the error that has ended an attempt."""
        self._stopped_by = error


def until_no_conflict(write: Callable[[Attempts], Any]) -> None:
    """Plan and write; where another writer came first, again, a bounded number of times.

    Nothing is written twice: each error after which the write is begun again comes before a commit.

    Args:
        write: plans and writes once; it hands its plan to ``Attempts.remember`` before it changes
            anything.

    Raises:
        DbtDatabaseError: the engine refused a statement; where another writer came first each time,
            the message says so.
    """
    attempts = Attempts()

    def attempt() -> None:
        try:
            write(attempts)
        except DbtRuntimeError as error:
            attempts.stop(error)
            raise

    try:
        Retrying(
            stop=stop_after_attempt(MAX_ATTEMPTS),
            wait=_WAIT,
            retry=retry_if_exception(_may_be_conflict),
            before_sleep=_tell,
            reraise=True,
        )(attempt)
    except _NothingMoved as unmoved:
        raise unmoved.error from None
    except DbtDatabaseError as error:
        if not is_conflict(error):
            raise
        raise DbtDatabaseError(
            f"Other writers came first in each of {MAX_ATTEMPTS} attempts; nothing was written. "
            f"Run the model again when they are done. The last conflict:\n{error.msg}"
        ) from error


def is_conflict(error: BaseException) -> bool:
    """Tell whether an error says that another writer's commit came first."""
    return _names(error) in CONFLICTS


def _may_be_conflict(error: BaseException) -> bool:
    return (
        is_conflict(error)
        or isinstance(error, SchemaChangeFailed)
        or (isinstance(error, DbtDatabaseError) and _names(error) in _SCHEMA_IS_ANOTHER)
    )


def _names(error: BaseException) -> str:
    found = condition(error.msg) if isinstance(error, DbtRuntimeError) else None
    return (found or "").partition(".")[0]


def _tell(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    if error is not None and is_conflict(error):
        logger.info(
            f"Another writer came first ({_names(error)}): reading the table again, "
            f"attempt {state.attempt_number + 1} of {MAX_ATTEMPTS}"
        )
