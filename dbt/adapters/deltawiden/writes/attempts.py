"""The attempts of a write: if another writer has committed first, plan and write again."""

import contextlib
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

from dbt_common.exceptions import DbtBaseException, DbtDatabaseError, DbtRuntimeError

from dbt.adapters.deltawiden.delta.conflicts import (
    MAX_ATTEMPTS,
    is_conflict,
    main_condition,
    retry_while,
)
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.spark.errors import message_of
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.report import not_castable_text
from dbt.adapters.deltawiden.widening.self_reference import casts_text
from dbt.adapters.deltawiden.widening.steps import RenameColumn, Step, type_changes

_SCHEMA_IS_ANOTHER = frozenset(
    {
        "CANNOT_UP_CAST_DATATYPE",  # of the view: a table that it reads has become wider
        "DELTA_FAILED_TO_MERGE_FIELDS",
        "DELTA_INSERT_COLUMN_ARITY_MISMATCH",
        "DELTA_MERGE_UNRESOLVED_EXPRESSION",
        "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS",
        "INCOMPATIBLE_DATA_FOR_TABLE",
        "INSERT_COLUMN_ARITY_MISMATCH",
        "TABLE_TYPES_CHANGED",
        "UNRESOLVED_COLUMN",
    }
)
"""The error conditions of a statement that has not written, because the schema of its table, or of
a table that it reads, has changed since the plan."""

_NOT_CASTABLE = frozenset(
    {
        "CANNOT_PARSE_TIMESTAMP",
        "CAST_INVALID_INPUT",
        "CAST_OVERFLOW",
        "CAST_OVERFLOW_IN_TABLE_INSERT",
        "DATATYPE_MISMATCH",
        "DATETIME_OVERFLOW",
        "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE",
        "DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
        "DUPLICATED_MAP_KEY",
        "EXCEED_LIMIT_LENGTH",
        "INVALID_VARIANT_CAST",
        "NUMERIC_VALUE_OUT_OF_RANGE",
    }
)
"""The error conditions of a value that the engine can't cast to the type of its column."""

# The engine's advice would lose such a value silently.
_ENGINES_ADVICE = re.compile(r"\s(?=If you want |If necessary|Use `try_cast`|To return NULL|Set )")


# A session's own job, one of Spark Connect, and one of a Thrift server.
_CANCELLED = re.compile(
    r"SPARK_JOB_CANCELLED|\bJob \d+ cancelled|OPERATION_CANCELED|CANCELED_STATE"
)


class SchemaChangeFailed(DbtDatabaseError):
    """The engine refused to change a table. The steps that had run before and stay are ``done``."""

    def __init__(self, message: str, done: Sequence[Step] = ()) -> None:
        super().__init__(message)
        self.done = done


class _TableUnchanged(Exception):
    """The table has not changed since the write failed, so another attempt would fail too."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class WidensItsOwnInput(DbtRuntimeError):
    """The output of a model has become wider because its own table has."""

    def __init__(self, table: str, grown: Sequence[tuple[TypeChange, TypeChange]]) -> None:
        made = ", ".join(made.text for made, _ in grown)
        more = ", ".join(more.text for _, more in grown)
        casts = casts_text((made.path, made.to_type) for made, _ in grown)
        super().__init__(
            f"{table} was widened ({made}), and then the model's output was wider again ({more}). "
            "No row was written. The model reads its own table, directly or through a view, and "
            f"computes a wider type from the table's. Cast the column in the model: {casts}"
        )


def _done(plan: Plan, error: BaseException) -> Sequence[Step]:
    """Return the steps before the write that an attempt has done, and not undone."""
    return error.done if isinstance(error, SchemaChangeFailed) else plan.before


def _remaining(plan: Plan, done: Sequence[Step] = ()) -> tuple[object, ...]:
    """Return what a plan does after some of its steps have run, to compare it with another plan."""
    before = [step for step in plan.before if step.is_goal and step not in done]
    return before, plan.write, plan.after


class Attempts:
    """The attempts of one write, each with a plan of its own. They have the changes of all.

    Attributes:
        done: the steps before the write that stay, from attempts that ended with an error.
        early: the plan of what was done before there was a view of the model's rows, until the
            table has all of its changes.
    """

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self.changes: tuple[TypeChange, ...] = ()
        self.renamed: tuple[RenameColumn, ...] = ()
        self.done: tuple[Step, ...] = ()
        self.early: Plan | None = None
        self._stopped_by: BaseException | None = None
        self._not_repeated = ""
        self._has_planned = False
        self._failures_before_plan = 0

    @property
    def plan(self) -> Plan:
        """The plan of the last attempt."""
        assert self._plan is not None
        return self._plan

    def forbid_retry(self, what: str = "strategy") -> None:
        """Let no other attempt follow this one: a macro of the project must not run twice.

        Its statements are not known: the first may have written.

        Args:
            what: what is the project's own, for the message.
        """
        self._not_repeated = what

    def may_follow(self, error: BaseException) -> bool:
        """Return whether another attempt may follow one that has ended with an error."""
        # A query that is wrong, and not only older than its tables, fails again before the plan.
        is_wrong = self._failures_before_plan > 1 and not is_conflict(error)
        return is_worth_replanning(error) and not (self._not_repeated or is_wrong)

    def record_plan(self, plan: Plan) -> None:
        """Record the plan, which is not refused, of an attempt.

        Raises:
            WidensItsOwnInput: the plan widens a column again that an earlier attempt has widened.
        """
        previous, error = self._plan, self._stopped_by
        if previous is not None and error is not None:
            remaining = _remaining(previous, _done(previous, error))
            if not is_conflict(error) and remaining == _remaining(plan):
                raise _TableUnchanged(error)
        grown = [
            (made, more)
            for made in self.changes
            for more in plan.changes
            if (made.path, made.to_type) == (more.path, more.from_type)
        ]
        if grown:
            raise WidensItsOwnInput(plan.table, grown)
        earlier = (change for change in self.changes if change not in plan.changes)
        self._plan, self.changes = plan, (*earlier, *plan.changes)
        self._has_planned, self._failures_before_plan = True, 0
        self.renamed = tuple(dict.fromkeys((*self.renamed, *plan.renamed)))

    def stop(self, error: BaseException) -> None:
        """Record the error that has ended an attempt."""
        self._stopped_by = error
        if self._has_planned:
            self.done = (*self.done, *_done(self.plan, error))
        else:
            self._failures_before_plan += 1
        self._has_planned = False

    def final_error(self, error: DbtDatabaseError) -> DbtDatabaseError:
        """Return the error for users after the last attempt, which the given error has ended."""
        plan = self._plan
        if plan is not None and plan.lossy and main_condition(error) in _NOT_CASTABLE:
            why = _ENGINES_ADVICE.split(str(error.msg))[0]
            return DbtDatabaseError(f"{why}\n{not_castable_text(plan)}")
        if not is_conflict(error):
            self.name_changes(error)
            return error
        stay = f" {self._made_text}" if self.made else ""
        if self._not_repeated:
            return DbtDatabaseError(
                f"Another writer came first. The {self._not_repeated} is one of the project's own, "
                f"which is not run again by itself: it may have written something before.{stay} "
                f"Look at the table, then run the model again. The conflict:\n{error.msg}"
            )
        return DbtDatabaseError(
            f"Other writers came first in each of {MAX_ATTEMPTS} attempts; no row was written."
            f"{stay} Run the model again when they are done. The last conflict:\n{error.msg}"
        )

    def name_changes(self, error: BaseException) -> None:
        """Add the type changes that stay to the error of a step that failed after them."""
        if isinstance(error, SchemaChangeFailed) and self.made:
            error.msg = self.error_text(error)

    def error_text(self, error: DbtBaseException) -> str:
        """Return the message of the final error, with the type changes that stay."""
        text = message_of(error)
        return text if self._made_text in text else f"{text}\n{self._made_text}"

    @property
    def made(self) -> tuple[TypeChange, ...]:
        """The type changes that stay after an error."""
        return tuple(dict.fromkeys(type_changes(self.done)))

    @property
    def _made_text(self) -> str:
        changes = ", ".join(change.text for change in self.made)
        return f"Type changes already made stay: {changes}." if changes else ""


class Turns:
    """Lets the writers of one table in this process take turns, after the first conflict.

    Batches of a model that run at once would otherwise stop each other again and again. Batches
    that write to different partitions have no conflict, so they go on to write at once.
    """

    def __init__(self) -> None:
        self._one = threading.Lock()
        self._have_collided = False

    def collided(self) -> None:
        """Record that two writers had a conflict."""
        self._have_collided = True

    def turn(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context to write in: it waits if the writers have to take turns."""
        return self._one if self._have_collided else contextlib.nullcontext()


def retry_with_new_plan(
    write: Callable[[Attempts], Any], turns: Turns | None = None, attempts: Attempts | None = None
) -> Attempts:
    """Plan and write. If another writer has committed first, do it again, up to ``MAX_ATTEMPTS``.

    Nothing is written twice: the errors after which there is another attempt come before a commit.

    Args:
        write: plans and writes once. It calls ``Attempts.record_plan`` before it changes anything.
        turns: the turns of the table, if other threads of this process may write to it.
        attempts: what records the attempts, for a caller that needs it after an error.

    Returns:
        The attempts. Their plan is that of the last one, which has written.

    Raises:
        DbtDatabaseError: the engine refused a statement, or another writer came first in each
            attempt. The message says which.
    """
    attempts = attempts or Attempts()
    turns = turns or Turns()

    def attempt() -> None:
        try:
            with turns.turn():
                write(attempts)
        except DbtRuntimeError as error:
            attempts.stop(error)
            if is_conflict(error):
                turns.collided()
            raise

    try:
        retry_while(attempts.may_follow)(attempt)
    except _TableUnchanged as unchanged:
        attempts.name_changes(unchanged.error)
        raise unchanged.error from None
    except DbtDatabaseError as error:
        final = attempts.final_error(error)
        if final is error:
            raise
        raise final from error
    return attempts


def is_cancelled(error: BaseException) -> bool:
    """Return whether a statement was cancelled, as dbt does when the user stops it."""
    return _CANCELLED.search(str(error)) is not None


def is_worth_replanning(error: BaseException) -> bool:
    """Return whether a new plan can succeed where a plan has failed with an error."""
    return (
        is_conflict(error)
        or isinstance(error, SchemaChangeFailed)
        or (isinstance(error, DbtDatabaseError) and main_condition(error) in _SCHEMA_IS_ANOTHER)
    )
