"""The rows of a model in which a cast to a type of the table changes a value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.widening.matched_rows import KeyColumn, key_names
from dbt.adapters.deltawiden.writing.store_assignment import kind_of

_BOUNDED = frozenset({"integer", "decimal", "date"})
"""The kinds of types with one order, whose values a text has exactly."""


@dataclass(frozen=True)
class Candidates:
    """The only rows of a model that can differ from those of its table by a cast alone.

    Attributes:
        name: the result of ``Sides.candidates_sql``, as what comes after FROM.
        bounds: conditions that each row ``t`` with the key of a candidate meets. Delta skips the
            other files.
    """

    name: str
    bounds: Sequence[str]

    def join_sql(self, keys: Sequence[KeyColumn]) -> str:
        """Render the join that keeps the rows ``t`` with the key of a candidate."""
        # Not EXISTS: in a subquery, a column `t` of the candidates would hide the rows `t`.
        same = (f"c.{k} <=> {key.value}" for k, key in zip(key_names(keys), keys, strict=True))
        return f" left semi join {self.name} c on {' and '.join(same)}"


def ranges_sql(name: str, keys: Sequence[KeyColumn]) -> str:
    """Render the query for the row of ``bounds``."""
    ranges = (
        f"count({k}) as count_{k}, cast(min({k}) as string) as min_{k}, "
        f"cast(max({k}) as string) as max_{k}"
        for k in key_names(keys)
    )
    return f"select count(*) as count, {', '.join(ranges)} from {name}"


def bounds(keys: Sequence[KeyColumn], found: Mapping[str, Any]) -> list[str]:
    """Return the conditions of ``Candidates``. Without a candidate, no row meets them."""
    rows = int(found["count"])
    if not rows:
        return ["false"]
    return [
        f"{key.value} between cast('{found[f'min_{k}']}' as {type_sql(key.type)}) "
        f"and cast('{found[f'max_{k}']}' as {type_sql(key.type)})"
        for k, key in zip(key_names(keys), keys, strict=True)
        if kind_of(key.type) in _BOUNDED and int(found[f"count_{k}"]) == rows
    ]
