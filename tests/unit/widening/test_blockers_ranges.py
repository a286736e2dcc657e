"""Which type changes ask for values out of range, and that the question finds exactly those.

The conditions are evaluated in Python. A date is its number of days since 1970.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, DateType, MapType, StructType
from sqlglot import exp

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.blockers import range_blockers
from dbt.adapters.deltawiden.widening.rules import find_rule
from dbt.adapters.deltawiden.writing.projection import shaped_sql
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment
from dbt.adapters.deltawiden.writing.value_check import ValueCheck
from tests.unit.schemas import DELTA_4_4, KnownTable, data_type
from tests.unit.strategies import COLUMNS, FIELDS, atoms, nested

MICROSECONDS_OF_A_DAY = 86_400_000_000

ATOMS = [
    *map(data_type, ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")),
    *map(data_type, ("decimal(8,2)", "decimal(10,2)", "decimal(20,0)", "decimal(38,18)")),
    *map(data_type, ("string", "varchar(5)", "char(5)", "binary")),
    *map(data_type, ("date", "timestamp", "timestamp_ntz")),
]
POSITIONS: dict[str, Any] = {
    "v": lambda of: of,
    "v.x": lambda of: {"x": of},
    "v.element": lambda of: [of],
    "v.key": lambda of: (of, "int"),
    "v.value": lambda of: ("int", of),
    "v.element.key.x": lambda of: [({"x": of}, "int")],
    "v.value.x.element": lambda of: ("int", {"x": [of]}),
}


def day_number(text: str) -> int:
    """Return the days since 1970 in the calendar without a change in 1582, for any year."""
    sign, year, month, day = re.fullmatch(r"([+-]?)(\d+)-(\d\d)-(\d\d)", text).groups()
    years = (-int(year) if sign == "-" else int(year)) - (int(month) < 3)
    of_year = (153 * ((int(month) + 9) % 12) + 2) // 5 + int(day) - 1
    return 365 * years + years // 4 - years // 100 + years // 400 + of_year - 719_468


def evaluate(node: Any, scope: Mapping[str, Any]) -> Any:
    """Evaluate a condition as Spark does: null is None."""
    if isinstance(node, exp.Or):
        sides = [evaluate(node.this, scope), evaluate(node.expression, scope)]
        return True if True in sides else None if None in sides else False
    if isinstance(node, exp.LT | exp.GT):
        left, right = evaluate(node.this, scope), evaluate(node.expression, scope)
        return None if left is None else left < right if isinstance(node, exp.LT) else left > right
    if isinstance(node, exp.Exists):
        items = evaluate(node.this, scope)
        (name,) = (parameter.name for parameter in node.expression.expressions)
        inside = node.expression.this
        found = [evaluate(inside, {**scope, name: item}) for item in items or ()]
        return None if items is None else True in found
    if isinstance(node, exp.Cast):
        return day_number(node.this.name)
    if isinstance(node, exp.Func):  # map_keys, map_values
        (argument,) = node.iter_expressions()
        place = 0 if "MAP_KEYS" in (node.sql_name(), node.name.upper()) else 1
        pairs = evaluate(argument, scope)
        return pairs and [pair[place] for pair in pairs]
    if isinstance(node, exp.Paren):
        return evaluate(node.this, scope)
    if isinstance(node, exp.Dot):
        return _field(evaluate(node.this, scope), node.expression.name)
    names = [part.name for part in node.parts] if isinstance(node, exp.Column) else [node.name]
    value = scope[names[0]]
    for name in names[1:]:
        value = _field(value, name)
    return value


def _field(struct: Any, name: str) -> Any:
    return None if struct is None else struct[name]


class TableWithValue(KnownTable):
    """A table whose only row has a value in its only column."""

    def __init__(self, column: spark.StructField, value: Any) -> None:
        super().__init__(DELTA_4_4, schema=StructType([column]))
        self._value = {column.name: value}

    def has_row(self, condition: str) -> bool:
        return evaluate(sqlglot.parse_one(condition, read="spark"), self._value) is True


def values(of: DataType) -> st.SearchStrategy[Any]:
    if isinstance(of, StructType):
        found = st.fixed_dictionaries({field.name: values(field.dataType) for field in of})
    elif isinstance(of, ArrayType):
        found = st.lists(values(of.elementType), max_size=2)
    elif isinstance(of, MapType):
        found = st.lists(st.tuples(values(of.keyType), values(of.valueType)), max_size=2)
    else:
        found = st.one_of(st.integers(-(2**31), 2**31 - 1), st.sampled_from(LIMITS))
    return st.one_of(found, found, found, st.none())


LAST_DAY = (2**63 - 1) // MICROSECONDS_OF_A_DAY
FIRST_DAY = -(2**63 // MICROSECONDS_OF_A_DAY)
LIMITS = [0, LAST_DAY, LAST_DAY + 1, FIRST_DAY, FIRST_DAY - 1]


def places(of: DataType, value: Any, path: Path) -> Iterator[tuple[Path, DataType, Any]]:
    """Yield the path and type of each leaf, with each of its values in a value."""
    if isinstance(of, StructType):
        for field in of:
            yield from places(field.dataType, _field(value, field.name), (*path, field.name))
    elif isinstance(of, ArrayType):
        for item in value or (None,):
            yield from places(of.elementType, item, (*path, "element"))
    elif isinstance(of, MapType):
        for key, item in value or ((None, None),):
            yield from places(of.keyType, key, (*path, "key"))
            yield from places(of.valueType, item, (*path, "value"))
    else:
        yield path, of, value


DATES = nested(st.one_of(st.just((DateType(), DateType())), st.tuples(atoms, atoms)))


@given(st.data(), st.sampled_from([*COLUMNS, *FIELDS]))
def test_dates_that_no_timestamp_has_are_found_in_their_position_alone(data, name: str):
    (column, _) = data.draw(DATES)
    value = data.draw(values(column))
    table = TableWithValue(spark.StructField(name, column), value)
    found = list(places(column, value, (name,)))
    for path in {path for path, of, _ in found if isinstance(of, DateType)}:
        days = [day for place, _, day in found if place == path and day is not None]
        change = TypeChange(path, DateType(), spark.TimestampNTZType())
        lost = any(not -(2**63) <= day * MICROSECONDS_OF_A_DAY < 2**63 for day in days)
        assert bool(list(range_blockers(change, table))) is lost


@pytest.mark.parametrize("position", POSITIONS)
def test_a_widening_to_a_smaller_range_asks_for_the_values_and_no_other_does(position: str):
    around = POSITIONS[position]
    asking = set()
    for narrow, wide in itertools.permutations(ATOMS, 2):
        schema = data_type({"v": around(narrow)})
        table = KnownTable(DELTA_4_4, schema=schema, rows=True)
        change = TypeChange(tuple(position.split(".")), narrow, wide)
        asks = bool(list(range_blockers(change, table)))
        is_smaller = store_assignment(narrow, wide) is StoreAssignment.IN_RANGE
        assert asks is (is_smaller and find_rule(narrow, wide) is not None), change.text
        asking |= {change.text} if asks else set()
    assert asking == {f"{position}: date -> timestamp_ntz"}


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("source", ATOMS, ids=type_text)
def test_a_write_checks_the_values_of_each_type_that_is_not_exact(position: str, source: DataType):
    around, check = POSITIONS[position], ValueCheck("m", "`s`.`t`")
    for column in ATOMS:
        assignment = store_assignment(source, column)
        if assignment is not StoreAssignment.IMPOSSIBLE:
            pair = data_type(around(source)), data_type(around(column))
            is_checked = "raise_error" in shaped_sql("v", *pair, ("v",), check)
            assert is_checked is assignment.needs_check, (source, column)
