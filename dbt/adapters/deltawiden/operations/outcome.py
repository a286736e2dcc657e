"""What an operation did to each of its tables, as a table for people and as one JSON document."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import agate
from dbt_common.exceptions import DbtBaseException


@dataclass(frozen=True)
class Outcome:
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
class Outcomes:
    """What an operation did to all of its tables."""

    operation: str
    each: Sequence[Outcome]

    @property
    def document(self) -> dict[str, Any]:
        """All of it, as plain values."""
        tables = [
            {"table": each.table, **({"error": each.error} if each.error else {}), **each.values}
            for each in self.each
        ]
        return {"operation": self.operation, "tables": tables, "failed": len(self.failed)}

    @property
    def text(self) -> str:
        """The tables that did not fail, as a table; empty where there is none."""
        rows = [{"table": each.table, **each.shown} for each in self.each if not each.error]
        if not rows:
            return ""
        printed = io.StringIO()
        # Everything is text; agate would guess types otherwise.
        types = dict.fromkeys(rows[0], agate.Text(cast_nulls=False))
        agate.Table.from_object(rows, column_types=types).print_table(
            max_rows=None, max_columns=None, output=printed, max_column_width=None
        )
        return printed.getvalue().rstrip()

    @property
    def failed(self) -> list[Outcome]:
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


_Item = TypeVar("_Item")


def run_on_each(
    operation: str,
    items: Iterable[_Item],
    name: Callable[[_Item], str],
    work: Callable[[_Item], Outcome],
) -> Outcomes:
    """Run an operation on one table after the other; one that fails does not stop the others.

    Args:
        operation: the operation's name.
        items: what it works on.
        name: gives the name of an item's table.
        work: does the work on one of them; a dbt error in it is that table's failure.

    Returns:
        What became of each, in their order.
    """

    def outcome(item: _Item) -> Outcome:
        try:
            return work(item)
        except DbtBaseException as error:
            return Outcome(name(item), error=str(getattr(error, "msg", error)))

    return Outcomes(operation, [outcome(each) for each in items])
