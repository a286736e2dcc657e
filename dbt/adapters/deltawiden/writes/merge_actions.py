"""Check the columns and values that the configuration of a model writes in its MERGE."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_path, relation_sql
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import Path, read_name
from dbt.adapters.deltawiden.sql.queries import analyse_with_types
from dbt.adapters.deltawiden.sql.statements import set_to_themselves
from dbt.adapters.deltawiden.writes.table_checks import value_check
from dbt.adapters.deltawiden.writing.columns import Write, assigned_sql
from dbt.adapters.deltawiden.writing.merge import merge_update_columns
from dbt.adapters.deltawiden.writing.rows_kept import generated_without
from dbt.adapters.deltawiden.writing.value_check import ValueCheck


@dataclass(frozen=True)
class Assignment:
    """One assignment of an ``update set`` clause, as written; its target without spaces."""

    target: str
    value: str


def read_assignments(text: str) -> list[Assignment]:
    """Parse the assignments of an ``update set`` clause, in Spark SQL, with commas between them.

    Raises:
        ValueError: a part of the text is not ``column = expression``. The message has the part.

    Source:
        https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge
    """
    return [_assignment(text, part) for part in _parts(_tokens(text), "COMMA")]


def _tokens(text: str) -> list[Any]:
    # This import takes half a second, so only models with such a clause pay for it.
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return sqlglot.tokenize(text, read="spark")
    except SqlglotError as error:
        raise ValueError(f"can't be read: {text}") from error


def _parts(tokens: list[Any], separator: str) -> list[list[Any]]:
    """Split tokens at a separator that is not inside brackets."""
    parts: list[list[Any]] = [[]]
    depth = 0
    for token in tokens:
        kind = token.token_type.name
        depth += kind in ("L_PAREN", "L_BRACKET", "L_BRACE")
        depth -= kind in ("R_PAREN", "R_BRACKET", "R_BRACE")
        if kind == separator and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _assignment(text: str, tokens: list[Any]) -> Assignment:
    # An expression may contain `=` itself: only the first one separates.
    target, *rest = _parts(tokens, "EQ")
    if not target or not rest or not rest[0]:
        part = _text(text, tokens) or text.strip()
        raise ValueError(f"is not of the form column = expression: {part}")
    first_of_value = rest[0][0]
    name = "".join(_text(text, [token]) for token in target)
    return Assignment(name, text[first_of_value.start : tokens[-1].end + 1])


def _text(text: str, tokens: list[Any]) -> str:
    return text[tokens[0].start : tokens[-1].end + 1] if tokens else ""


_KEY = "not_matched_by_source_action"


def updated_columns(spec: ModelSpec, write: Write) -> list[str] | None:
    """Return the quoted columns that a model's MERGE updates: ``merge_update_columns``."""
    others = (*write.unused, *write.computed)
    included, excluded = spec.merge_update_columns, spec.merge_exclude_columns
    return merge_update_columns(included, excluded, write.columns, others)


def kept_columns(
    snapshot: TableSnapshot, columns: Iterable[Any], updated: Iterable[str] | None
) -> tuple[str, ...]:
    """Name the generated columns that an update gives no new value.

    Args:
        columns, updated: as for ``merge_sql``.
    """
    if updated is None:
        updated = [column.quoted for column in columns if column.in_source]
    return tuple(generated_without(snapshot, map(read_name, updated)))


def checked_clauses(
    backend: SqlBackend,
    spec: ModelSpec,
    table: SparkRelation,
    schema: StructType | None = None,
    future: StructType | None = None,
) -> MergeClauses:
    """Return the clauses of a model's MERGE.

    An ``update set`` keeps the generated columns that it gives no new value. If lossy writes are
    an error, the statement ends with an error where it would write a value that its column does
    not store exactly.

    Args:
        schema: the table's schema now, if it is known.
        future: the schema that the table will have at the write. None if it has it already.

    Raises:
        CompilationError: the assignments of an ``update set`` can't be read.
        DbtDatabaseError: an assignment is not valid for the table.
    """
    clauses = spec.merge_clauses
    if not clauses.assignments:
        return clauses
    try:
        assignments = read_assignments(clauses.assignments)
    except ValueError as error:
        raise CompilationError(f"{_KEY}: the text after update set {error}") from error
    kept = _kept_sql(backend.snapshot(table), assignments, clauses.target_alias)
    if not spec.checks_values:
        # The text can end with a comment.
        return _setting(clauses, [f"{clauses.assignments}\n", *kept]) if kept else clauses
    schema = future or schema or backend.table_schema(table)
    pairs = _types(backend, assignments, clauses.target_alias, table, future)
    check = value_check(backend, spec.name, table, schema)
    checked = (
        _checked(assignment, pair, clauses.target_alias, check)
        for assignment, pair in zip(assignments, pairs, strict=True)
    )
    return _setting(clauses, [*checked, *kept])


def _kept_sql(snapshot: TableSnapshot, assignments: list[Assignment], alias: str) -> list[str]:
    paths = [_path(assignment.target, alias) for assignment in assignments]
    return set_to_themselves(generated_without(snapshot, paths), alias)


def _setting(clauses: MergeClauses, assigned: Iterable[str]) -> MergeClauses:
    return replace(clauses, not_matched_by_source_action=f"update set {', '.join(assigned)}")


def _types(
    backend: SqlBackend,
    assignments: list[Assignment],
    alias: str,
    table: SparkRelation,
    future: StructType | None,
) -> list[tuple[StructField, StructField]]:
    """Return the column and the value of each assignment, with their types."""
    selected = ", ".join(
        f"{assignment.target} as c{number}, ({assignment.value}\n) as v{number}"
        for number, assignment in enumerate(assignments)
    )
    query = f"select {selected} from {relation_sql(table)} as {alias}"
    schemas = {} if future is None else {relation_path(table): future}
    schema = analyse_with_types(query, schemas, backend.query_schema)[1]
    # Only the table's own declaration of a char proves that its values are padded.
    return list(zip(with_char_types(schema).fields[::2], schema.fields[1::2], strict=True))


def _checked(
    assignment: Assignment, pair: tuple[StructField, StructField], alias: str, check: ValueCheck
) -> str:
    column, value = pair
    path = _path(assignment.target, alias)
    stored = assigned_sql(assignment.value, path, value.dataType, column.dataType, check)
    return f"{assignment.target} = {stored}"


def _path(target: str, alias: str) -> Path:
    path = read_name(target)
    return path[1:] if len(path) > 1 and path[0].lower() == alias.lower() else path
