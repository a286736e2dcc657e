"""After the run of a widening: rewrite the older files, in which filters of Spark can miss rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.events.format import pluralize
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.policy import RewriteLimit, read_rewrite_limit
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.delta.stale_types import misread_by_filters
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.delta.widened_files import misread_columns, misread_files
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.sizes import size_text
from dbt.adapters.deltawiden.sql.types import schema_from_json
from dbt.adapters.deltawiden.widening.report import misread_text
from dbt.adapters.deltawiden.writing.rows_kept import require_rows_kept


@dataclass(frozen=True)
class Rewritten:
    """The files that were rewritten after a run, and the line for people about it, if any."""

    files: int = 0
    bytes: int = 0
    text: str = ""


def rewrite_older_files(
    backend: SqlBackend,
    table: SparkRelation,
    changes: Iterable[TypeChange],
    limit: RewriteLimit,
    changed_by: str,
) -> Rewritten:
    """Rewrite the files from before a widening in which filters misread a column, up to a limit.

    Nothing is read unless one of the changes is such a widening. No error is raised: after it, an
    ``append`` model would be run again, and write its rows twice.
    """
    made = _misread(changes)
    if not made or not table.is_delta:
        return Rewritten()
    try:
        with backend.tagged_commits(changed_by):
            return _rewrite(backend, table, made, limit)
    except Exception as error:
        name = relation_sql(table)
        logger.warning(
            f"Files of {name} from before the widening were not all rewritten: "
            f"{getattr(error, 'msg', error)}\n"
            f"{misread_text(name, [change.path for change in made])} The rows of this run are "
            "committed, unless it stops with another error. Do not run the model again for this: "
            "an `append` model would write them twice."
        )
        return Rewritten()


def _rewrite(
    backend: SqlBackend, table: SparkRelation, changes: Sequence[TypeChange], limit: RewriteLimit
) -> Rewritten:
    name = relation_sql(table)
    schema = backend.table_schema(table)
    columns = misread_columns(changes, schema, backend.snapshot(table).partition_columns)
    if not columns:
        return Rewritten()
    if limit.is_never:
        return _not_rewritten(name, columns, "")
    files = backend.data_files(table)
    if not files.rewrites_single_files and not limit.is_asked_for:
        return _not_rewritten(name, columns, f"they can only be rewritten {files.rewrite_text}")
    listed = files.list()
    if limit.table_files is not None and len(listed) > limit.table_files:
        return _not_rewritten(name, columns, f"the table has {pluralize(len(listed), 'file')}")
    in_log = schema_from_json(files.log_schema())
    older = misread_files(files, listed, in_log, columns)
    size = sum(each.file.size for each in older)
    if limit.size is not None and size > limit.size:
        return _not_rewritten(name, columns, f"they have {size_text(size)}")
    if not older:
        return Rewritten()
    require_rows_kept(backend, table, schema)
    files.rewrite(older)
    names = ", ".join(map(path_text, columns))
    return Rewritten(
        len(older),
        size,
        f"{name}: rewrote {pluralize(len(older), 'file')} ({size_text(size)}) from before the "
        f"change of {names}, so that filters of every Spark find their rows",
    )


def left_after_run(
    backend: SqlBackend,
    table: SparkRelation,
    changes: Iterable[TypeChange],
    schema: StructType,
    limit: RewriteLimit,
) -> tuple[Path, ...]:
    """Return the columns whose older files the next run will not rewrite, although filters misread.

    The sizes of the files that are older at the end of the run are not known yet, so the whole
    table is compared with the limit.

    Args:
        changes: the type changes that the run will make.
        schema: the table's schema after them.
    """
    made = _misread(changes)
    if not made or not table.is_delta:
        return ()
    snapshot = backend.snapshot(table)
    columns = misread_columns(made, schema, snapshot.partition_columns)
    if not columns or (
        limit.allows(snapshot.files or 0, snapshot.size)
        and (limit.is_asked_for or backend.data_files(table).rewrites_single_files)
    ):
        return ()
    return columns


def misread_after(backend: SqlBackend, table: SparkRelation, changes: Iterable[TypeChange]) -> str:
    """Say what filters can miss after type changes without a run. Empty if they miss nothing."""
    schema, never = backend.table_schema(table), read_rewrite_limit(False)
    left = left_after_run(backend, table, changes, schema, never)
    return misread_text(relation_sql(table), left) if left else ""


def _misread(changes: Iterable[TypeChange]) -> list[TypeChange]:
    return [change for change in changes if misread_by_filters(change.from_type, change.to_type)]


def _not_rewritten(name: str, columns: Sequence[Path], why: str) -> Rewritten:
    reason = f"{name}: files from before the change were not rewritten" + (
        f", because {why}. " if why else ". "
    )
    return Rewritten(text=reason + misread_text(name, columns))
