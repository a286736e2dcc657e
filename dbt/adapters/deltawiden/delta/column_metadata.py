"""Read the metadata of columns from the schema in a Delta table's log."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.stale_types import PHYSICAL_NAME
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.describe_parser import CHAR_VARCHAR_KEY
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.types import UnknownType, parse_type, schema_from_json, walk

TYPE_CHANGES = "delta.typeChanges"
GENERATION_EXPRESSION = "delta.generationExpression"
IDENTITY = "delta.identity."
CURRENT_DEFAULT = "CURRENT_DEFAULT"

_COLLECTIONS = {
    "array": (("element", "elementType"),),
    "map": (("key", "keyType"), ("value", "valueType")),
}


@dataclass(frozen=True)
class ColumnMetadata:
    """The metadata of a table's columns in its log.

    Attributes:
        generated: the names of the generated columns, with their expressions.
        texts: the names of the columns with a char or varchar, with their declared types.
    """

    changes: tuple[TypeChange, ...] = ()
    generated: tuple[tuple[str, str], ...] = ()
    identity: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def read_metadata(schema_json: str) -> ColumnMetadata:
    """Read the metadata of a table's columns from the ``schemaString`` in its log.

    Raises:
        DbtRuntimeError: it is not JSON, or a recorded type is unknown: a newer Delta wrote it.

    Source:
        Delta's protocol, "Schema Serialization Format", "Column Metadata", "Type Change Metadata"
        and "Default Columns"
    """
    try:
        columns = json.loads(schema_json)["fields"]
    except ValueError as error:
        raise DbtRuntimeError(f"The schema in the table's log is not JSON: {error}") from error
    expressions = ((column, column["metadata"].get(GENERATION_EXPRESSION)) for column in columns)
    return ColumnMetadata(
        changes=tuple(change for column in columns for change in _of_field(column, ())),
        generated=tuple((column["name"], text) for column, text in expressions if text is not None),
        identity=tuple(
            column["name"]
            for column in columns
            if any(key.startswith(IDENTITY) for key in column["metadata"])
        ),
        defaults=tuple(
            column["name"] for column in columns if CURRENT_DEFAULT in column["metadata"]
        ),
        texts=tuple(
            (column["name"], column["metadata"][CHAR_VARCHAR_KEY])
            for column in columns
            if CHAR_VARCHAR_KEY in column["metadata"]
        ),
    )


def earlier_changes(schema_json: str, earlier: Iterable[str]) -> tuple[TypeChange, ...]:
    """Read the type changes in earlier schemas of a table, with the paths that it has now.

    Source:
        Delta's protocol, "Column Mapping": a renamed column keeps its physical name
    """
    found = [c for text in earlier for c in read_metadata(_with_physical_names(text)).changes]
    if not found:
        return ()
    texts = (_with_physical_names(schema_json), schema_json)
    physical, current = ([path for path, _ in walk(schema_from_json(text))] for text in texts)
    now = dict(zip(physical, current, strict=True))
    renamed = (replace(each, path=now[each.path]) for each in found if each.path in now)
    return tuple(dict.fromkeys(renamed))


def _with_physical_names(schema_json: str) -> str:
    def renamed(found: dict[str, Any]) -> dict[str, Any]:
        metadata = found.get("metadata")
        if not isinstance(metadata, dict):
            return found
        return {**found, "name": metadata.get(PHYSICAL_NAME, found.get("name"))}

    return json.dumps(json.loads(schema_json, object_hook=renamed))


def _of_field(field: dict[str, Any], parent: Path) -> Iterator[TypeChange]:
    path = (*parent, field["name"])
    for change in field["metadata"].get(TYPE_CHANGES, ()):
        # This path consists of element, key and value only. No part of it can contain a dot.
        inside = tuple(change["fieldPath"].split(".")) if change.get("fieldPath") else ()
        yield _recorded((*path, *inside), change["fromType"], change["toType"])
    yield from _inside(field["type"], path)


def _recorded(path: Path, from_type: str, to_type: str) -> TypeChange:
    try:
        return TypeChange(path, parse_type(from_type), parse_type(to_type))
    except UnknownType as error:
        raise DbtRuntimeError(
            f"The table's log records that {path_text(path)} was widened from {from_type} to "
            f"{to_type}, and this version of dbt-deltawiden does not know one of these types. "
            f"Install a newer version. {error}"
        ) from error


def _inside(data_type: Any, path: Path) -> Iterator[TypeChange]:
    if not isinstance(data_type, dict):
        return
    for field in data_type.get("fields", ()):
        yield from _of_field(field, path)
    for name, key in _COLLECTIONS.get(data_type["type"], ()):
        yield from _inside(data_type[key], (*path, name))
