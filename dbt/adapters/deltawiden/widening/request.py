"""Read and check the type changes that a person requests for a table."""

from collections.abc import Iterator, Mapping

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.describe_parser import declared_type
from dbt.adapters.deltawiden.sql.identifiers import Path, parse_path, path_text
from dbt.adapters.deltawiden.sql.side_by_side import by_folded_name
from dbt.adapters.deltawiden.sql.types import UnknownType, parse_type


class InvalidRequest(ValueError):
    """A column or type in the request does not exist. The message lists every problem."""


class NoSuchLeaf(ValueError):
    """A schema has no leaf with a path. The message says what it has."""


def read_request(columns: Mapping[str, str], table: StructType) -> tuple[TypeChange, ...]:
    """Read the type changes that a person requests.

    Args:
        columns: the requested type by column path, both as text: ``{"s.x": "decimal(12,2)"}``.

    Raises:
        InvalidRequest: a path is not in the table or is not a leaf, or a type is unknown.
    """
    problems: list[str] = []
    changes: list[TypeChange] = []
    for path_given, type_given in columns.items():
        try:
            path, current = find_leaf(parse_path(str(path_given)), table)
            if path in (change.path for change in changes):
                raise ValueError("names the same column as another entry of the request")
            changes.append(TypeChange(path, current, parse_type(str(type_given))))
        except (UnknownType, ValueError) as problem:
            problems.append(f"{path_given}: {problem}")
    if problems:
        raise InvalidRequest("\n".join(problems))
    return tuple(changes)


def find_leaf(path: Path, table: StructType) -> tuple[Path, DataType]:
    """Find a leaf of a schema by its path. Ignore case.

    Returns:
        The path in the schema's spelling, and the leaf's type.

    Raises:
        NoSuchLeaf: there is no such column or field, or it is not a leaf.
    """
    declared = [StructField(column.name, declared_type(column)) for column in table.fields]
    found: list[str] = []
    current: DataType = StructType(declared)
    for part in path:
        name, current = _step(part, current, tuple(found))
        found.append(name)
    inside = [name for name, _ in _children(current)]
    if inside:
        raise NoSuchLeaf(f"is not a leaf; name one of: {_paths(tuple(found), inside)}")
    return tuple(found), current


def _step(part: str, current: DataType, found: Path) -> tuple[str, DataType]:
    children = {name.lower(): (name, data) for name, data in _children(current)}
    if part.lower() not in children:
        names = [name for name, _ in _children(current)]
        if not names:
            raise NoSuchLeaf(f"there is nothing inside {path_text(found)}, it is a leaf")
        raise NoSuchLeaf(f"no such column or field; there are: {_paths(found, names)}")
    return children[part.lower()]


def _children(current: DataType) -> Iterator[tuple[str, DataType]]:
    if isinstance(current, StructType):
        for field in by_folded_name(current).values():
            yield field.name, field.dataType
    elif isinstance(current, ArrayType):
        yield "element", current.elementType
    elif isinstance(current, MapType):
        yield "key", current.keyType
        yield "value", current.valueType


def _paths(parent: Path, names: list[str]) -> str:
    return ", ".join(path_text((*parent, name)) for name in names)
