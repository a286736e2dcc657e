"""Types from the text that DESCRIBE shows, for connections that have nothing else.

DESCRIBE never quotes a nested name (``struct<a b:int,c.d:int>``) and cuts a long struct short
(``... 5 more fields``). What can be read in one way only is read; the rest is asked for field by
field, with DESCRIBE QUERY, which shows each name in a column of its own.
"""

import re
from collections.abc import Callable, Iterable
from itertools import takewhile

from pyspark.sql.types import (
    ArrayType,
    CharType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

from dbt.adapters.deltawiden.sql.identifiers import quote, read_name
from dbt.adapters.deltawiden.sql.types import (
    UnknownType,
    UnreadableType,
    leaves,
    parse_type,
    read_special_type,
)

Describe = Callable[[str], Iterable[tuple[str, str]]]
"""Runs DESCRIBE QUERY on a query; gives the name and the type's text of each column."""

_CUT = re.compile(r"\.\.\. \d+ more fields?")
# Any text but the characters that end a name, or begin and end a type.
_FIELD_NAME = re.compile(r"[^:,<>`]+(?=:)")
_ATOMIC = re.compile(r"[^,<>()]+(?:\(\s*\d+\s*(?:,\s*\d+\s*)?\))?[^,<>()]*")


CHAR_VARCHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata in which Spark keeps the declared type of a column with a char or varchar in it."""


class AmbiguousType(ValueError):
    """A type's text can be read in more than one way, or is cut short."""


def read_described(text: str) -> DataType:
    """Read the text of a type as DESCRIBE shows it.

    Args:
        text: for example ``bigint`` or ``struct<a:int,b:array<decimal(10,2)>>``.

    Returns:
        The type. Nullability is not in the text: everything in it is taken to be nullable.

    Raises:
        AmbiguousType: the text is cut, or its names make it unreadable.
    """
    if _CUT.search(text):
        raise AmbiguousType(text)
    found, rest = _read(text.strip())
    if rest:
        raise AmbiguousType(text)
    return found


def _read(text: str) -> tuple[DataType, str]:
    if text.startswith("struct<"):
        return _read_struct(text.removeprefix("struct<"))
    if text.startswith("array<"):
        element, rest = _read(text.removeprefix("array<"))
        return ArrayType(element), _skip(rest, ">")
    if text.startswith("map<"):
        key, rest = _read(text.removeprefix("map<"))
        value, rest = _read(_skip(rest, ","))
        return MapType(key, value), _skip(rest, ">")
    match = _ATOMIC.match(text)
    if match is None:
        raise AmbiguousType(text)
    return _atomic(match.group()), text[match.end() :]


def _read_struct(text: str) -> tuple[DataType, str]:
    fields: list[StructField] = []
    if text.startswith(">"):
        return StructType(fields), text[1:]
    while True:
        name = _FIELD_NAME.match(text)
        if name is None:
            raise AmbiguousType(text)
        data_type, text = _read(text[name.end() + 1 :])
        fields.append(StructField(name.group(), data_type))
        if text.startswith(">"):
            return StructType(fields), text[1:]
        text = _skip(text, ",")


def _atomic(text: str) -> DataType:
    try:
        return parse_type(text)
    except UnknownType:
        special = read_special_type(text)
    if special is None:
        raise AmbiguousType(text)
    return special


def _skip(text: str, mark: str) -> str:
    if not text.startswith(mark):
        raise AmbiguousType(text)
    return text[len(mark) :]


def partition_names(described: Iterable[tuple[str, str]]) -> list[str]:
    """Read the partition columns from the rows of DESCRIBE TABLE.

    Args:
        described: the first two columns of each row. After the table's columns, each of which has a
            type, comes a heading that has none, then a second heading, then the partition columns.

    Returns:
        Their names, without quotes; none where the table is not partitioned.
    """
    rows = iter(described)
    if not any(name == "# Partition Information" and not text for name, text in rows):
        return []
    next(rows, None)
    until_next_heading = takewhile(lambda row: row[1], rows)
    # Spark quotes a name that needs it.
    return [".".join(read_name(name)) for name, _ in until_next_heading]


def declared_type(column: StructField) -> DataType:
    """Give the type that a column was declared with, char and varchar included.

    Args:
        column: a column of a schema as Spark reports it, where char and varchar are strings and the
            metadata keeps the declaration, of a nested type as a whole.

    Returns:
        The declared type; the column's own where there is no declaration, or none that can be read.
    """
    declaration = (column.metadata or {}).get(CHAR_VARCHAR_KEY)
    if declaration is None:
        return column.dataType
    try:
        return read_described(declaration)
    except AmbiguousType:
        return column.dataType


def with_char_types(schema: StructType) -> StructType:
    """Give a schema in which what was declared as char is of that type, and not a string.

    A varchar stays a string: its column holds each text that is not refused as it is.

    Args:
        schema: a schema as Spark reports it.
    """
    fields = []
    for column in schema.fields:
        declared = declared_type(column)
        if any(isinstance(leaf, CharType) for leaf in leaves(declared)):
            column = StructField(column.name, _without_varchar(declared), column.nullable)
        fields.append(column)
    return StructType(fields)


def _without_varchar(data_type: DataType) -> DataType:
    if isinstance(data_type, StructType):
        fields = [StructField(f.name, _without_varchar(f.dataType)) for f in data_type.fields]
        return StructType(fields)
    if isinstance(data_type, ArrayType):
        return ArrayType(_without_varchar(data_type.elementType))
    if isinstance(data_type, MapType):
        return MapType(_without_varchar(data_type.keyType), _without_varchar(data_type.valueType))
    return StringType() if isinstance(data_type, VarcharType) else data_type


def read_schema(
    columns: Iterable[tuple[str, str]], relation: str, describe: Describe
) -> StructType:
    """Read the schema of a relation from what DESCRIBE says of it.

    Args:
        columns: the name and the type's text of each column.
        relation: the relation's name, as for a statement.
        describe: asks the server about a query; called only for what the text leaves open. No data
            is read by it.

    Returns:
        The schema. A type that is not known here is an ``UnreadableType``.
    """
    asked = _Asking(relation, describe)
    return StructType(
        [StructField(name, asked.type_of(quote(name), text)) for name, text in columns]
    )


class _Asking:
    """Asks the server for what the text of a type leaves open."""

    def __init__(self, relation: str, describe: Describe) -> None:
        self._relation = relation
        self._describe = describe

    def type_of(self, value: str, text: str) -> DataType:
        """Give the type of an expression over the relation, of which the text is known."""
        try:
            return read_described(text)
        except AmbiguousType:
            pass
        if text.startswith("struct<"):
            fields = self._columns("x.*", value)
            return StructType(
                [StructField(name, self.type_of(f"{value}.{quote(name)}", t)) for name, t in fields]
            )
        if text.startswith("array<"):
            return ArrayType(self._type_of(f"{value}[0]"))
        if text.startswith("map<"):
            key, item = f"map_keys({value})[0]", f"map_values({value})[0]"
            return MapType(self._type_of(key), self._type_of(item))
        return UnreadableType(text)

    def _type_of(self, value: str) -> DataType:
        ((_, text),) = self._columns("x", value)
        return self.type_of(value, text)

    def _columns(self, selected: str, value: str) -> list[tuple[str, str]]:
        return list(
            self._describe(f"select {selected} from (select {value} as x from {self._relation})")
        )
