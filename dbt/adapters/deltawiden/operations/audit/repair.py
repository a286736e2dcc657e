"""Give columns of existing rows the values of their model: the steps of two operations."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from dbt_common.exceptions import DbtBaseException, DbtDatabaseError, DbtRuntimeError
from dbt_common.invocation import get_invocation_id
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.model_spec import ModelSpec, read_model_spec
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.history import read_history
from dbt.adapters.deltawiden.delta.relations import require_table
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.audit.model_rows import (
    ModelRows,
    RowsReader,
    column_rows,
    folded_columns,
    key_text,
    key_values,
)
from dbt.adapters.deltawiden.operations.audit.query import COUNTS, Repair, update_sql
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    failed_attempts,
    log_progress,
    run_on_each,
    steps_text,
    text_table,
)
from dbt.adapters.deltawiden.operations.selection import Names, Node, full_name
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import path_text, read_name
from dbt.adapters.deltawiden.sql.raised_errors import LOSSY_VALUE, REMEDIES
from dbt.adapters.deltawiden.widening.matched_rows import (
    NotCompared,
    key_columns,
    not_padded,
    require_rows_that_change,
)
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.report import rewrite_command
from dbt.adapters.deltawiden.writes.attempts import Attempts, is_cancelled, retry_with_new_plan
from dbt.adapters.deltawiden.writes.model_views import ModelViews, types_texts
from dbt.adapters.deltawiden.writes.older_files import rewrite_older_files
from dbt.adapters.deltawiden.writes.run_steps import change_table
from dbt.adapters.deltawiden.writes.table_checks import value_check
from dbt.adapters.deltawiden.writing.rows_kept import generated_without, require_rows_kept
from dbt.adapters.deltawiden.writing.value_check import ValueCheck

BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
_REMEDY = (
    "Widen the column, with a run under on_schema_change: append_new_columns or with the operation "
    "widen_columns, cast it in the model, or leave this row out with the argument where."
)


@dataclass(frozen=True)
class Choice:
    """The rows and columns of a table that get the model's values.

    Attributes:
        document: what was found, as ``audit_sql`` returns it for this repair.
        columns: those of the repair that have values to change.
        plan: returns the plan for the table with the schema that it has now.
        refused: the columns that stay as they are although they should not, and why.
    """

    rows: ModelRows
    repair: Repair
    document: Mapping[str, Any]
    columns: Sequence[str]
    plan: Callable[[StructType], Plan]
    refused: str = ""


class RepairResults(OperationResults):
    """The results of an operation that gives rows the values of their models."""

    @property
    def text(self) -> str:
        """The tables, their columns with examples, and how to take the changes back."""
        shown = [each for each in self.each if each.shown]
        tables = [{"table": each.table, **each.shown} for each in shown]
        columns = [r for each in shown for r in column_rows(each.table, each.values["columns"])]
        back = [_back_text(each) for each in shown if each.values["restore"]]
        return "\n\n".join([*(text_table(rows) for rows in (tables, columns) if rows), *back])


@dataclass(frozen=True)
class Repairer(ABC):
    """Runs the operation on one model after the other.

    Attributes:
        columns: their names, as a person gives them. Empty for all.
        where: a condition on the table's rows. Empty for none.
    """

    operation: str
    backend: SqlBackend
    views: ModelViews
    reader: RowsReader
    columns: Sequence[str]
    where: str
    dry_run: bool
    graph: Mapping[str, Any]

    @abstractmethod
    def choose(self, rows: ModelRows) -> Choice:
        """Choose the rows and columns that get the model's values. It changes nothing."""

    def run(self, models: Names) -> RepairResults:
        """Give rows of the models' tables the values of the models, which have to be named."""
        if not models:
            raise self.reader.selection.error("say which models, as `models: [name]`")
        nodes = self.reader.nodes(models)
        found = run_on_each(self.operation, nodes, full_name, self._repair)
        return RepairResults(self.operation, found.each)

    def spec(self, rows: ModelRows) -> ModelSpec:
        """Return the model's configuration of its writes."""
        return read_model_spec(rows.node["config"], full_name(rows.node))

    def check(self, rows: ModelRows, schema: StructType) -> ValueCheck:
        """Return the check of each value that is written."""
        return value_check(self.backend, full_name(rows.node), rows.table, schema)

    def _repair(self, node: Node) -> OperationResult:
        try:
            rows = self.reader.read(node)
            _require_table(rows)
            self.views.check(rows.query)
            log_progress(f"{self.operation}: reading {rows.name}")
            with rows.dropped_at_end():
                return self._repair_rows(rows)
        except NotCompared as error:
            raise DbtRuntimeError(f"Nothing was changed: {error}.") from error

    def _repair_rows(self, rows: ModelRows) -> OperationResult:
        _require_columns(rows, self.columns)
        choice = self.choose(rows)
        _refuse_duplicates(rows, choice.document)
        if not choice.columns:
            return _result(choice, "nothing_to_do")
        if self.dry_run:
            require_rows_kept(self.backend, rows.table)
            statements = [*choice.plan(rows.schema).statements, f"merge into {rows.name} ..."]
            return _result(choice, "dry_run", {"statements": statements})
        return self._change(choice)

    def _change(self, choice: Choice) -> OperationResult:
        rows, backend = choice.rows, self.backend
        updated: list[int | None] = []

        def change_once(attempts: Attempts) -> None:
            plan = choice.plan(schema := backend.table_schema(rows.table))
            require_rows_kept(backend, rows.table, schema)
            attempts.record_plan(plan)
            change_table(backend, plan, rows.table, self.operation)
            updated.append(self._merge(rows, self._statement(choice, plan, attempts)))

        attempts = Attempts()
        try:
            retry_with_new_plan(change_once, attempts=attempts)
        except Exception as error:
            if not is_cancelled(error):
                self._after_changes(rows, attempts.changes)
                if attempts.made and isinstance(error, DbtBaseException):
                    return failed_attempts(full_name(rows.node), attempts, error)
            raise
        self._after_changes(rows, attempts.changes)
        version = self._version(rows) if updated[-1] else None
        back = f"restore table {rows.name} to version as of {version - 1}" if version else ""
        done = {
            "updated": updated[-1],
            "version": version,
            "restore": back,
            "type_changes": [change.value for change in attempts.changes],
        }
        return _result(choice, "nothing_to_do" if updated[-1] == 0 else "changed", done)

    def _after_changes(self, rows: ModelRows, changes: Sequence[TypeChange]) -> None:
        """Do what comes after type changes, which stay also if the statement after them fails."""
        if not changes:
            return
        self.views.log_stale([rows.name], self.graph)
        unique_id = str(rows.node["unique_id"])
        for text in filter(None, types_texts(rows.name, changes, unique_id, self.graph)):
            log_progress(text)
        limit = self.spec(rows).policy.rewrite_widened_files
        left = rewrite_older_files(self.backend, rows.table, changes, limit, self.operation)
        if left.text:
            log_progress(left.text)

    def _statement(self, choice: Choice, plan: Plan, attempts: Attempts) -> str:
        rows, schema = choice.rows, self.backend.table_schema(choice.rows.table)
        produced, conditions = rows.produced_again(choice.repair)
        return update_sql(
            produced,
            rows.name,
            key_columns(rows.key, rows.produced, with_char_types(schema)),
            rows.compared_with(schema),
            rows.earlier(attempts.changes),
            replace(choice.repair, columns=choice.columns),
            plan.write.columns,
            conditions,
            plan.types_unchanged_sql() if rows.table.is_delta else "true",
            generated_without(rows.snapshot, ((c,) for c in choice.columns)),
        )

    def _merge(self, rows: ModelRows, statement: str) -> int | None:
        """Run the statement. Return the number of changed rows, if the table's format says it."""
        unpadded = not_padded(self.backend, rows.schema)
        broadcast = source_broadcast(self.backend)
        try:
            with self.backend.tagged_commits(self.operation), unpadded, broadcast:
                found = self.backend.fetch_rows(statement)
        except DbtDatabaseError as error:
            # No configuration of the model lets this statement lose a value.
            error.msg = str(error.msg).replace(REMEDIES[LOSSY_VALUE], _REMEDY)
            raise
        return int(found[0]["num_updated_rows"]) if found else None

    def _version(self, rows: ModelRows) -> int | None:
        """Return the version in which the values were changed, of a Delta table."""
        commits = read_history(rows.name, self.backend.fetch_rows, 50)
        invocation = get_invocation_id()
        own = (
            commit.version
            for commit in commits
            if commit.operation == "MERGE" and commit.tag.get("invocation_id") == invocation
        )
        return next(own, None)


def source_broadcast(backend: SqlBackend) -> AbstractContextManager[None]:
    """Return the context for a MERGE whose source is small, compared with the table.

    By default, Spark sorts and shuffles the table, twice, for a source of more than 10 MB.

    Source:
        https://spark.apache.org/docs/latest/sql-performance-tuning.html
    """
    # A session returns None for the default. By SQL, it is the value.
    is_default = backend.setting(BROADCAST) in (None, "10485760b")
    return backend.with_setting(BROADCAST, "64MB") if is_default else nullcontext()


def _back_text(done: OperationResult) -> str:
    text = f"To go back: {done.values['restore']}\nIt also takes back every later write."
    # The files of the earlier version have the types from before.
    older = f"\nThen: {rewrite_command(done.table)}" if done.values["type_changes"] else ""
    return f"{text}{older}"


def _require_table(rows: ModelRows) -> None:
    if rows.node["resource_type"] != "model":
        raise NotCompared(f"it is a {rows.node['resource_type']}, whose rows no model produces")
    if not rows.table.is_iceberg:
        require_table(rows.table, "MERGE")
    if rows.table.is_delta:
        require_rows_that_change(rows.snapshot)


def _require_columns(rows: ModelRows, names: Sequence[str]) -> None:
    """Refuse columns that can't be given the model's values, all of them in one message."""
    problems = [f"{name}: {problem}" for name in names for problem in _problems(rows, name)]
    if problems:
        lines = [f"columns: {rows.name} can't be changed; nothing was changed.", *problems]
        raise DbtRuntimeError("\n".join(lines))
    if names and rows.compared.not_comparable:
        raise DbtRuntimeError(
            f"Nothing was changed: {', '.join(rows.compared.not_comparable)} can't be compared."
        )


def _problems(rows: ModelRows, name: str) -> Iterator[str]:
    path = read_name(name)
    if len(path) > 1:
        yield f"it names what is inside a column; name the column {path_text(path[:1])}"
        return
    for schema, owner in ((rows.produced, "the model's query"), (rows.schema, "the table")):
        if path[0].lower() not in map(str.lower, schema.names):
            yield f"{owner} has no such column; it has {', '.join(schema.names)}"
    if path[0].lower() in folded_columns(rows.key):
        yield "it is in unique_key, by which the rows are found"
    if path[0].lower() in rows.computed:
        yield "Delta computes it: it is a generated or an identity column"


def _refuse_duplicates(rows: ModelRows, document: Mapping[str, Any]) -> None:
    if not document["key_not_unique"]:
        return
    shown = [
        f"{key_text(key_values(found, rows.key))} ({found['produced']} rows of the model, "
        f"{found['stored']} of the table)"
        for found in document["not_unique"]
    ]
    raise DbtRuntimeError(
        f"Nothing was changed: {int(document['key_not_unique']):,} rows of {rows.name} have a key "
        f"that several rows have. The key is {', '.join(rows.key)}, for example "
        f"{'; '.join(dict.fromkeys(shown))}. Name columns that are unique with the argument "
        "unique_key, or exclude these rows with the argument where."
    )


def _result(
    choice: Choice, state: str, done: Mapping[str, Any] = MappingProxyType({})
) -> OperationResult:
    rows, document = choice.rows, choice.document
    columns = rows.differing(document, choice.repair.only_casts)
    counts = {name: int(document[name]) for name in (*COUNTS, *_CHANGES)}
    changes = f"{counts['to_change']:,} rows"
    if rows.table.is_delta:
        changes += f" of {counts['files']:,} files"
    result = {
        "nothing_to_do": "nothing to do",
        "dry_run": steps_text(done.get("statements", ()), dry_run=True),
        "changed": f"changed in version {done['version']}" if done.get("version") else "changed",
    }[state]
    return OperationResult(
        rows.name,
        shown={
            "compared": f"{counts['compared']:,} {_COMPARED[choice.repair.only_casts]}",
            "with other values": changes,
            "not changed": "; ".join(_unchanged_texts(counts)) or "-",
            "result": result,
        },
        values={
            "model": full_name(rows.node),
            "state": state,
            "unique_key": list(rows.key),
            "rows": counts,
            "columns": [c for c in columns if c["path"][0] in choice.columns],
            **_NO_CHANGE,
            **done,
        },
        error=choice.refused,
    )


_NO_CHANGE: Mapping[str, Any] = {"updated": 0, "version": None, "restore": "", "type_changes": []}
_COMPARED = {True: "rows that a cast can have changed", False: "rows"}
_CHANGES = ("to_change", "files", "not_explained")


def _unchanged_texts(counts: Mapping[str, int]) -> list[str]:
    texts = {
        "only_stored": "{:,} rows that the model's full query does not return now",
        "not_explained": "{:,} rows that also differ for another reason than a cast",
    }
    return [text.format(counts[name]) for name, text in texts.items() if counts[name]]
