"""Find the comments of a table that differ from the descriptions of its node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, path_sql, read_name


@dataclass(frozen=True)
class ChangedComments:
    """The comments that have to be set.

    Attributes:
        description: the comment on the table. None if it is right, or not asked for.
        columns: the columns and nested fields whose comments differ, by their documented names, as
            ``model.columns`` has them. Each has its ``path_sql`` too.
        missing: the documented names that the table does not have.
    """

    description: str | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def changed_comments(
    backend: SqlBackend,
    table: SparkRelation,
    description: str,
    columns: Mapping[str, Mapping[str, Any]],
) -> ChangedComments:
    """Compare the comments of a table with the descriptions of its node.

    Args:
        backend: reads the comments.
        description: the description of the node. If it is empty, the table keeps its comment.
        columns: the documented columns, as ``model.columns`` has them. The name of a nested field
            is a path, such as ``s.x``.
    """
    changed = {}
    missing = []
    existing = _comments(backend, table, columns) if columns else {}
    for name, column in columns.items():
        path = next((each for each in ((name,), read_name(name)) if folded(each) in existing), None)
        if path is None:
            missing.append(name)
            continue
        # A later name that differs in case only is the same column.
        changed[folded(path)] = name, {**column, "path_sql": path_sql(path)}
    return ChangedComments(
        description=description
        if description != _table_comment(backend, table, description)
        else None,
        columns={
            name: column
            for path, (name, column) in changed.items()
            if (column.get("description") or "") != existing[path]
        },
        missing=tuple(missing),
    )


def _table_comment(backend: SqlBackend, table: SparkRelation, description: str) -> str | None:
    return backend.comment(table) if description else description


def _comments(
    backend: SqlBackend, table: SparkRelation, columns: Mapping[str, Any]
) -> dict[Path, str]:
    has_nested = any(len(read_name(name)) > 1 for name in columns)
    return dict(_comments_in(backend.commented_schema(table, has_nested)))


def _comments_in(data_type: DataType, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the comment of each field at every depth, by the field's path in lower case."""
    if isinstance(data_type, StructType):
        for each in data_type.fields:
            inner = (*path, each.name.lower())
            yield inner, each.metadata.get("comment") or ""
            yield from _comments_in(each.dataType, inner)
    elif isinstance(data_type, ArrayType):
        yield from _comments_in(data_type.elementType, (*path, "element"))
    elif isinstance(data_type, MapType):
        yield from _comments_in(data_type.keyType, (*path, "key"))
        yield from _comments_in(data_type.valueType, (*path, "value"))
