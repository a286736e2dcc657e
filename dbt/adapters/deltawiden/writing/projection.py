"""Shape a source's value like its column, so that nested fields are written by name.

If a field of a struct needs a cast, Spark writes the struct by position, whatever the names of its
fields are, and Delta 3.3 and 4.0 write a null struct as a struct of nulls. A value that has the
column's fields in the column's order and types is always written correctly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.sql.side_by_side import (
    are_alike,
    by_folded_name,
    by_position,
    field_pairs,
    side_by_side,
)
from dbt.adapters.deltawiden.sql.types import every_type, type_sql
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment
from dbt.adapters.deltawiden.writing.value_check import ValueCheck


def shaped_sql(
    value: str, source: DataType, column: DataType, path: Path = (), check: ValueCheck | None = None
) -> str:
    """Render a source's value with the fields of its column, in the column's order at every depth.

    A value that can be written unchanged is. Otherwise the fields are cast to the column's types if
    those hold every value. A field that the source lacks is null, and a null struct stays null.
    With a check, the statement fails at a value that the column does not store exactly; without,
    such a leaf is left to the engine's own cast.

    Args:
        column: the type of the column, which has every field of the source.

    Source:
        https://spark.apache.org/docs/latest/api/sql/ (named_struct, transform, transform_keys)
    """
    shaped = _shaper(source, column, check).shaped(value, source, column, path)
    return f"cast({shaped} as {type_sql(column)})" if _needs_cast(source, column) else shaped


def is_as_is(source: DataType, column: DataType, check: ValueCheck | None = None) -> bool:
    """Return whether a source's value can be written to its column unchanged.

    Then the names, their order and the types inside structs are the same, and nothing is checked.
    """
    shaper = _shaper(source, column, check)
    return not shaper.changes(source, column) and not _needs_cast(source, column)


def _needs_cast(source: DataType, column: DataType) -> bool:
    """Return whether a struct's fields need a cast to types of the column that hold all values.

    Other types are left to the write: it can fail at a value that a cast would change.
    """
    has_struct = any(isinstance(part, StructType) for part in every_type(column))
    pairs = list(_leaves(source, column))
    differs = any(given != stored for given, stored in pairs)
    return (
        has_struct
        and differs
        and all(store_assignment(given, stored).fits for given, stored in pairs)
    )


def in_type_sql(value: str, source: DataType, column: DataType) -> str:
    """Render a value in the type of its column, if that holds all values of the source.

    Beside a value of the column in an expression, Spark could convert both to a third type.
    """
    exact = all(
        store_assignment(*pair) is StoreAssignment.EXACT for pair in _leaves(source, column)
    )
    return f"cast({value}\n as {type_sql(column)})" if exact and source != column else value


def _leaves(source: DataType, column: DataType) -> Iterator[tuple[DataType, DataType]]:
    for pair in side_by_side(source, column):
        if pair.left is not None and pair.right is not None:
            yield pair.left.dataType, pair.right.dataType


def _needs_check(source: DataType, column: DataType) -> bool:
    return any(
        store_assignment(given, stored).needs_check for given, stored in _leaves(source, column)
    )


def _shaper(source: DataType, column: DataType, check: ValueCheck | None) -> "_Shaper":
    return _Shaper(check if _needs_check(source, column) else None)


@dataclass(frozen=True)
class _Shaper:
    """Renders one value, with a unique name for each lambda variable."""

    check: ValueCheck | None
    names: "count[int]" = field(default_factory=lambda: count(1))

    def changes(self, source: DataType, column: DataType) -> bool:
        """Return whether the value's fields must be put in order, or one of its leaves checked."""
        is_checked = self.check is not None and _needs_check(source, column)
        return is_checked or not in_order(source, column)

    def shaped(self, value: str, source: DataType, column: DataType, path: Path) -> str:
        if not self.changes(source, column):
            return value
        if isinstance(source, StructType) and isinstance(column, StructType):
            return self._struct(value, source, column, path)
        if isinstance(source, ArrayType) and isinstance(column, ArrayType):
            item = f"x{next(self.names)}"
            body = self._inside(item, source.elementType, column.elementType, (*path, "element"))
            return f"transform({value}, {item} -> {body})"
        if isinstance(source, MapType) and isinstance(column, MapType):
            return self._map(value, source, column, path)
        assert self.check is not None
        return self.check.checked_sql(value, path, source, column)

    def _inside(self, value: str, source: DataType, column: DataType, path: Path) -> str:
        """Render a value inside another one, cast to its column's type if any leaf is checked.

        The outer value can then be written without a cast, which Spark would apply by position.
        """
        shaped = self.shaped(value, source, column, path)
        if self.check is None or shaped != value or source == column:
            return shaped
        return f"cast({shaped} as {type_sql(column)})"

    def _struct(self, value: str, source: StructType, column: StructType, path: Path) -> str:
        in_source = by_folded_name(source)
        fields = []
        for column_field in column.fields:
            name = (
                column_field.name.replace("\\", "\\\\")
                .replace("'", "\\'")
                .replace("${", "\\u0024{")
            )
            given = in_source.get(column_field.name.lower())
            if given is None:
                rendered = f"cast(null as {type_sql(column_field.dataType)})"
            else:
                field_path = (*path, column_field.name)
                field_value = f"{value}.{quote(given.name)}"
                rendered = self._inside(
                    field_value, given.dataType, column_field.dataType, field_path
                )
            fields.append(f"'{name}', {rendered}")
        return f"if({value} is null, null, named_struct({', '.join(fields)}))"

    def _map(self, value: str, source: MapType, column: MapType, path: Path) -> str:
        key, item = f"k{next(self.names)}", f"v{next(self.names)}"
        new_key = self._inside(key, source.keyType, column.keyType, (*path, "key"))
        new_item = self._inside(item, source.valueType, column.valueType, (*path, "value"))
        if new_key != key:
            value = f"transform_keys({value}, ({key}, {item}) -> {new_key})"
        if new_item != item:
            value = f"transform_values({value}, ({key}, {item}) -> {new_item})"
        return value


def in_order(source: DataType, column: DataType) -> bool:
    """Return whether a type has the fields of its column in the same order, at every depth.

    If the kinds differ (a struct and a number), there is nothing to put in order.
    """
    return not are_alike(source, column) or all(
        given is not None
        and stored is not None
        and given.name.lower() == stored.name.lower()
        and in_order(given.dataType, stored.dataType)
        for given, stored in field_pairs(source, column, match=by_position)
    )
