"""What is written to each column of a table, as SQL over the model's output."""

from collections.abc import Container
from dataclasses import dataclass

from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.widening.diff import by_folded_name
from dbt.adapters.deltawiden.widening.names import quote
from dbt.adapters.deltawiden.widening.project import is_as_is, shaped_sql
from dbt.adapters.deltawiden.widening.types import type_sql


@dataclass(frozen=True)
class WrittenColumn:
    """A column of the table at the time of the write.

    Attributes:
        name: its name, as the table spells it.
        type: its type.
        source: the column of the model's output that is written to it, or None for null.
    """

    name: str
    type: DataType
    source: StructField | None

    @property
    def quoted(self) -> str:
        """The name, quoted for a statement."""
        return quote(self.name)

    @property
    def column(self) -> str:
        """The name, under the attribute that dbt's columns have it."""
        return self.name

    @property
    def in_source(self) -> bool:
        """Whether the model's output has it."""
        return self.source is not None

    @property
    def is_as_is(self) -> bool:
        """Whether the source's value can be written as it is, nested fields included."""
        return self.source is None or is_as_is(self.source.dataType, self.type)

    @property
    def select_sql(self) -> str:
        """What to select for it from the model's output."""
        if self.source is None:
            return f"cast(null as {type_sql(self.type)}) as {self.quoted}"
        value = quote(self.source.name)
        shaped = shaped_sql(value, self.source.dataType, self.type)
        return value if shaped == value else f"{shaped} as {self.quoted}"


@dataclass(frozen=True)
class Write:
    """A write of a model's output to its table.

    Attributes:
        columns: the table's columns that are written, in its order.
        unused: columns of the model's output that the table has not.
        leaves_out: whether the table has columns that are not written, because it makes their
            values itself.
    """

    columns: tuple[WrittenColumn, ...] = ()
    unused: tuple[str, ...] = ()
    leaves_out: bool = False

    @property
    def can_merge_all(self) -> bool:
        """Whether a MERGE may write ``*`` for the table's columns.

        It may not where the source lacks one (DELTA_MERGE_UNRESOLVED_EXPRESSION), nor where a
        name contains a backtick, which Delta does not quote when it replaces the star
        (INVALID_ATTRIBUTE_NAME_SYNTAX).
        """
        return not self.leaves_out and all(
            each.in_source and "`" not in each.name for each in self.columns
        )

    @property
    def is_as_is(self) -> bool:
        """Whether the model's output can be written as it is, nested fields included."""
        return all(each.is_as_is for each in self.columns)

    @property
    def source_select_sql(self) -> str:
        """The model's columns, nested fields in the order and types of the table's, to select.

        Columns that the table has not are kept: a MERGE's condition may use them.
        """
        written = [each.select_sql for each in self.columns if each.in_source]
        return ", ".join([*written, *(quote(each) for each in self.unused)])


def write_of(
    source: StructType,
    table: StructType,
    fills: bool = True,
    left_out: Container[str] = (),
) -> Write:
    """Match a model's output with the columns of its table, by name without regard to case.

    Args:
        source: the schema of the model's output.
        table: the table's schema at the time of the write.
        fills: whether a column that the source lacks is filled with null. Otherwise it is selected
            from the source all the same, so that the engine refuses the write.
        left_out: the columns, in lower case, that Delta makes itself where the source lacks them.

    Returns:
        The write.
    """
    in_source = by_folded_name(source)
    columns = [
        WrittenColumn(
            each.name, each.dataType, in_source.get(each.name.lower(), None if fills else each)
        )
        for each in table.fields
        if each.name.lower() in in_source or each.name.lower() not in left_out
    ]
    in_table = by_folded_name(table)
    unused = [each.name for each in source.fields if each.name.lower() not in in_table]
    return Write(tuple(columns), tuple(unused), leaves_out=len(columns) < len(table.fields))
