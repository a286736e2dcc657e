"""Render what is written to each column of a table, as SQL on the model's output."""

from collections.abc import Container
from dataclasses import dataclass, replace

from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.side_by_side import by_folded_name
from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.writing.projection import is_as_is, shaped_sql
from dbt.adapters.deltawiden.writing.store_assignment import (
    StoreAssignment,
    kind_of,
    store_assignment,
)
from dbt.adapters.deltawiden.writing.value_check import ValueCheck

MERGE_SOURCE = "DBT_INTERNAL_SOURCE"
"""The name of the source in dbt's MERGE statements."""


@dataclass(frozen=True)
class WrittenColumn:
    """A column of the table at the time of the write.

    Attributes:
        name: its name, as the table spells it.
        type: its declared type.
        source: the column of the model's output that is written to it, or None for null.
        check: the check of values that its type does not store exactly, or None for no check.
        is_key: whether the write finds rows by it. It is then compared in the column's type.
        is_only_inserted: whether a MERGE does not change it in the rows that it updates. Its value
            is then shaped and checked only for inserted rows.
    """

    name: str
    type: DataType
    source: StructField | None
    check: ValueCheck | None = None
    is_key: bool = False
    is_only_inserted: bool = False

    @property
    def quoted(self) -> str:
        """The column's name, quoted for a statement."""
        return quote(self.name)

    @property
    def column(self) -> str:
        """The column's name. dbt's own columns call this attribute ``column``."""
        return self.name

    @property
    def in_source(self) -> bool:
        """Whether the model's output has the column."""
        return self.source is not None

    @property
    def is_as_is(self) -> bool:
        """Whether the source's value can be written unchanged, including nested fields."""
        if self.source is None:
            return True
        given = self.source.dataType
        return (
            is_as_is(given, self.type, self.check)
            and not self._is_cast_key(given)
            and not self._has_to_check_partition(given)
        )

    @property
    def select_sql(self) -> str:
        """The expression to select for the column from the model's output."""
        if self.source is None:
            return f"cast(null as {type_sql(self.type)}) as {self.quoted}"
        value = quote(self.source.name)
        shaped = value if self.is_only_inserted else self._value_sql(value)
        return value if shaped == value else f"{shaped} as {self.quoted}"

    @property
    def insert_sql(self) -> str:
        """The expression that a MERGE inserts, from a source that selects ``select_sql``."""
        if self.source is None:
            return "null"
        value = f"{MERGE_SOURCE}.{self.quoted}"
        return self._value_sql(value) if self.is_only_inserted else value

    def _value_sql(self, value: str) -> str:
        assert self.source is not None
        given = self.source.dataType
        shaped = shaped_sql(value, given, self.type, (self.name,), self.check)
        if shaped == value and self._is_cast_key(given):
            shaped = _key_sql(value, given, self.type)
        if self.check is not None and self._has_to_check_partition(given):
            return self.check.partition_sql(value, shaped, self.name, self.type)
        return shaped

    def _has_to_check_partition(self, given: DataType) -> bool:
        # A value of another kind is either refused, or converted to one that a partition stores.
        return (
            self.check is not None
            and kind_of(given) == kind_of(self.type)
            and self.check.has_to_check_partition(self.name, self.type)
        )

    def _is_cast_key(self, given: DataType) -> bool:
        return self.is_key and type_sql(given) != type_sql(self.type)


def _key_sql(value: str, source: DataType, column: DataType) -> str:
    """Cast a key to its column's type, in which keys are compared.

    The texts 007 and 7 are equal as numbers, but they are two different keys as texts.
    """
    if store_assignment(source, column) is StoreAssignment.EXACT:
        return f"cast({value} as {type_sql(column)})"
    # Lossy writes are accepted, but a value that the column can't hold must not match another row.
    stored = f"try_cast({value} as {type_sql(column)})"
    failed = f"raise_error(concat('the table has no such key: ', cast({value} as string)))"
    return f"case when {value} is null or {stored} is not null then {stored} else {failed} end"


@dataclass(frozen=True)
class Write:
    """A write of a model's output to its table.

    Attributes:
        columns: the table's columns that are written, in the table's order.
        unused: the columns of the model's output that the table does not have.
        leaves_out: whether the table has columns that are not written, because Delta generates
            their values.
    """

    columns: tuple[WrittenColumn, ...] = ()
    unused: tuple[str, ...] = ()
    leaves_out: bool = False

    @property
    def can_merge_all(self) -> bool:
        """Whether a MERGE may write ``*`` for the table's columns.

        It may not if the source lacks a column (DELTA_MERGE_UNRESOLVED_EXPRESSION), or if a name
        contains a backtick, which Delta does not quote when it expands the star
        (INVALID_ATTRIBUTE_NAME_SYNTAX).
        """
        return not self.leaves_out and all(
            column.in_source and "`" not in column.name and not column.is_only_inserted
            for column in self.columns
        )

    def updating(self, columns: Container[str] | None) -> "Write":
        """Return the write for a MERGE that updates only some columns of a row.

        Args:
            columns: the columns that it updates, quoted, or None if it updates all.

        Returns:
            The write. The values of the other columns are only checked when a row is inserted.
        """
        if columns is None:
            return self
        written = (
            replace(column, is_only_inserted=_is_left(column, columns)) for column in self.columns
        )
        return replace(self, columns=tuple(written))

    @property
    def is_as_is(self) -> bool:
        """Whether the model's output can be written unchanged, including nested fields."""
        return all(column.is_as_is for column in self.columns)

    @property
    def source_select_sql(self) -> str:
        """The model's columns to select, with nested fields in the table's order and types.

        Columns that the table does not have are kept: the condition of a MERGE may use them.
        """
        written = [column.select_sql for column in self.columns if column.in_source]
        return ", ".join([*written, *(quote(name) for name in self.unused)])


def partitions_checked_sql(source: StructType, check: ValueCheck) -> str:
    """Render the columns of a query, with a check of those that will partition a new table.

    Args:
        source: the schema of the query.
        check: the check, with the table's partition columns.

    Returns:
        The select list, or an empty text if no column has to be checked.
    """
    columns = [WrittenColumn(field.name, field.dataType, field, check) for field in source.fields]
    if all(column.is_as_is for column in columns):
        return ""
    return ", ".join(column.select_sql for column in columns)


def _is_left(column: WrittenColumn, updated: Container[str]) -> bool:
    # A MERGE can update a single field of a struct, so structs are shaped for updates and inserts.
    is_struct = isinstance(column.type, StructType)
    return not (column.is_key or is_struct or column.is_as_is or column.quoted in updated)


def match_columns(
    source: StructType,
    table: StructType,
    fills: bool = True,
    left_out: Container[str] = (),
    check: ValueCheck | None = None,
    keys: Container[str] = (),
) -> Write:
    """Match a model's output with the columns of its table by name, ignoring case.

    Args:
        source: the schema of the model's output.
        table: the table's schema at the time of the write.
        fills: whether a column that the source lacks is filled with null. Otherwise it is selected
            from the source nevertheless, so that the engine refuses the write.
        left_out: the columns, in lower case, that Delta generates if the source lacks them.
        check: the check of values that a column's type alone does not store exactly, or None.
        keys: the columns, in lower case, by which the write finds rows.

    Returns:
        The write.
    """
    in_source = by_folded_name(with_char_types(source))
    columns = [
        WrittenColumn(
            field.name,
            field.dataType,
            in_source.get(field.name.lower(), None if fills else field),
            check,
            field.name.lower() in keys,
        )
        for field in with_char_types(table).fields
        if field.name.lower() in in_source or field.name.lower() not in left_out
    ]
    in_table = by_folded_name(table)
    unused = [field.name for field in source.fields if field.name.lower() not in in_table]
    return Write(tuple(columns), tuple(unused), leaves_out=len(columns) < len(table.fields))
