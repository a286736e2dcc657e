"""What types become, and what casts make of values, decided without Spark and the adapter."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from random import Random
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from tests.walk.drift import WIDER
from tests.walk.exact import always_exact, same
from tests.walk.values import BITS, as_float

Path = tuple[str, ...]
"""A place in a schema: names of fields, and ``element``, ``key`` or ``value`` inside others."""
EarlierTypes = Mapping[Path, Sequence[DataType]]
"""The types that leaves of a table had before."""


def children(data_type: DataType) -> dict[str, DataType]:
    """Return the types inside a type by their names in a path."""
    if isinstance(data_type, StructType):
        return {field.name: field.dataType for field in data_type.fields}
    if isinstance(data_type, ArrayType):
        return {"element": data_type.elementType}
    if isinstance(data_type, MapType):
        return {"key": data_type.keyType, "value": data_type.valueType}
    return {}


def leaves(data_type: DataType, path: Path = ()) -> Iterator[tuple[Path, DataType]]:
    inside = children(data_type)
    if not inside:
        yield path, data_type
    for name, inner in inside.items():
        yield from leaves(inner, (*path, name))


def fields_in(data_type: DataType, path: Path = ()) -> Iterator[tuple[Path, DataType]]:
    """Yield the fields of structs, at every depth."""
    for name, inner in children(data_type).items():
        if isinstance(data_type, StructType):
            yield (*path, name), inner
        yield from fields_in(inner, (*path, name))


def structs_in(data_type: DataType, path: Path = ()) -> Iterator[tuple[Path, StructType]]:
    if isinstance(data_type, StructType):
        yield path, data_type
    for name, inner in children(data_type).items():
        yield from structs_in(inner, (*path, name))


def type_at(data_type: DataType, path: Path) -> DataType | None:
    for name in path:
        inside = children(data_type)
        if name not in inside:
            return None
        data_type = inside[name]
    return data_type


def with_type(data_type: DataType, path: Path, new: DataType) -> DataType:
    """Replace the type at a path."""
    if not path:
        return new
    inside = children(data_type)
    inside[path[0]] = with_type(inside[path[0]], path[1:], new)
    return _made(data_type, inside)


def _made(data_type: DataType, inside: Mapping[str, DataType]) -> DataType:
    if isinstance(data_type, StructType):
        return StructType([StructField(*field) for field in inside.items()])
    if isinstance(data_type, ArrayType):
        return ArrayType(inside["element"])
    return MapType(inside["key"], inside["value"])


def with_name(data_type: DataType, path: Path, name: str) -> DataType:
    """Rename the field at a path."""
    inside = children(data_type)
    if len(path) > 1:
        inside[path[0]] = with_name(inside[path[0]], path[1:], name)
    else:
        inside = {name if old == path[0] else old: inner for old, inner in inside.items()}
    return _made(data_type, inside)


def value_with_name(value: Any, data_type: DataType, path: Path, name: str) -> Any:
    """Return a value of a type after ``with_name``."""
    if value is None:
        return None
    rest = path[1:]
    if isinstance(data_type, StructType):
        if not rest:
            return {name if old == path[0] else old: kept for old, kept in value.items()}
        inner = children(data_type)[path[0]]
        return {**value, path[0]: value_with_name(value[path[0]], inner, rest, name)}
    if isinstance(data_type, ArrayType):
        return [value_with_name(element, data_type.elementType, rest, name) for element in value]
    assert isinstance(data_type, MapType)
    return [(key, value_with_name(item, data_type.valueType, rest, name)) for key, item in value]


def moved(path: Path, renamed: Path, name: str) -> Path:
    """Return a path after a field was renamed."""
    if path[: len(renamed)] != renamed:
        return path
    return (*renamed[:-1], name, *path[len(renamed) :])


def in_order(data_type: DataType) -> DataType:
    """Sort the fields of structs by name, so that types can be compared without their order."""
    inside = {name: in_order(inner) for name, inner in children(data_type).items()}
    if isinstance(data_type, StructType):
        inside = dict(sorted(inside.items()))
    return _made(data_type, inside) if inside else data_type


def widened(table: DataType, model: DataType) -> DataType | None:
    """Return the type that a column gets so that it stores a model's values: docs/decisions.md.

    New fields come last, and a field that the model lacks is kept. None if a run is refused.
    """
    has, gives = children(table), children(model)
    if type(table) is type(model) and (has or gives):
        inside = {name: widened(has[name], gives.get(name, has[name])) for name in has}
        inside |= {name: inner for name, inner in gives.items() if name not in has}
        known = {name: inner for name, inner in inside.items() if inner is not None}
        return _made(table, known) if len(known) == len(inside) else None
    if has or gives:
        return None
    return _widened_atom(table, model)


def _widened_atom(table: DataType, model: DataType) -> DataType | None:
    if always_exact(model, table):
        return table
    if isinstance(table, spark.DecimalType) and isinstance(model, spark.DecimalType):
        whole = max(kind.precision - kind.scale for kind in (table, model))
        scale = max(table.scale, model.scale)
        return spark.DecimalType(whole + scale, scale) if whole + scale <= 38 else None
    is_widening = (
        (type(table) in BITS and type(model) in BITS)
        or (isinstance(table, spark.FloatType) and isinstance(model, spark.DoubleType))
        or (isinstance(table, spark.DateType) and isinstance(model, spark.TimestampNTZType))
    )
    return model if is_widening else None


def wider(rng: Random, data_type: DataType) -> DataType | None:
    """Draw a type to which Delta widens an atomic type. None if there is none."""
    if isinstance(data_type, spark.DecimalType):
        whole = data_type.precision - data_type.scale + rng.choice((0, 0, 2, 8))
        scale = data_type.scale + rng.choice((1, 2, 2, 4))
        return spark.DecimalType(whole + scale, scale) if whole + scale <= 38 else None
    known = WIDER.get(type(data_type))
    return rng.choice(known) if known else None


def converted(value: Any, source: DataType, column: DataType) -> Any:
    """Cast a value as ``try_cast`` does. Structs are matched by name, and a new field is null."""
    if value is None:
        return None
    if isinstance(source, StructType) and isinstance(column, StructType):
        given = children(source)
        return {
            field.name: converted(value[field.name], given[field.name], field.dataType)
            if field.name in given
            else None
            for field in column.fields
        }
    if isinstance(source, ArrayType) and isinstance(column, ArrayType):
        return [converted(element, source.elementType, column.elementType) for element in value]
    if isinstance(source, MapType) and isinstance(column, MapType):
        return [
            (
                converted(key, source.keyType, column.keyType),
                converted(item, source.valueType, column.valueType),
            )
            for key, item in value
        ]
    return value if source == column else _converted_atom(value, column)


def _converted_atom(value: Any, column: DataType) -> Any:
    if type(column) in BITS:
        most = 2 ** BITS[type(column)]
        return int(value) if -most <= int(value) < most else None
    if isinstance(column, spark.DecimalType):
        with localcontext() as context:
            context.prec = 100
            unit = Decimal((0, (1,), -column.scale))
            rounded = Decimal(value).quantize(unit, ROUND_HALF_UP)
            fits = abs(rounded) < 10 ** (column.precision - column.scale)
        return rounded if fits else None
    if isinstance(column, spark.FloatType):
        try:
            return as_float(value)
        except OverflowError:
            return math.copysign(math.inf, value)
    if isinstance(column, spark.DoubleType):
        return float(value)
    if isinstance(column, spark.DateType):
        return value.date()
    assert isinstance(column, spark.TimestampNTZType)
    return datetime(value.year, value.month, value.day)


def alike(value: Any, source: DataType, stored: Any, column: DataType) -> bool:
    """Return whether a stored value is the produced one to a query: 0.0 equals -0.0."""
    return same(_without_sign(value), source, _without_sign(stored), column)


def _without_sign(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_sign(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_sign(inner) for inner in value]
    if isinstance(value, tuple):
        return tuple(map(_without_sign, value))
    return 0.0 if isinstance(value, float) and value == 0 else value


def is_cast(
    value: Any,
    source: DataType,
    stored: Any,
    column: DataType,
    earlier: EarlierTypes,
    path: Path,
) -> bool:
    """Return whether a stored value is the produced one after a cast.

    A cast through a type that the leaf had earlier counts too. Structs are those in arrays or maps.
    """
    inside, kept = children(source), children(column)
    if not kept:
        # A write that casts fails at a value that is too large. It stores no null instead.
        return (value is None or stored is not None) and any(
            alike(
                converted(converted(value, source, through), through, column),
                column,
                stored,
                column,
            )
            for through in (column, *earlier.get(path, ()))
        )
    if value is None or stored is None:
        return value is stored

    def inner(name: str, one: Any, other: Any) -> bool:
        return is_cast(one, inside[name], other, kept[name], earlier, (*path, name))

    if isinstance(column, StructType):
        return all(inner(name, value[name], stored[name]) for name in kept)
    if isinstance(column, ArrayType):
        pairs = zip(value, stored, strict=False)
        return len(value) == len(stored) and all(inner("element", *pair) for pair in pairs)
    return len(value) == len(stored) and all(
        any(inner("key", key, k) and inner("value", item, v) for k, v in stored)
        for key, item in value
    )
