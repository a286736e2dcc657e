"""Values as Spark SQL, independent of the adapter, so that tests can check it."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructType


def literal(value: Any, data_type: DataType) -> str:
    """Write a value of a type as SQL.

    Structs are dictionaries, maps are lists of pairs, and a timestamp is its microseconds since
    1970 in UTC, because Python's own clock has no repeated hour before 1970.
    """
    if value is None:
        text = "void" if isinstance(data_type, spark.NullType) else data_type.simpleString()
        return "null" if text == "void" else f"cast(null as {text})"
    if isinstance(data_type, StructType):
        fields = (f"'{f.name}', {literal(value[f.name], f.dataType)}" for f in data_type.fields)
        return f"named_struct({', '.join(fields)})"
    if isinstance(data_type, ArrayType):
        elements = ", ".join(literal(element, data_type.elementType) for element in value)
        return f"array({elements})" if value else f"cast(array() as {data_type.simpleString()})"
    if isinstance(data_type, MapType):
        entries = (
            f"{literal(key, data_type.keyType)}, {literal(item, data_type.valueType)}"
            for key, item in value
        )
        return f"map({', '.join(entries)})" if value else empty_map(data_type)
    return _scalar(value, data_type)


def empty_map(data_type: MapType) -> str:
    return f"cast(map() as {data_type.simpleString()})"


def _scalar(value: Any, data_type: DataType) -> str:
    if isinstance(data_type, spark.TimestampType):
        return f"timestamp_micros({value})"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bytes | bytearray):
        return f"X'{bytes(value).hex()}'"
    if isinstance(value, datetime):
        return f"timestamp_ntz'{value.isoformat(' ')}'"
    if isinstance(value, date):
        return f"date'{value.isoformat()}'"
    text = format(value, "f") if isinstance(value, Decimal) else repr(value)
    return f"cast('{text}' as {data_type.simpleString()})"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
