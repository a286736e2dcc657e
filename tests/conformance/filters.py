"""The pairs that are read with filters, and the filters of a pair."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal
from functools import partial
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.widening.rules import Rule, find_rule
from tests.conformance.types import BOUNDARIES, WIDENED, can_stand_in, types_lacking
from tests.literals import literal

VALUES: dict[str, tuple[str, ...]] = {
    **BOUNDARIES,
    # Statistics and partitions store a value as text. The texts of these values are long.
    "float": (*BOUNDARIES["float"], "'0.7'", "'1.1'", "'16777217'"),
    "decimal(1,1)": ("-0.9", "0", "0.1", "0.9"),
    "decimal(5,2)": (*BOUNDARIES["decimal(5,2)"], "0", "-0.01", "1.10"),
    "decimal(10,0)": ("-9999999999", "0", "9999999999"),
    "decimal(12,2)": ("-9999999999.99", "0.10", "9999999999.99"),
    "decimal(22,2)": ("-99999999999999999999.99", "0.10", "99999999999999999999.99"),
    "decimal(38,18)": ("-99999999999999999999.999999999999999999", "0.000000000000000001"),
    "varchar(5)": ("''", "'a'", "'a '", "'größe'", "'zzzzz'"),
    "char(5)": ("''", "'a'", "'größe'", "'zzzzz'"),
    "varchar(10)": ("'a'", "'ein Text '", "'größe'"),
    "char(10)": ("'a'", "'ein Text'"),
}
"""Values of the types that widen, as SQL that casts to them exactly."""


@dataclass(frozen=True)
class Place:
    """A position in a column, and how a filter reaches it.

    Attributes:
        type: the column's type; ``{}`` is the type in question.
        path: what follows the column's name in ALTER COLUMN.
        value: makes the column of a value.
        filter: makes a filter on the column, of one on the value; ``{column}`` and ``{on}``.
        operand: the operand of the filter on the value; ``{column}``.
    """

    type: str
    path: str
    value: str
    operand: str
    filter: str = "{on}"


PLACES = {
    "top level": Place("{}", "", "{}", "{column}"),
    "struct field": Place("struct<x: {}>", ".x", "named_struct('x', {})", "{column}.x"),
    "nested struct": Place(
        "struct<t: struct<x: {}>>",
        ".t.x",
        "named_struct('t', named_struct('x', {}))",
        "{column}.t.x",
    ),
    "array element": Place(
        "array<{}>", ".element", "array({})", "e", "exists({column}, e -> {on})"
    ),
    "map key": Place(
        "map<{}, int>", ".key", "map({}, 1)", "e", "exists(map_keys({column}), e -> {on})"
    ),
    "map value": Place("map<int, {}>", ".value", "map(1, {})", "element_at({column}, 1)"),
    "partition column": Place("{}", "", "{}", "{column}"),
}


@dataclass(frozen=True)
class Pair:
    """A type change in one place, on a column of its own."""

    source: str
    target: str
    position: str
    number: int

    @property
    def column(self) -> str:
        return f"c{self.number}"

    @property
    def place(self) -> Place:
        return PLACES[self.position]

    @property
    def definition(self) -> str:
        return f"{self.column} {self.place.type.format(self.source)}"

    @property
    def path(self) -> str:
        return self.column + self.place.path

    @property
    def values(self) -> tuple[str, ...]:
        """The values that the column has. An empty text as a partition becomes null (Delta)."""
        values = VALUES[self.source]
        is_partition = self.position == "partition column"
        return tuple(text for text in values if not (is_partition and text == "''"))

    def stored(self, row: int) -> str:
        """Write the row's value of the column; the row after the last value has null."""
        return self._at(row, self.source, "cast({} as {})")

    def widened(self, row: int) -> str:
        """Write the value that a query has to return after the change."""
        return self._at(row, self.target, f"cast(cast({{}} as {self.source}) as {{}})")

    def _at(self, row: int, data_type: str, written: str) -> str:
        if row == ROWS - 1:
            return f"cast(null as {self.place.type.format(data_type)})"
        value = self.values[row % len(self.values)]
        return self.place.value.format(written.format(value, data_type))

    def filters(self, values: list[Any], row: int) -> Iterator[str]:
        """Make the filters that are tried on a row.

        Args:
            values: the column's values after the change, one for each row.
            row: the row's number.
        """
        on = self.place.operand.format(column=self.column)
        for operand in _filters(on, values, row, parse_type(self.target)):
            yield self.place.filter.format(column=self.column, on=operand)


ROWS = max(len(values) for values in VALUES.values()) + 1
"""One row for each value, and one of nulls."""


def pairs_at(position: str, engine: Engine) -> list[Pair]:
    """List the pairs that the rules permit in a position. A column of nulls has no value.

    A rule has the smallest and the largest of the target types that it permits.
    """
    nested = position not in ("top level", "partition column")
    lacking = {"void", *types_lacking()}
    targets: dict[tuple[str, Rule], list[str]] = {}
    types = [name for name in WIDENED if name not in lacking]
    for source in (name for name in types if can_stand_in(name, position)):
        for target in types:
            rule = find_rule(parse_type(source), parse_type(target))
            if rule and engine.delta >= rule.since and (rule.nested or not nested):
                targets.setdefault((source, rule), []).append(target)
    pairs = [(source, target) for (source, _), to in targets.items() for target in {to[0], to[-1]}]
    return [Pair(*pair, position, number) for number, pair in enumerate(sorted(pairs))]


def _filters(on: str, values: list[Any], row: int, data_type: DataType) -> Iterator[str]:
    """Make filters that are true for the row's value, and filters that are almost true."""
    write = partial(literal, data_type=data_type)
    value, other = values[row], values[(row + 1) % (ROWS - 1)]
    some = write(value if value is not None else other)
    for operator in ("=", "<", "<=", ">", ">=", "<=>", "<>"):
        yield f"{on} {operator} {some}"
    yield f"{on} in ({some}, {write(other)})"
    yield f"{on} between {some} and {some}"
    yield f"{on} is null"
    yield f"{on} is not null"
    yield f"{on} <=> null"
    for neighbour in filter(None, map(write, _neighbours(value, data_type))):
        for operator in ("=", "<", "<=", ">", ">="):
            yield f"{on} {operator} {neighbour}"
        yield f"{on} in ({neighbour}, {write(other)})"


def _neighbours(value: Any, data_type: DataType) -> list[Any]:
    """Return the next smaller and the next larger value of a type, if there are any."""
    if isinstance(value, float):
        return [math.nextafter(value, end) for end in (-math.inf, math.inf)]
    if isinstance(value, datetime):
        step = timedelta(microseconds=1)
        return [
            value + sign * step
            for sign in (-1, 1)
            if (value, sign) not in ((datetime.min, -1), (datetime.max, 1))
        ]
    if isinstance(value, str):
        return [value + " ", value + "\U0001f642", value[:-1]]
    if isinstance(data_type, spark.DecimalType) and value is not None:
        one = Decimal(1).scaleb(-data_type.scale)
        both = [Context(prec=40).add(value, sign * one) for sign in (-1, 1)]
        most = Decimal(10) ** (data_type.precision - data_type.scale)
        return [neighbour for neighbour in both if neighbour.copy_abs() < most]
    return [value - 1, value + 1] if isinstance(value, int) else []
