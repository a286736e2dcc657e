"""The exact contents of a table or view, read without a filter."""

import re
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from tests.walk.model import Row

LENGTH = re.compile(r"(char|varchar)\((\d+)\)")


@dataclass(frozen=True)
class Contents:
    """A relation's columns, its rows by ``id``, and how many rows there are."""

    schema: StructType
    rows: dict[int, Row]
    count: int

    def __eq__(self, other: object) -> bool:
        # Compared as text, because NaN is not equal to itself.
        return isinstance(other, Contents) and repr(self) == repr(other)


def read_contents(spark_session: SparkSession, name: str) -> Contents:
    frame = spark_session.table(name)
    fields = [StructField(f.name, _declared(f)) for f in frame.schema.fields]
    shown = [f"{shown_sql(f.name, f.dataType)} as {f.name}" for f in fields]
    found = frame.selectExpr(*shown).collect()
    rows = [
        {f.name: _value(kept, f.dataType) for f, kept in zip(fields, row, strict=True)}
        for row in found
    ]
    ordered = sorted(rows, key=lambda row: (row["id"], repr(row)))
    return Contents(StructType(fields), {row["id"]: row for row in ordered}, len(rows))


def _declared(field: StructField) -> DataType:
    length = LENGTH.fullmatch(field.metadata.get("__CHAR_VARCHAR_TYPE_STRING", ""))
    if length is None:
        return _without_nullability(field.dataType)
    made = spark.CharType if length[1] == "char" else spark.VarcharType
    return made(int(length[2]))


def _without_nullability(data_type: DataType) -> DataType:
    """Remove NOT NULL and metadata, which are not part of a value."""
    if isinstance(data_type, StructType):
        fields = data_type.fields
        return StructType([StructField(f.name, _without_nullability(f.dataType)) for f in fields])
    if isinstance(data_type, ArrayType):
        return ArrayType(_without_nullability(data_type.elementType))
    if isinstance(data_type, MapType):
        types = (data_type.keyType, data_type.valueType)
        return MapType(*map(_without_nullability, types))
    return data_type


def shown_sql(value: str, data_type: DataType, depth: int = 0) -> str:
    """Write an expression that Python reads exactly, such as a timestamp as a number."""
    if isinstance(data_type, spark.TimestampType):
        return f"unix_micros({value})"
    inner = f"e{depth}"
    if isinstance(data_type, StructType):
        fields = ", ".join(
            f"'{f.name}', {shown_sql(f'{value}.{f.name}', f.dataType, depth)}"
            for f in data_type.fields
        )
        return f"if({value} is null, null, named_struct({fields}))"
    if isinstance(data_type, ArrayType):
        element = shown_sql(inner, data_type.elementType, depth + 1)
        return f"transform({value}, {inner} -> {element})"
    if isinstance(data_type, MapType):
        key = shown_sql(f"{inner}.key", data_type.keyType, depth + 1)
        item = shown_sql(f"{inner}.value", data_type.valueType, depth + 1)
        entry = f"named_struct('key', {key}, 'value', {item})"
        return f"transform(map_entries({value}), {inner} -> {entry})"
    return value


def _value(kept: Any, data_type: DataType) -> Any:
    if kept is None:
        return None
    if isinstance(data_type, StructType):
        return {f.name: _value(kept[f.name], f.dataType) for f in data_type.fields}
    if isinstance(data_type, ArrayType):
        return [_value(element, data_type.elementType) for element in kept]
    if isinstance(data_type, MapType):
        return [
            (_value(entry.key, data_type.keyType), _value(entry.value, data_type.valueType))
            for entry in kept
        ]
    return bytes(kept) if isinstance(kept, bytearray) else kept
