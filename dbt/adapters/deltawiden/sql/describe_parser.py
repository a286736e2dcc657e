"""Read types from the text that DESCRIBE shows, for connections that have nothing else.

DESCRIBE never quotes a nested name (``struct<a b:int,c.d:int>``), and it truncates a long struct
(``... 5 more fields``). A text that has only one meaning is parsed. For any other text, each field
is read with a DESCRIBE QUERY of its own, which shows the name in a separate column.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from pyspark.sql.types import ArrayType, CharType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import quote, read_name
from dbt.adapters.deltawiden.sql.side_by_side import are_alike
from dbt.adapters.deltawiden.sql.types import (
    UnknownType,
    UnreadableType,
    contains,
    fields_in,
    parse_type,
    read_special_type,
    type_in,
    with_types_in,
)

_CUT = re.compile(r"\.\.\. \d+ more fields?")
# Any text without the characters that end a name, or that begin or end a type.
_FIELD_NAME = re.compile(r"[^:,<>`]+(?=:)")
_ATOMIC = re.compile(r"[^,<>()]+(?:\(\s*\d+\s*(?:,\s*\d+\s*)?\))?[^,<>()]*")


CHAR_VARCHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata key for the declared type of a column that is or contains char or varchar."""


class AmbiguousType(ValueError):
    """The text of a type is truncated, or it has more than one meaning."""


def is_cut(text: str) -> bool:
    """Return whether the text of a type lacks fields, as with spark.sql.debug.maxToStringFields."""
    return bool(_CUT.search(text))


def read_described(text: str) -> DataType:
    """Read a type such as ``struct<a:int,b:array<decimal(10,2)>>``. Every part of it is nullable.

    Raises:
        AmbiguousType: the text is truncated, or a name in it makes it ambiguous.
    """
    if is_cut(text):
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
    """Read the names of the partition columns, without quotes, from the rows of DESCRIBE TABLE.

    Args:
        described: the first two columns of each row. The table's columns come first, and each has
            a type. A heading without a type, a second heading and the partition columns follow.
    """
    _, *names = _names_below("# Partition Information", described) or [""]
    # Spark quotes a name only if that is necessary.
    return [".".join(read_name(name)) for name in names]


def has_partitions(described: Iterable[tuple[str, str]]) -> bool:
    """Return whether a table is partitioned, by columns or by transforms, as ``partition_names``.

    Source:
        Spark's ``DescribeTableExec``: transforms are below another heading than columns
    """
    rows = list(described)
    return bool(partition_names(rows) or _names_below("# Partitioning", rows))


def names_with_default(described: Iterable[tuple[str, str]]) -> list[str]:
    """Read the names of the columns with a default value, from rows as for ``partition_names``."""
    return _names_below("# Column Default Values", described)


def _names_below(heading: str, described: Iterable[tuple[str, str]]) -> list[str]:
    rows = iter(described)
    # A column with this name has a type.
    any(name == heading and not text for name, text in rows)
    return [name for name, _ in takewhile(lambda row: row[1], rows)]


def table_details(described: Iterable[Sequence[object]]) -> dict[str, str]:
    """Read what DESCRIBE TABLE EXTENDED shows of a table, by name. Empty if it is not there."""
    rows = [(str(row[0]), str(row[1])) for row in described]
    # The columns come first, and one of them can have any name.
    headings = [n for n, (name, _) in enumerate(rows) if name == "# Detailed Table Information"]
    return dict(rows[headings[-1] + 1 :]) if headings else {}


def declared_type(column: StructField) -> DataType:
    """Return the type that a column of a schema was declared with, char and varchar included.

    Spark reports these as strings. The column's metadata keeps the declaration of the whole type.
    If there is none, or it can't be read, it is the column's own type.
    """
    declaration = (column.metadata or {}).get(CHAR_VARCHAR_KEY)
    if declaration is None:
        return column.dataType
    try:
        return read_described(declaration)
    except AmbiguousType:
        return column.dataType


def with_declarations(schema: StructType, declared: Mapping[str, str | None]) -> StructType:
    """Return a schema whose columns have the texts of declared types in their metadata alone."""
    texts = {name: {CHAR_VARCHAR_KEY: text} for name, text in declared.items() if text}
    fields = [StructField(f.name, f.dataType, f.nullable, texts.get(f.name)) for f in schema.fields]
    return StructType(fields)


def with_char_types(
    schema: StructType, kinds: tuple[type[DataType], ...] = (CharType,)
) -> StructType:
    """Return a schema in which everything that was declared as char has that type, not string.

    A varchar stays a string, unless it is one of the ``kinds``.
    """
    fields = []
    for column in schema.fields:
        declared = declared_type(column)
        if contains(declared, kinds):
            data_type = _with_char(column.dataType, declared, kinds)
            column = StructField(column.name, data_type, column.nullable)
        fields.append(column)
    return StructType(fields)


def _with_char(
    data_type: DataType, declared: DataType, kinds: tuple[type[DataType], ...]
) -> DataType:
    """Return a type with the char of its declaration, which keeps the fields of an earlier time."""
    if isinstance(declared, kinds):
        return declared
    if not are_alike(data_type, declared):
        return data_type
    inside = [
        _with_char(field.dataType, type_in(declared, field.name) or field.dataType, kinds)
        for field in fields_in(data_type)
    ]
    return with_types_in(data_type, inside)


def read_schema(
    query: str, relation: str, fetch_rows: Callable[[str], Iterable[Any]]
) -> StructType:
    """Read the schema of a query from DESCRIBE. What can't be read is an ``UnreadableType``.

    Args:
        relation: the same columns as a table's name, quoted for a statement, or as a subquery. It
            is described for types whose text is ambiguous.
    """
    resolver = _TypeResolver(relation, fetch_rows)
    columns = resolver.describe(query)
    return StructType(
        [StructField(name, resolver.type_of(quote(name), text)) for name, text in columns]
    )


@dataclass(frozen=True)
class _TypeResolver:
    """Reads types from texts. If a text is ambiguous, it describes each part on the server."""

    relation: str
    fetch_rows: Callable[[str], Iterable[Any]]

    def describe(self, query: str) -> list[tuple[str, str]]:
        """Return the name and the type's text of each column. It reads no data."""
        rows = self.fetch_rows(f"describe query {query}")
        return [(str(row[0]), str(row[1])) for row in rows]

    def type_of(self, value: str, text: str) -> DataType:
        """Return the type of an expression over the relation, given the type's text."""
        try:
            return read_described(text)
        except AmbiguousType:
            pass
        if text.startswith("struct<"):
            fields = self._columns("x.*", value)
            return StructType(
                [
                    StructField(name, self.type_of(f"{value}.{quote(name)}", field_text))
                    for name, field_text in fields
                ]
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
        return self.describe(f"select {selected} from (select {value} as x from {self.relation})")
