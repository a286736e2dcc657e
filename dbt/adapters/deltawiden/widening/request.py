"""Read and check the type changes that a person requests for a table."""

from collections.abc import Mapping

from pyspark.sql.types import CharType, DataType, StructField, StructType, VarcharType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import Path, parse_path, path_text
from dbt.adapters.deltawiden.sql.types import UnknownType, fields_in, parse_type


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
    """Find a leaf of a schema by its path, in any case: its path in the schema, and its type.

    Raises:
        NoSuchLeaf: there is no such column or field, or it is not a leaf.
    """
    found, data_type = find_field(path, table)
    if fields_in(data_type):
        raise NoSuchLeaf(f"is not a leaf; name one of: {_paths(found, data_type)}")
    return found, data_type


def find_field(path: Path, table: StructType) -> tuple[Path, DataType]:
    """Find a column or nested field, a leaf or not, as ``find_leaf`` does."""
    # The declaration of a char can be older than a rename inside its column.
    current: DataType = with_char_types(table, (CharType, VarcharType))
    found: list[str] = []
    for part in path:
        field = _field_in(current, part, tuple(found))
        found.append(field.name)
        current = field.dataType
    return tuple(found), current


def _field_in(current: DataType, name: str, found: Path) -> StructField:
    inside = {field.name.lower(): field for field in fields_in(current)}
    if not inside:
        raise NoSuchLeaf(f"there is nothing inside {path_text(found)}, it is a leaf")
    if name.lower() not in inside:
        raise NoSuchLeaf(f"no such column or field; there are: {_paths(found, current)}")
    return inside[name.lower()]


def _paths(path: Path, data_type: DataType) -> str:
    return ", ".join(path_text((*path, field.name)) for field in fields_in(data_type))
