"""Shape a source's value like its column, so that nested fields are written by name.

Spark writes a struct by position as soon as one of its fields needs a cast, whatever its fields are
called, and Delta 3.3 and 4.0 then make of a null struct a struct of nulls. A value that has the
column's fields in the column's order, and its types, can't be written wrongly.
"""

from collections.abc import Iterator
from itertools import count

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from dbt.adapters.deltawiden.widening.diff import by_folded_name
from dbt.adapters.deltawiden.widening.exactness import Storage, storage
from dbt.adapters.deltawiden.widening.names import quote
from dbt.adapters.deltawiden.widening.types import every_type, type_sql


def shaped_sql(value: str, source: DataType, column: DataType) -> str:
    """Render a source's value with the fields of its column, in the column's order.

    Args:
        value: an SQL expression for the value.
        source: its type.
        column: the type of the column. Every field of the source is in it.

    Returns:
        The expression itself where it can be written as it is, else one that puts the fields in
        order, at every depth, and gives them the column's types where those hold every value. A
        field that the source lacks is null; a null struct stays null.

    Source:
        https://spark.apache.org/docs/latest/api/sql/ (named_struct, transform, transform_keys)
    """
    shaped = _shaped(value, source, column, count(1))
    return f"cast({shaped} as {type_sql(column)})" if _needs_cast(source, column) else shaped


def is_as_is(source: DataType, column: DataType) -> bool:
    """Tell whether a source's value can be written to its column as it is.

    Args:
        source: the type of the value.
        column: the type of its column.

    Returns:
        Whether names, their order and the types inside of structs are the same.
    """
    return in_order(source, column) and not _needs_cast(source, column)


def _needs_cast(source: DataType, column: DataType) -> bool:
    """Whether a struct's fields have other types than the column's, which hold all their values.

    Only then: a cast to a type that does not hold a value loses it, where a write can still fail.
    """
    has_struct = any(isinstance(each, StructType) for each in every_type(column))
    pairs = list(_leaves_side_by_side(source, column))
    differs = any(ours != theirs for ours, theirs in pairs)
    return (
        has_struct
        and differs
        and all(storage(ours, theirs) is Storage.EXACT for ours, theirs in pairs)
    )


def _leaves_side_by_side(source: DataType, column: DataType) -> Iterator[tuple[DataType, DataType]]:
    if isinstance(source, StructType) and isinstance(column, StructType):
        in_source = by_folded_name(source)
        for each in column.fields:
            if each.name.lower() in in_source:
                given = in_source[each.name.lower()].dataType
                yield from _leaves_side_by_side(given, each.dataType)
    elif isinstance(source, ArrayType) and isinstance(column, ArrayType):
        yield from _leaves_side_by_side(source.elementType, column.elementType)
    elif isinstance(source, MapType) and isinstance(column, MapType):
        yield from _leaves_side_by_side(source.keyType, column.keyType)
        yield from _leaves_side_by_side(source.valueType, column.valueType)
    else:
        yield source, column


def _shaped(value: str, source: DataType, column: DataType, names: "count[int]") -> str:
    if in_order(source, column):
        return value
    if isinstance(source, StructType) and isinstance(column, StructType):
        return _struct(value, source, column, names)
    if isinstance(source, ArrayType) and isinstance(column, ArrayType):
        item = f"x{next(names)}"
        body = _shaped(item, source.elementType, column.elementType, names)
        return f"transform({value}, {item} -> {body})"
    assert isinstance(source, MapType)
    assert isinstance(column, MapType)
    return _map(value, source, column, names)


def _struct(value: str, source: StructType, column: StructType, names: "count[int]") -> str:
    in_source = by_folded_name(source)
    fields = []
    for each in column.fields:
        name = each.name.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\u0024{")
        given = in_source.get(each.name.lower())
        if given is None:
            field = f"cast(null as {type_sql(each.dataType)})"
        else:
            path = f"{value}.{quote(given.name)}"
            field = _shaped(path, given.dataType, each.dataType, names)
        fields.append(f"'{name}', {field}")
    return f"if({value} is null, null, named_struct({', '.join(fields)}))"


def _map(value: str, source: MapType, column: MapType, names: "count[int]") -> str:
    key, item = f"k{next(names)}", f"v{next(names)}"
    if not in_order(source.keyType, column.keyType):
        body = _shaped(key, source.keyType, column.keyType, names)
        value = f"transform_keys({value}, ({key}, {item}) -> {body})"
    if not in_order(source.valueType, column.valueType):
        body = _shaped(item, source.valueType, column.valueType, names)
        value = f"transform_values({value}, ({key}, {item}) -> {body})"
    return value


def in_order(source: DataType, column: DataType) -> bool:
    """Tell whether a type has the fields of another in its order, at every depth.

    Args:
        source: the type of a value.
        column: the type of its column. Where the kinds differ (a struct and a number), there is
            nothing to put in order.

    Returns:
        Whether names, without regard to case, and their order are the same.
    """
    if isinstance(source, StructType) and isinstance(column, StructType):
        same_names = [each.lower() for each in source.names] == [
            each.lower() for each in column.names
        ]
        return same_names and all(
            in_order(ours.dataType, theirs.dataType)
            for ours, theirs in zip(source.fields, column.fields, strict=True)
        )
    if isinstance(source, ArrayType) and isinstance(column, ArrayType):
        return in_order(source.elementType, column.elementType)
    if isinstance(source, MapType) and isinstance(column, MapType):
        keys_in_order = in_order(source.keyType, column.keyType)
        return keys_in_order and in_order(source.valueType, column.valueType)
    return True
