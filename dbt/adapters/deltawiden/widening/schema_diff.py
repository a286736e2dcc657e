"""Compare the schemas of a source and a table."""

from collections.abc import Container
from dataclasses import dataclass, field, replace

from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.side_by_side import by_folded_name, side_by_side
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment


@dataclass(frozen=True)
class TypeDifference:
    """A leaf of the source that the table can't store exactly with its current type.

    Attributes:
        path: the leaf, in the table's spelling.
        assignment: how the table would store the source's values. Never ``EXACT``.
    """

    path: Path
    table: DataType
    source: DataType
    assignment: StoreAssignment


@dataclass(frozen=True)
class FieldDifference:
    """A column or nested field that only one schema has. Its path has that schema's spelling."""

    path: Path
    field: StructField


@dataclass(frozen=True)
class SchemaDifference:
    """The differences of two schemas, in the order of the schemas.

    Attributes:
        new: columns and nested fields that only the source has.
        missing_in_source: columns and nested fields that only the table has.
        types: leaves that the table would not store exactly. A narrower type in the source, or
            another name for the same type, is not a difference.
    """

    new: tuple[FieldDifference, ...] = field(default=())
    missing_in_source: tuple[FieldDifference, ...] = field(default=())
    types: tuple[TypeDifference, ...] = field(default=())

    def __bool__(self) -> bool:
        return bool(self.new or self.missing_in_source or self.types)

    @property
    def missing_columns(self) -> tuple[str, ...]:
        """The names of the columns that only the table has, without nested fields."""
        return tuple(column.path[0] for column in self.missing_in_source if len(column.path) == 1)

    def ignoring_missing(self, columns: Container[str]) -> "SchemaDifference":
        """Return the difference without some columns, in lower case, that only the table has."""
        missing = tuple(
            field for field in self.missing_in_source if field.path[0].lower() not in columns
        )
        return replace(self, missing_in_source=missing)


def compare(source: StructType, table: StructType) -> SchemaDifference:
    """Compare the schema of a model's output with that of its table.

    Names are compared without regard to case, as in Delta: ``by_folded_name``. The order of columns
    and fields does not matter. The result is false if there are no differences.
    """
    new: list[FieldDifference] = []
    missing: list[FieldDifference] = []
    types: list[TypeDifference] = []
    for pair in side_by_side(*_unequal_columns(source, table)):
        if pair.right is None:
            assert pair.left is not None
            new.append(FieldDifference(pair.path, pair.left))
        elif pair.left is None:
            missing.append(FieldDifference(pair.path, pair.right))
        else:
            source_type, table_type = pair.left.dataType, pair.right.dataType
            assignment = store_assignment(source_type, table_type)
            if not assignment.fits:
                types.append(TypeDifference(pair.path, table_type, source_type, assignment))
    return SchemaDifference(tuple(new), tuple(missing), tuple(types))


def _unequal_columns(source: StructType, table: StructType) -> tuple[StructType, StructType]:
    """Return both schemas without the columns whose types are equal.

    Most columns are, and to compare whole types is much faster than to compare each field.
    """
    stored = by_folded_name(table)
    equal = {
        name
        for name, column in by_folded_name(source).items()
        if name in stored and column.dataType == stored[name].dataType
    }
    return _without(source, equal), _without(table, equal)


def _without(schema: StructType, names: Container[str]) -> StructType:
    return StructType([column for column in schema.fields if column.name.lower() not in names])
