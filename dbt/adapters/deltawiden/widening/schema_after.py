"""Compute the schema of a table after a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.types import fields_in, with_types_in
from dbt.adapters.deltawiden.widening.schema_diff import FieldDifference


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
