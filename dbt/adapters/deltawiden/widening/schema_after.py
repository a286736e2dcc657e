"""Compute the schema of a table after a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.widening.schema_diff import FieldDifference


@dataclass(frozen=True)
class SchemaChanges:
    """The changes of a schema, by path.

    Attributes:
        new: the fields to add at the end of the struct at a path. The root's path is empty.
    """

    types: Mapping[Path, DataType] = field(default_factory=dict)
    new: Mapping[Path, tuple[StructField, ...]] = field(default_factory=dict)
    dropped: frozenset[Path] = frozenset()

    @cached_property
    def touched(self) -> frozenset[Path]:
        """The paths with a change at or below them. The rest of a schema does not change."""
        changed = (*self.types, *self.new, *self.dropped)
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
    """Apply changes to a schema.

    Args:
        changes: the changes, with paths in the schema's spelling.

    Returns:
        The schema after. The fields keep their order. New fields come last, as in Delta.
    """
    return _struct(changes, schema, ())


def _struct(changes: SchemaChanges, struct: StructType, path: Path) -> StructType:
    kept = [
        _field(changes, field, (*path, field.name))
        for field in struct.fields
        if (*path, field.name) not in changes.dropped
    ]
    return StructType([*kept, *changes.new.get(path, ())])


def _field(changes: SchemaChanges, before: StructField, path: Path) -> StructField:
    if path not in changes.touched:
        return before
    after = _type(changes, before.dataType, path)
    return StructField(before.name, after, before.nullable, before.metadata)


def _type(changes: SchemaChanges, before: DataType, path: Path) -> DataType:
    if isinstance(before, StructType):
        return _struct(changes, before, path)
    if isinstance(before, ArrayType):
        element = _type(changes, before.elementType, (*path, "element"))
        return ArrayType(element, before.containsNull)
    if isinstance(before, MapType):
        key = _type(changes, before.keyType, (*path, "key"))
        value = _type(changes, before.valueType, (*path, "value"))
        return MapType(key, value, before.valueContainsNull)
    return changes.types.get(path, before)
