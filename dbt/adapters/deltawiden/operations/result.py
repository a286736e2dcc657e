"""What an operation did to each of its tables, as a table for people and as one JSON document."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import agate
from dbt_common.exceptions import DbtBaseException


@dataclass(frozen=True)
class OperationResult:
    """What an operation did to one table, or found in it.

    Attributes:
        table: the table's name.
        shown: what people see of it, by column heading.
        values: what machines get, plain values that JSON has.
        error: why the operation failed; empty where it did not.
    """

    table: str
    shown: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class OperationResults:
    """What an operation did to all of its tables.

    Attributes:
        operation: its name.
        each: what it did to each of them.
        values: what machines get besides, plain values that JSON has.
    """

    operation: str
    each: Sequence[OperationResult]
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """All of it, as plain values."""
        tables = [
            {"table": each.table, **({"error": each.error} if each.error else {}), **each.values}
            for each in self.each
        ]
        operation = {"operation": self.operation, **self.values}
        return {**operation, "tables": tables, "failed": len(self.failed)}

    @property
    def text(self) -> str:
        """The tables that did not fail, as a table; empty where there is none."""
        rows = [{"table": each.table, **each.shown} for each in self.each if not each.error]
        return text_table(rows) if rows else ""

    @property
    def changed(self) -> list[str]:
        """The names of the tables in which types were changed."""
        return [each.table for each in self.each if each.values.get("type_changes")]

    @property
    def failed(self) -> list[OperationResult]:
        """The tables at which the operation failed."""
        return [each for each in self.each if each.error]

    @property
    def failure_text(self) -> str:
        """All failures in one text; empty where there is none."""
        if not self.failed:
            return ""
        lines = [f"{self.operation}: {len(self.failed)} of {len(self.each)} tables failed"]
        for each in self.failed:
            lines += ["", f"{each.table}:", *(f"  {line}" for line in each.error.splitlines())]
        return "\n".join(lines)


def text_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Render rows as a table for people.

    Args:
        rows: at least one row, by column heading.

    Returns:
        The table.
    """
    printed = io.StringIO()
    # Everything is text; agate would guess types otherwise.
    types = dict.fromkeys(rows[0], agate.Text(cast_nulls=False))
    agate.Table.from_object(rows, column_types=types).print_table(
        max_rows=None, max_columns=None, output=printed, max_column_width=None
    )
    return printed.getvalue().rstrip()


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run_on_each(
    operation: str,
    items: Iterable[_Item],
    name: Callable[[_Item], str],
    work: Callable[[_Item], OperationResult],
) -> OperationResults:
    """Run an operation on one table after the other; one that fails does not stop the others.

    Args:
        operation: the operation's name.
        items: what it works on.
        name: gives the name of an item's table.
        work: does the work on one of them; a dbt error in it is that table's failure.

    Returns:
        What became of each, in their order.
    """
    return OperationResults(operation, [attempt(name(each), partial(work, each)) for each in items])


def attempt(table: str, work: Callable[[], _Result]) -> _Result | OperationResult:
    """Do work on a table.

    Args:
        table: the table's name.
        work: does the work.

    Returns:
        What the work gives; where it ends with a dbt error, the failure.
    """
    try:
        return work()
    except DbtBaseException as error:
        return OperationResult(table, error=str(getattr(error, "msg", error)))
