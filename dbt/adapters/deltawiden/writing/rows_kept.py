"""Check that the rows which a statement writes again keep their values."""

from collections.abc import Iterable

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError, DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.references import uses
from dbt.adapters.deltawiden.writing.partition_values import IN_PROFILE, require_moments_kept


class ValuesRecomputed(CompilationError):
    """Generated columns of rows that are written again would change. Nothing was written."""


def require_rows_kept(
    backend: SqlBackend, table: SparkRelation, schema: StructType | None = None
) -> None:
    """Check that a Delta table's rows keep their values if a statement writes them again.

    Raises:
        MomentsMoved: ``require_moments_kept`` says when, and what the arguments are.
        ValuesRecomputed: ``require_generated_kept`` says when.
    """
    require_moments_kept(backend, table, schema)
    require_generated_kept(backend, table)


def require_generated_kept(backend: SqlBackend, table: SparkRelation) -> None:
    """Check that generated columns have the values that their expressions have in this session.

    In another time zone, for example, a timestamp can have another date. Delta computes a generated
    column again that an UPDATE or a MERGE does not set, and a rewrite of files fails.

    Raises:
        ValuesRecomputed: a row has another value.

    Source:
        Delta's ``UpdateExpressionsSupport`` and ``ColumnWithDefaultExprUtils``
    """
    if not table.is_delta:
        return
    name, expressions = relation_sql(table), backend.snapshot(table).comparable_expressions
    # An expression can end with a comment.
    differ = {quote(c): f"not ({quote(c)} <=> ({text}\n))" for c, text in expressions.items()}
    if not differ:
        return
    found = ", ".join(f"if({differs}, {literal(c)}, null)" for c, differs in differ.items())
    condition = " or ".join(differ.values())
    query = f"select concat_ws(', ', {found}) from {name} where {condition} limit 1"
    for row in backend.fetch_rows(query):
        computed = ", ".join(f"{quote(c)} = {text}" for c, text in expressions.items())
        raise ValuesRecomputed(
            f"{name} has rows in which the expression of {row[0]} has another result in this "
            f"session, whose time zone is {backend.time_zone()}. Delta computes generated columns "
            "again in rows that are written again, so these values would change. The statement "
            "that writes these rows did not run. Run it with spark.sql.session.timeZone: ZONE "
            f"{IN_PROFILE}. ZONE is the time zone of the session that wrote the rows. This changes "
            "what models compute of dates and hours, so set it in a target of its own. If sessions "
            "with several time zones wrote them, first give all rows the values of one: "
            f"update {name} set {computed}"
        )


def generated_without(snapshot: TableSnapshot, assigned: Iterable[Path]) -> list[str]:
    """Name the generated columns that an UPDATE of these columns and fields gives no new value.

    Delta would compute them again. It is not known which ones there are if the table's log can't be
    read, for example because a catalog has its commits.
    """
    try:
        kept = snapshot.comparable_expressions
    except DbtRuntimeError as error:
        logger.debug(f"{snapshot.name}: its generated columns are not known: {error}")
        return []
    for path in assigned:
        kept = {
            name: text
            for name, text in kept.items()
            if name.lower() != path[0].lower() and not uses(text, path, snapshot.schema)
        }
    return list(kept)
