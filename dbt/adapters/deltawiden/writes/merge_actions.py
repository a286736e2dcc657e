"""Check the values that the configuration of a model writes in its MERGE."""

from dataclasses import replace

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError
from pyspark.sql.types import StructField

from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.partition_columns import partition_columns
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.sql.assignments import Assignment, read_assignments
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import Path, read_name
from dbt.adapters.deltawiden.writes.evolution import TableEvolution
from dbt.adapters.deltawiden.writing.columns import assigned_sql
from dbt.adapters.deltawiden.writing.value_check import ValueCheck

_KEY = "not_matched_by_source_action"


class MergeActions:
    """Prepares the clauses of a MERGE that the model configures."""

    def __init__(self, backend: SqlBackend, evolution: TableEvolution) -> None:
        self._backend = backend
        self._evolution = evolution

    def clauses(self, spec: ModelSpec, table: SparkRelation) -> MergeClauses:
        """Return the clauses of a model's MERGE.

        If lossy writes are an error, the statement ends with an error where an ``update set`` would
        write a value that its column does not store exactly.

        Raises:
            CompilationError: the assignments of an ``update set`` can't be read.
        """
        clauses = spec.merge_clauses
        if not clauses.assignments or not spec.checks_values:
            return clauses
        action = self._checked_update(clauses, table, spec.name)
        return replace(clauses, not_matched_by_source_action=action)

    def _checked_update(self, clauses: MergeClauses, table: SparkRelation, model: str) -> str:
        try:
            assignments = read_assignments(clauses.assignments)
        except ValueError as error:
            raise CompilationError(f"{_KEY}: the text after update set {error}") from error
        pairs = self._types(assignments, clauses.target, table)
        schema = self._backend.table_schema(table)
        check = self._evolution.value_check(model, table, schema, partition_columns(schema))
        checked = (
            _checked(assignment, pair, clauses.target, check)
            for assignment, pair in zip(assignments, pairs, strict=True)
        )
        return f"update set {', '.join(checked)}"

    def _types(
        self, assignments: list[Assignment], alias: str, table: SparkRelation
    ) -> list[tuple[StructField, StructField]]:
        """Return the column and the value of each assignment, with their types."""
        selected = ", ".join(
            f"{assignment.target} as c{number}, ({assignment.value}\n) as v{number}"
            for number, assignment in enumerate(assignments)
        )
        query = f"select {selected} from {relation_sql(table)} as {alias}"
        schema = self._backend.query_schema(query)
        # Only the table's own declaration of a char proves that its values are padded.
        return list(zip(with_char_types(schema).fields[::2], schema.fields[1::2], strict=True))


def _checked(
    assignment: Assignment,
    pair: tuple[StructField, StructField],
    alias: str,
    check: ValueCheck,
) -> str:
    column, value = pair
    path = _path(assignment.target, alias)
    stored = assigned_sql(assignment.value, path, value.dataType, column.dataType, check)
    return f"{assignment.target} = {stored}"


def _path(target: str, alias: str) -> Path:
    path = read_name(target)
    return path[1:] if len(path) > 1 and path[0].lower() == alias.lower() else path
