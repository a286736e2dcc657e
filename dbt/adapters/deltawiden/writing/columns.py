"""Render what is written to each column of a table, as SQL on the model's output."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from pyspark.sql.types import CharType, DataType, StringType, StructField, StructType

from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text, quote
from dbt.adapters.deltawiden.sql.side_by_side import by_folded_name
from dbt.adapters.deltawiden.sql.types import contains, type_sql, type_text
from dbt.adapters.deltawiden.writing.projection import in_type_sql, is_as_is, shaped_sql
from dbt.adapters.deltawiden.writing.store_assignment import (
    StoreAssignment,
    kind_of,
    store_assignment,
)
from dbt.adapters.deltawiden.writing.value_check import ValueCheck


@dataclass(frozen=True)
class WrittenColumn:
    """A column of the table at the time of the write.

    Attributes:
        type: its declared type.
        source: the column of the model's output that is written to it, or None for null.
        is_key: whether the write finds rows by it. It is then compared in the column's type.
        is_checked_in_clause: whether the clauses of a MERGE check its value, and not the source.
            A value of a row that no clause writes is then not checked.
        is_cast: whether a value of another type that the column stores exactly is cast to its type,
            and has the column's name as the table spells it.
    """

    name: str
    type: DataType
    source: StructField | None
    check: ValueCheck | None = None
    is_key: bool = False
    is_checked_in_clause: bool = False
    is_cast: bool = False

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
    def is_checked(self) -> bool:
        """Whether the check looks at the column's values."""
        unchecked = replace(self, check=None)
        return self.in_source and self.value_sql("v") != unchecked.value_sql("v")

    @property
    def select_sql(self) -> str:
        """The expression to select for the column from the model's output."""
        if self.source is None:
            return f"cast(null as {type_sql(self.type)}) as {self.quoted}"
        value = quote(self.source.name)
        shaped = value if self.is_checked_in_clause else self.value_sql(value)
        is_renamed = self.is_cast and not self.has_table_name
        return value if shaped == value and not is_renamed else f"{shaped} as {self.quoted}"

    @property
    def has_table_name(self) -> bool:
        """Whether the model's output spells the column's name as the table does."""
        return self.source is None or self.source.name == self.name

    @property
    def named_sql(self) -> str:
        """The expression of ``select_sql``, with the name that the table has."""
        is_name = self.source is not None and self.select_sql == quote(self.source.name)
        return f"{self.select_sql} as {self.quoted}" if is_name else self.select_sql

    def merged_sql(self, alias: str) -> str:
        """Render the value that a clause of a MERGE writes, whose source selects ``select_sql``."""
        if self.source is None:
            return "null"
        value = f"{alias}.{self.quoted}"
        return self.value_sql(value) if self.is_checked_in_clause else value

    def value_sql(self, value: str) -> str:
        """Render a value of the model's output as the column stores it, with its check."""
        assert self.source is not None
        given = self.source.dataType
        shaped = shaped_sql(value, given, self.type, (self.name,), self.check)
        if shaped == value and self._is_cast_key(given):
            shaped = _key_sql(value, given, self.type)
        if shaped == value and self.is_cast:
            shaped = in_type_sql(value, given, self.type)
        if self.check is not None and self._has_to_check_partition(given):
            return self.check.partition_sql(
                self._in_own_kind_sql(value, given), shaped, self.name, self.type
            )
        return shaped

    def _has_to_check_partition(self, given: DataType) -> bool:
        # A value of another kind is either refused, or has a text that a partition stores. But a
        # date is stored in a timestamp as its first moment, which a partition may not store.
        return (
            self.check is not None
            and kind_of(given) in (kind_of(self.type), "date")
            and self.check.has_to_check_partition(self.name, self.type)
        )

    def _in_own_kind_sql(self, value: str, given: DataType) -> str:
        is_own_kind = kind_of(given) == kind_of(self.type)
        return value if is_own_kind else f"cast({value} as {type_sql(self.type)})"

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
    failed = (
        f"raise_error(concat('the column is of type {type_text(column)}, which has no such key: ', "
        f"cast({value} as string)))"
    )
    return f"case when {value} is null or {stored} is not null then {stored} else {failed} end"


@dataclass(frozen=True)
class Write:
    """A write of a model's output to its table.

    Attributes:
        columns: the table's columns that are written, in the table's order.
        unused: the columns of the model's output that the table does not have.
        computed: the columns of the table whose values Delta computes.
        kept: the generated columns that the update of a MERGE sets to themselves.
    """

    columns: tuple[WrittenColumn, ...] = ()
    unused: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def can_merge_all(self) -> bool:
        """Whether a MERGE may write ``*`` for the table's columns.

        It may not if the source lacks a column (DELTA_MERGE_UNRESOLVED_EXPRESSION), if a name
        contains a backtick, which Delta does not quote when it expands the star
        (INVALID_ATTRIBUTE_NAME_SYNTAX), or if the source has a column that the table lacks, which
        ``spark.databricks.delta.schema.autoMerge.enabled`` would add. With this setting, Delta also
        updates each field of a struct by itself, and a null struct becomes a struct of nulls.
        """
        return not (self.computed or self.unused) and all(
            column.in_source
            and "`" not in column.name
            and not column.is_checked_in_clause
            and not isinstance(column.type, StructType)
            for column in self.columns
        )

    @property
    def merged_columns(self) -> tuple[WrittenColumn, ...] | None:
        """The columns that a MERGE writes; None if it may write ``*``."""
        return None if self.can_merge_all else self.columns

    def merging(self, updated: Sequence[str] | None, writes_every_row: bool = True) -> "Write":
        """Return the write for a MERGE. What it may not write is checked where it is written.

        Args:
            updated: the columns that it updates, quoted, or None if it updates all.
            writes_every_row: whether its clauses have no conditions.
        """
        if updated is None and writes_every_row:
            return self
        return replace(
            self,
            columns=tuple(
                replace(column, is_checked_in_clause=True)
                if _is_checked_in_clause(column, updated, writes_every_row)
                else column
                for column in self.columns
            ),
        )

    def inserting(self) -> "Write":
        """Return the write for an INSERT, which leaves no cast to Delta that is always exact.

        If Delta before 4.1 casts or renames any column, it makes all structs anew that can have
        more nulls in the table than in the source. A null struct becomes a struct of nulls.
        """
        if not any(contains(column.type, StructType) for column in self.columns):
            return self
        return replace(self, columns=tuple(replace(c, is_cast=True) for c in self.columns))

    @property
    def is_as_is(self) -> bool:
        """Whether the model's output can be written unchanged, including nested fields."""
        return all(column.is_as_is for column in self.columns)

    @property
    def has_table_names(self) -> bool:
        """Whether the model's output spells the names of all columns as the table does."""
        return all(column.has_table_name for column in self.columns)

    @property
    def source_select_sql(self) -> str:
        """The model's columns to select, with nested fields in the table's order and types.

        Columns that the table does not have are kept: the condition of a MERGE may use them.
        """
        written = [column.select_sql for column in self.columns if column.in_source]
        return ", ".join([*written, *(quote(name) for name in self.unused)])

    @property
    def selected_sql(self) -> str:
        """What to select for a MERGE: ``*``, or ``source_select_sql`` if that is another value."""
        return "*" if self.is_as_is else self.source_select_sql


def partitions_checked_sql(source: StructType, check: ValueCheck) -> str:
    """Render the columns of a query, with a check of those that will partition a new table.

    It is empty if no column has to be checked.
    """
    columns = [WrittenColumn(field.name, field.dataType, field, check) for field in source.fields]
    if all(column.is_as_is for column in columns):
        return ""
    return ", ".join(column.select_sql for column in columns)


def chars_unchanged_sql(source: StructType, check: ValueCheck) -> str:
    """Render a condition that is true, or fails if a column of a new table would change a text.

    It is not in the select list, because an expression would make the column a string. It is empty
    if no column contains a char.
    """
    declared = with_char_types(source, check.texts)
    return " and ".join(
        _char_unchanged_sql(field, column.dataType, check)
        for field, column in zip(source.fields, declared.fields, strict=True)
        if contains(column.dataType, check.texts)
    )


def strings_sql(source: StructType) -> str:
    """Render the columns of a query so that a new table declares none of them as char or varchar.

    A column keeps its declaration, and also its comment, only if no expression is around it.
    """
    return ", ".join(
        f"{_computed_sql(quote(field.name), field.dataType)} as {quote(field.name)}"
        if contains(field.dataType, StringType)
        else quote(field.name)
        for field in source.fields
    )


def _computed_sql(value: str, data_type: DataType) -> str:
    """Render an expression for a value, which Spark's optimizer does not replace with the value.

    It removes a cast to the same type, and then finds that the query has other types than the
    table (PLAN_VALIDATION_FAILED_RULE_IN_BATCH).
    """
    if data_type == StringType():
        return f"concat({value}, '')"
    return f"transform(array({value}), value -> value)[0]"


def _char_unchanged_sql(field: StructField, column: DataType, check: ValueCheck) -> str:
    value, path = quote(field.name), (field.name,)
    if isinstance(column, check.texts):
        return f"{value} <=> {check.checked_sql(value, path, StringType(), column)}"
    # Spark can't compare maps. It has to build the whole value for its text.
    shaped = shaped_sql(value, field.dataType, column, path, check)
    return f"to_json(named_struct('checked', {shaped})) is not null"


def assigned_sql(
    value: str, path: Path, source: DataType, column: DataType, check: ValueCheck
) -> str:
    """Render a user's expression that is assigned to a column, with a check of its value.

    The expression is unchanged if its type is stored exactly. Otherwise it is evaluated once,
    because it need not return the same value again.
    """
    assigned = WrittenColumn(path_text(path), column, StructField("value", source), check)
    if len(path) == 1:
        assigned = replace(assigned, name=path[0])
    if assigned.is_as_is:
        return value
    return f"transform(array({value}\n), value -> {assigned.value_sql('value')})[0]"


def _is_checked_in_clause(
    column: WrittenColumn, updated: Sequence[str] | None, writes_every_row: bool
) -> bool:
    # The source has the keys in the types in which they are compared.
    if column.is_key or column.is_as_is:
        return False
    if updated is None:
        return not writes_every_row
    # A MERGE can update a field of a struct, whose value is then shaped in the source.
    if isinstance(column.type, StructType):
        return False
    return not writes_every_row or column.quoted not in updated


def match_columns(
    source: StructType,
    table: StructType,
    fills: bool = True,
    computed_columns: Container[str] = (),
    *,
    check: ValueCheck | None,
    keys: Container[str] = (),
) -> Write:
    """Match a model's output with the columns of its table by name, ignoring case.

    Args:
        fills: whether a column that the source lacks is filled with null. Otherwise it is selected
            from the source nevertheless, so that the engine refuses the write.
        computed_columns: the columns, in lower case, that Delta computes if the source lacks them.
        check: the check of each value that a column may not store exactly. None for no check.
        keys: the columns, in lower case, by which the write finds rows.
    """
    # A char that the source declares may have shorter texts: a union declares what its first query
    # declares.
    in_source = by_folded_name(source)
    texts = (CharType,) if check is None else check.texts
    columns = [
        WrittenColumn(
            field.name,
            field.dataType,
            in_source.get(field.name.lower(), None if fills else field),
            check,
            field.name.lower() in keys,
        )
        for field in with_char_types(table, texts).fields
        if field.name.lower() in in_source or field.name.lower() not in computed_columns
    ]
    in_table = by_folded_name(table)
    unused = [field.name for field in source.fields if field.name.lower() not in in_table]
    written = {column.name for column in columns}
    computed = (field.name for field in table.fields if field.name not in written)
    return Write(tuple(columns), tuple(unused), tuple(computed))
