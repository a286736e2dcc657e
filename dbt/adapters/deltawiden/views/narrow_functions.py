"""Find dbt's functions that declare the type that a column had before it was widened.

Spark casts what a function gets and returns to these types, and rounds decimals without an error.

Source:
    https://spark.apache.org/docs/latest/sql-ref-syntax-ddl-create-sql-function.html
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.types import UnknownType, parse_type
from dbt.adapters.deltawiden.views.graph import depends_on
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment

_TYPE = re.compile(r"\w+(?:\s*\([\d\s,]*\))?")


class NarrowFunction(NamedTuple):
    """A function of dbt, its types that a column outgrows, and a command for people."""

    name: str
    types: tuple[str, ...]
    do: str


def narrow_functions(
    graph: Mapping[str, Any], readers: Mapping[str, Any], changes: Sequence[TypeChange]
) -> Iterator[NarrowFunction]:
    """Yield the functions with a type that holds the old type of a column and not the new one.

    Which column a reader of the table gives to a function is not known.

    Args:
        graph: dbt's. Before dbt-core 1.11, there are no functions in it.
        readers: the nodes and functions that read the table, by unique id.
    """
    functions: Mapping[str, Any] = graph.get("functions", {})
    called, left = functions.keys() & readers.keys(), list(readers.values())
    while left:
        new = functions.keys() & set(depends_on(left.pop())) - called
        called |= new
        left += [functions[each] for each in new]
    for function in (functions[each] for each in sorted(called)):
        declared = {
            f"its argument {argument['name']} is": argument["data_type"]
            for argument in function.get("arguments") or ()
        }
        declared["it returns"] = function["returns"]["data_type"]
        types = tuple(
            f"{what} {text}; {change.text}"
            for what, text in declared.items()
            for change in changes
            if _is_outgrown(text, change)
        )
        do = (
            f"declare wider types, also for what it returns: dbt build --select {function['name']}+"
        )
        if types:
            yield NarrowFunction(function["name"], types, do)


def _is_outgrown(declared: str, change: TypeChange) -> bool:
    types = (change.from_type, change.to_type)
    for text in _TYPE.findall(declared):
        with suppress(UnknownType):
            assigned = [store_assignment(each, parse_type(text)) for each in types]
            if assigned[0] is StoreAssignment.EXACT is not assigned[1]:
                return True
    return False
