"""What differs between a source's schema and a table's."""

from collections.abc import Container
from dataclasses import dataclass, field, replace

from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.side_by_side import side_by_side
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment


@dataclass(frozen=True)
class TypeDifference:
    """A leaf that the table can't store exactly as it is.

    Attributes:
        path: where, in the table's spelling.
        table: the table's type.
        source: the source's type.
        assignment: what would become of the source's values; never ``EXACT``.
    """

    path: Path
    table: DataType
    source: DataType
    assignment: StoreAssignment


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
        missing_in_source: columns and nested fields that only the table has.
        types: leaves whose values the table would not store exactly. A source that is narrower,
            or another name for the same type, is no difference.
    """

    new: tuple[FieldDifference, ...] = field(default=())
    missing_in_source: tuple[FieldDifference, ...] = field(default=())
    types: tuple[TypeDifference, ...] = field(default=())

    def __bool__(self) -> bool:
        return bool(self.new or self.missing_in_source or self.types)

    @property
    def missing_columns(self) -> tuple[str, ...]:
        """The names of the whole columns that only the table has."""
        return tuple(each.path[0] for each in self.missing_in_source if len(each.path) == 1)

    def ignoring_missing(self, columns: Container[str]) -> "SchemaDifference":
        """Give the difference without some columns that only the table has.

        Args:
            columns: their names, in lower case.
        """
        missing = tuple(
            each for each in self.missing_in_source if each.path[0].lower() not in columns
        )
        return replace(self, missing_in_source=missing)


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
    missing: list[FieldDifference] = []
    types: list[TypeDifference] = []
    for pair in side_by_side(source, table):
        if pair.right is None:
            assert pair.left is not None
            new.append(FieldDifference(pair.path, pair.left))
        elif pair.left is None:
            missing.append(FieldDifference(pair.path, pair.right))
        else:
            ours, theirs = pair.left.dataType, pair.right.dataType
            stored = store_assignment(ours, theirs)
            if stored is not StoreAssignment.EXACT:
                types.append(TypeDifference(pair.path, theirs, ours, stored))
    return SchemaDifference(tuple(new), tuple(missing), tuple(types))
