"""Find the comments of a table that differ from the descriptions of its node, and set them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.conflicts import retry_same_commit
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, path_sql, read_name
from dbt.adapters.deltawiden.sql.types import walk
from dbt.adapters.deltawiden.writes.after_run import text_after_write


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
        description=description if description and description != backend.comment(table) else None,
        columns={
            name: column
            for path, (name, column) in changed.items()
            if (column.get("description") or "") != existing[path]
        },
        missing=tuple(missing),
    )


def set_comments(backend: SqlBackend, table: SparkRelation, statement: str) -> None:
    """Run a statement that sets comments after the rows of a node are written.

    Raises:
        DbtRuntimeError: the engine refused it, or other writers came first each time.
    """
    try:
        retry_same_commit(partial(backend.execute, statement))
    except DbtRuntimeError as error:
        failed = "This statement, which persist_docs"
        do = "The next run sets the comments that are missing."
        error.msg = text_after_write(table, failed, statement, error, do)
        raise


def _comments(
    backend: SqlBackend, table: SparkRelation, columns: Mapping[str, Any]
) -> dict[Path, str]:
    has_nested = any(len(read_name(name)) > 1 for name in columns)
    return {
        folded((*path, field.name)): field.metadata.get("comment") or ""
        for path, data_type in walk(backend.commented_schema(table, has_nested))
        if isinstance(data_type, StructType)
        for field in data_type.fields
    }
