"""Show an operation: its progress, and its results as a table for people and one JSON document."""

import io
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

import agate
from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note
from dbt_common.exceptions import DbtBaseException, DbtRuntimeError

from dbt.adapters.deltawiden.spark.errors import message_of
from dbt.adapters.deltawiden.writes.attempts import Attempts

_Item = TypeVar("_Item")
_SECONDS = 3
"""The time between two lines about the same work."""


def log_progress(text: str) -> None:
    """Write a message to dbt's log, and to the terminal unless dbt runs with ``--quiet``."""
    fire_event(Note(msg=text))


def with_progress(
    operation: str, kind: str, items: Iterable[_Item], name: Callable[[_Item], str]
) -> Iterator[_Item]:
    """Yield items, and log how many are done if that takes more than a few seconds."""
    listed = list(items)
    logged = time.monotonic()
    for done, item in enumerate(listed):
        if time.monotonic() - logged >= _SECONDS:
            log_progress(f"{operation}: {done} of {len(listed)} {kind}; next: {name(item)}")
            logged = time.monotonic()
        yield item


class Results(Protocol):
    """What an operation shows, of tables or of something else."""

    OUTPUTS: ClassVar[Sequence[str]] = ("text", "json")
    """The values of the argument ``output``."""

    operation: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document of the results."""

    @property
    def text(self) -> str:
        """The results for people, empty if there are none."""

    @property
    def failed(self) -> Sequence[object]:
        """What failed. The operation then ends with an error."""

    @property
    def failure_text(self) -> str:
        """The error message, empty if nothing failed."""


@dataclass(frozen=True)
class OperationResult:
    """The result of an operation for one table: for people by column heading, and for JSON."""

    table: str
    shown: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class OperationResults(Results):
    """The results of an operation for all of its tables."""

    COUNTED: ClassVar[str] = "tables"
    """What the error message counts."""

    operation: str
    each: Sequence[OperationResult]
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        tables = [
            {
                "table": result.table,
                **({"error": result.error} if result.error else {}),
                **result.values,
            }
            for result in self.each
        ]
        operation = {"operation": self.operation, **self.values}
        return {**operation, "tables": tables, "failed": len(self.failed)}

    @property
    def text(self) -> str:
        """The results without errors as a table for people, empty if there are none."""
        rows = [{"table": result.table, **result.shown} for result in self.each if not result.error]
        return text_table(rows) if rows else ""

    @property
    def changed(self) -> list[str]:
        """The names of the tables in which types were changed."""
        return [result.table for result in self.each if result.values.get("type_changes")]

    @property
    def failed(self) -> list[OperationResult]:
        """The results of the tables on which the operation failed."""
        return [result for result in self.each if result.error]

    @property
    def checked(self) -> int:
        """How many were checked, for the error message."""
        return len(self.each)

    @property
    def failure_text(self) -> str:
        """The error messages of all failures, empty if there are none."""
        if not self.failed:
            return ""
        number = f"{len(self.failed)} of {self.checked} {self.COUNTED}"
        lines = [f"{self.operation}: {number} failed"]
        for result in self.failed:
            lines += ["", f"{result.table}:", *(f"  {line}" for line in result.error.splitlines())]
        return "\n".join(lines)


def steps_text(steps: Sequence[str], dry_run: bool) -> str:
    """Render the steps that an operation has made or, in a dry run, would make."""
    text = "; ".join(steps) or "nothing to do"
    return f"dry run: {text}" if dry_run else text


def unexpected_state(work: str, found: Sequence[str], version: int) -> DbtRuntimeError:
    """Return the error for a table in which something is found that the work must not leave."""
    return DbtRuntimeError(
        f"After the {work}, {'; '.join(found)}. Run the operation again; if nothing changes, "
        f"the table as it was can be read as version {version}."
    )


def text_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Render rows, at least one, as a table for people. A row has its cells by heading."""
    printed = io.StringIO()
    # Declare every column as text. Otherwise agate would infer types.
    types = dict.fromkeys(rows[0], agate.Text(cast_nulls=False))
    agate.Table.from_object(rows, column_types=types).print_table(
        max_rows=None, max_columns=None, output=printed, max_column_width=None
    )
    return printed.getvalue().rstrip()


_Result = TypeVar("_Result")


def run_on_each(
    operation: str,
    items: Iterable[_Item],
    name: Callable[[_Item], str],
    work: Callable[[_Item], OperationResult],
) -> OperationResults:
    """Run an operation on one item after the other, also if it fails on some of them."""
    shown = with_progress(operation, "tables", items, name)
    return OperationResults(operation, [attempt(name(item), partial(work, item)) for item in shown])


def failed_attempts(table: str, attempts: Attempts, error: DbtBaseException) -> OperationResult:
    """Return the result of attempts that an error has ended, with the type changes that stay."""
    made = [change.value for change in attempts.made]
    return OperationResult(table, values={"type_changes": made}, error=attempts.error_text(error))


def attempt(table: str, work: Callable[[], _Result]) -> _Result | OperationResult:
    """Call a function that works on a table. A dbt error becomes a failed result."""
    try:
        return work()
    except DbtBaseException as error:
        return OperationResult(table, error=message_of(error))
