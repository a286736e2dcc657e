"""What differs between a source's schema and a table's."""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.widening.exactness import Storage, storage
from dbt.adapters.deltawiden.widening.names import Path


class AmbiguousName(ValueError):
    """Two columns or fields of one schema differ in case only."""


@dataclass(frozen=True)
class TypeDifference:
    """A leaf that the table can't store exactly as it is.

    Attributes:
        path: where, in the table's spelling.
        table: the table's type.
        source: the source's type.
        storage: what would become of the source's values; never ``EXACT``.
    """

    path: Path
    table: DataType
    source: DataType
    storage: Storage


@dataclass(frozen=True)
class FieldDifference:
    """A column or nested field that only one side has, with its path in that side's spelling."""

    path: Path
    field: StructField


@dataclass(frozen=True)
class SchemaDifference:
    """All that differs, in the order of the schemas.

    Attributes:
        new: columns and nested fields that only the source has.
        gone: columns and nested fields that only the table has.
        types: leaves whose values the table would not store exactly. A source that is narrower,
            or another name for the same type, is no difference.
    """

    new: tuple[FieldDifference, ...] = field(default=())
    gone: tuple[FieldDifference, ...] = field(default=())
    types: tuple[TypeDifference, ...] = field(default=())

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.types)

    @property
    def gone_columns(self) -> tuple[str, ...]:
        """The names of the whole columns that only the table has."""
        return tuple(each.path[0] for each in self.gone if len(each.path) == 1)

    def without_gone(self, columns: Container[str]) -> "SchemaDifference":
        """Give the difference without some columns that only the table has.

        Args:
            columns: their names, in lower case.
        """
        gone = tuple(each for each in self.gone if each.path[0].lower() not in columns)
        return replace(self, gone=gone)


_Difference = TypeDifference | FieldDifference


def compare(source: StructType, table: StructType) -> SchemaDifference:
    """Compare the schema of a model's output with that of its table.

    Names are compared without regard to case, as Delta does. The order of columns and fields does
    not matter.

    Args:
        source: the schema of the model's output.
        table: the schema of the existing table.

    Returns:
        The differences; false where there are none.

    Raises:
        AmbiguousName: names in one struct differ in case only.
    """
    new: list[FieldDifference] = []
    gone: list[FieldDifference] = []
    types: list[TypeDifference] = []
    for is_new, difference in _structs(source, table, ()):
        if isinstance(difference, TypeDifference):
            types.append(difference)
        else:
            (new if is_new else gone).append(difference)
    return SchemaDifference(tuple(new), tuple(gone), tuple(types))


def by_folded_name(struct: StructType, path: Path = ()) -> dict[str, StructField]:
    """Index the fields of a struct by their names in lower case.

    Raises:
        AmbiguousName: two names differ in case only.
    """
    fields: dict[str, StructField] = {}
    for each in struct.fields:
        other = fields.setdefault(each.name.lower(), each)
        if other is not each:
            where = f" in {'.'.join(path)}" if path else ""
            raise AmbiguousName(
                f"'{other.name}' and '{each.name}'{where} differ in case only; Delta holds them "
                "to be one name: rename one of them in the model"
            )
    return fields


def _structs(
    source: StructType, table: StructType, path: Path
) -> Iterator[tuple[bool, _Difference]]:
    in_source = by_folded_name(source, path)
    in_table = by_folded_name(table, path)
    for folded, column in in_table.items():
        here = (*path, column.name)
        if folded in in_source:
            yield from _types(in_source[folded].dataType, column.dataType, here)
        else:
            yield False, FieldDifference(here, column)
    for folded, output in in_source.items():
        if folded not in in_table:
            yield True, FieldDifference((*path, output.name), output)


def _types(source: DataType, table: DataType, path: Path) -> Iterator[tuple[bool, _Difference]]:
    if isinstance(source, StructType) and isinstance(table, StructType):
        yield from _structs(source, table, path)
    elif isinstance(source, ArrayType) and isinstance(table, ArrayType):
        yield from _types(source.elementType, table.elementType, (*path, "element"))
    elif isinstance(source, MapType) and isinstance(table, MapType):
        yield from _types(source.keyType, table.keyType, (*path, "key"))
        yield from _types(source.valueType, table.valueType, (*path, "value"))
    else:
        stored = storage(source, table)
        if stored is not Storage.EXACT:
            yield False, TypeDifference(path, table, source, stored)
