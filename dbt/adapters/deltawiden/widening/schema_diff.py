"""Compare the schemas of a source and a table, and compute the table's after a plan."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.side_by_side import by_folded_name, side_by_side
from dbt.adapters.deltawiden.sql.types import fields_in, with_types_in
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment


@dataclass(frozen=True)
class TypeDifference:
    """A leaf of the source that the table can't store exactly with its current type.

    Its path has the table's spelling. The assignment is never ``EXACT``.
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
        """Return the difference without some columns, in lower case, that only the table has.

        A field in such a column stays: the model has the column, so that Delta does not fill it.
        """
        missing = tuple(
            field
            for field in self.missing_in_source
            if len(field.path) > 1 or field.path[0].lower() not in columns
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


@dataclass(frozen=True)
class SchemaChanges:
    """The changes of a schema, by path.

    Attributes:
        new: the fields to add at the end of the struct at a path. The root's path is empty.
        renamed: the new name by the path from before all changes.
    """

    types: Mapping[Path, DataType] = field(default_factory=dict)
    new: Mapping[Path, tuple[StructField, ...]] = field(default_factory=dict)
    dropped: frozenset[Path] = frozenset()
    renamed: Mapping[Path, str] = field(default_factory=dict)

    @cached_property
    def touched(self) -> frozenset[Path]:
        """The paths with a change at or below them. The rest of a schema does not change."""
        changed = (*self.types, *self.new, *self.dropped, *self.renamed)
        return frozenset(path[:end] for path in changed for end in range(1, len(path) + 1))


def schema_at_write(
    table: StructType, changes: tuple[TypeChange, ...], new: tuple[FieldDifference, ...]
) -> StructType:
    """Return a table's schema after the type changes and the new columns of a plan."""
    added: dict[Path, tuple[StructField, ...]] = {}
    for each in new:
        parent = each.path[:-1]
        added[parent] = (*added.get(parent, ()), each.field)
    types = {change.path: change.to_type for change in changes}
    return schema_after(SchemaChanges(types, added), table)


def schema_after(changes: SchemaChanges, schema: StructType) -> StructType:
    """Apply changes, with paths in the schema's spelling. New fields come last, as in Delta."""
    after = _after(changes, schema, ())
    assert isinstance(after, StructType)
    return after


def _after(changes: SchemaChanges, before: DataType, path: Path) -> DataType:
    if path and path not in changes.touched:
        return before
    inside = [(field, (*path, field.name)) for field in fields_in(before)]
    types = [_after(changes, field.dataType, place) for field, place in inside]
    after = with_types_in(before, types)
    if not isinstance(after, StructType):
        return changes.types.get(path, after)
    pairs = zip(after.fields, inside, strict=True)
    kept = [
        _renamed(field, changes.renamed[place]) if place in changes.renamed else field
        for field, (_, place) in pairs
        if place not in changes.dropped
    ]
    return StructType([*kept, *changes.new.get(path, ())])


def _renamed(field: StructField, name: str) -> StructField:
    return StructField(name, field.dataType, field.nullable, field.metadata)
