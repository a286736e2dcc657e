"""Find the comments of a table that differ from the descriptions of its node, and set them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.config.model import file_format_of
from dbt.adapters.deltawiden.config.project_macros import is_replaced
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.conflicts import retry_same_commit
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, path_sql, read_name
from dbt.adapters.deltawiden.sql.types import walk
from dbt.adapters.deltawiden.warnings import warn_as_macro
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.writes.optimize_after_run import text_after_write

_COMMENTED_FORMATS = ("delta", "hudi", "iceberg")

Columns = Mapping[str, Mapping[str, Any]]
"""Documented columns, as ``model.columns`` has them. The name of a nested field is a path, such as
``s.x``."""


@dataclass(frozen=True)
class ChangedComments:
    """The comments that have to be set.

    Attributes:
        description: the comment on the table. None if it is right, or not asked for.
        columns: the columns and nested fields whose comments differ, by their documented names.
            Each has its ``path_sql`` too.
    """

    description: str | None = None
    columns: Columns = field(default_factory=dict)


class Comments:
    """The comments of the tables of one adapter."""

    def __init__(self, backend: SqlBackend) -> None:
        self._backend = backend

    def changed(self, table: SparkRelation, description: str, columns: Columns) -> ChangedComments:
        """Compare the comments of a table with the descriptions of its node.

        Args:
            description: the description of the node. If it is empty, the table keeps its comment.
        """
        changed = {}
        existing = self._of_columns(table, columns) if columns else {}
        warn_of_missing(table, columns, existing, is_late=True)
        for name, column in columns.items():
            if path := _find(name, existing):
                # A later name that differs in case only is the same column.
                changed[folded(path)] = name, {**column, "path_sql": path_sql(path)}
        differs = description and description != self._backend.comment(table)
        return ChangedComments(
            description=description if differs else None,
            columns={
                name: column
                for path, (name, column) in changed.items()
                if (column.get("description") or "") != existing[path]
            },
        )

    def set(self, table: SparkRelation, statement: str) -> None:
        """Run a statement that sets comments after the rows of a node are written.

        Raises:
            DbtRuntimeError: the engine refused it, or other writers came first each time.
        """
        try:
            retry_same_commit(partial(self._backend.execute, statement))
        except DbtRuntimeError as error:
            failed = "This statement, which persist_docs"
            do = "The next run sets the comments that are missing."
            error.msg = text_after_write(table, failed, statement, error, do)
            raise

    def _of_columns(self, table: SparkRelation, columns: Columns) -> dict[Path, str]:
        has_nested = any(len(read_name(name)) > 1 for name in columns)
        fields = _fields(self._backend.commented_schema(table, has_nested))
        return {path: found.metadata.get("comment") or "" for path, found in fields.items()}


def warn_of_missing_in_query(
    backend: SqlBackend, context: Mapping[str, Any], query: str, table: SparkRelation
) -> None:
    """Warn of documented columns that the table of a query will not have.

    Raises:
        EventCompilationError: ``--warn-error`` makes an error of the warning.
        DbtDatabaseError: the query is not valid.
    """
    if columns := _commented_by_run(context):
        warn_of_missing(table, columns, _fields(backend.schema_to_check(query)))


def warn_of_missing_in_plan(context: Mapping[str, Any], plan: Plan, table: SparkRelation) -> None:
    """Warn of documented columns that an existing table will not have after a write.

    Raises:
        EventCompilationError: ``--warn-error`` makes an error of the warning.
    """
    columns = _commented_by_run(context)
    if not columns:
        return
    written = [StructField(column.name, column.type) for column in plan.write.columns]
    existing = {*_fields(StructType(written))} - {folded(each.path) for each in plan.dropped}
    # The plan has no fields of the columns that Delta computes.
    computed = {name.lower() for name in plan.write.computed}
    others = {
        name: column
        for name, column in columns.items()
        if not computed & {name.lower(), read_name(name)[0].lower()}
    }
    warn_of_missing(table, others, existing)


def warn_of_missing_in_seed(
    seed: Mapping[str, Any], names: Collection[str], table: BaseRelation
) -> None:
    """Warn of documented columns that a seed does not have, as ``warn_of_missing_in_plan``."""
    existing = {folded((name,)) for name in names}
    warn_of_missing(table, _commented(seed["config"], seed), existing)


def warn_of_missing(
    table: BaseRelation, columns: Columns, existing: Collection[Path], is_late: bool = False
) -> None:
    """Warn of documented columns that a table does not have.

    Args:
        existing: the paths of its columns and nested fields, in lower case.
        is_late: whether its rows are written: the materialization of a project does not ask before.
    """
    missing = [name for name in columns if _find(name, existing) is None]
    if missing:
        warn_as_macro(
            f"In relation {table.render()}: The following columns are specified in the schema but "
            f"are not present in the database: {', '.join(missing)}",
            is_late=is_late,
        )


def _commented_by_run(context: Mapping[str, Any]) -> Columns:
    """Return the columns that get a comment. A macro of the project can set other ones."""
    if is_replaced(context, "persist_docs"):
        return {}
    return _commented(context["config"], context["model"])


def _commented(config: Any, node: Mapping[str, Any]) -> Columns:
    """Return the columns of a node that get a comment, if its configuration asks for that."""
    persisted = config.get("persist_docs")
    is_asked = isinstance(persisted, Mapping) and persisted.get("columns")
    if not is_asked or file_format_of(config) not in _COMMENTED_FORMATS:
        return {}
    return node.get("columns") or {}


def _fields(schema: StructType) -> dict[Path, StructField]:
    """Return the columns and nested fields of a schema by their paths, in lower case."""
    structs = ((path, each) for path, each in walk(schema) if isinstance(each, StructType))
    return {folded((*path, each.name)): each for path, struct in structs for each in struct.fields}


def _find(name: str, existing: Collection[Path]) -> Path | None:
    """Return the path that a documented name means: a name with dots can be one column's."""
    return next((each for each in ((name,), read_name(name)) if folded(each) in existing), None)
