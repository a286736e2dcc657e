"""Find what differs for the tables of a project: nothing is changed, and no row is written."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.clients.agate_helper import from_csv
from dbt_common.exceptions import DbtBaseException, DbtRuntimeError
from pyspark.sql.types import CharType, DataType, NumericType, StringType, StructType, VarcharType

from dbt.adapters.deltawiden.config.materializations import NO_TABLE
from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.config.strategies import DELETE_INSERT, MERGE, strategy_of
from dbt.adapters.deltawiden.delta.relations import relation_path, relation_sql
from dbt.adapters.deltawiden.operations.forecast.downstream import QUERY_NOT_KNOWN
from dbt.adapters.deltawiden.operations.forecast.model import LOSSY
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.forecast.run_plan import plan
from dbt.adapters.deltawiden.operations.project.files import ProjectFiles
from dbt.adapters.deltawiden.operations.project.finding import NOWHERE, Finding, Severity
from dbt.adapters.deltawiden.operations.selection import Node, Selection, full_name
from dbt.adapters.deltawiden.spark.errors import NOT_BUILT, condition, message_of
from dbt.adapters.deltawiden.sql.identifiers import (
    Path,
    as_list,
    columns_named,
    folded,
    path_text,
    read_name,
)
from dbt.adapters.deltawiden.sql.queries import GAP, name_pattern
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.views.finder import view_models
from dbt.adapters.deltawiden.views.graph import materialization
from dbt.adapters.deltawiden.views.stale_views import update_commands
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared
from dbt.adapters.deltawiden.writes.model_query import hook_statements
from dbt.adapters.deltawiden.writing.seeds import check_seed

_NOT_SUPPORTED = re.compile("DELTA_UNSUPPORTED_FEATURES?_FOR_|DELTA_INVALID_PROTOCOL_VERSION")
_DELETES = re.compile(
    rf"{GAP}*(?:delete{GAP}+from|truncate{GAP}+table){GAP}+", re.IGNORECASE | re.DOTALL
)
_LINE = re.compile(r"\bline (\d+)")
_TEXTS = (StringType, CharType, VarcharType)


@dataclass(frozen=True)
class TableChecks:
    """Checks the tables of a project."""

    files: ProjectFiles
    context: Mapping[str, Any]
    check_folder: Callable[[str], None]
    planner: NodePlanner
    selection: Selection

    def find(self, is_wrong: Callable[[Node], bool]) -> Iterator[Finding]:
        """Find the differences of all nodes but those whose configuration is not accepted."""
        planned = plan(self.planner, self.selection, None)
        stopping: set[str] = set()
        paths: list[Path] = []
        for node in sorted(self.selection.nodes(), key=full_name):
            for finding in () if is_wrong(node) else self._of_node(node, paths):
                if finding.severity is Severity.STOPS:
                    stopping.add(str(node["unique_id"]))
                yield finding
        yield from self._views(paths)
        for unique_id, result in zip(planned.ids, planned.each, strict=True):
            node = self.selection.graph["nodes"][unique_id]
            is_named = unique_id in stopping or is_wrong(node) or self.planner.writer(node)
            if result.error and not is_named:
                yield self._refused(node, result.error)
            elif not is_named and node["config"].get("on_lossy_write") != OnLossyWrite.WARN:
                yield from self._lossy(node, result.shown.get(LOSSY, ""))

    def _of_node(self, node: Node, paths: list[Path]) -> Iterator[Finding]:
        if node["resource_type"] == "seed":
            yield from self._seed(node)
        if materialization(node) in NO_TABLE:
            return
        yield from self._pre_hooks(node)
        try:
            self.check_folder(str(node["unique_id"]))
        except DbtBaseException as error:
            place = self.files.of_node(node, "location_root")
            do = "do what the text says"
            yield Finding("the folder of a table", Severity.STOPS, place, message_of(error), do)
            return
        table = self.selection.node_relation(node)
        yield from self._file_format(node, table)
        if not isinstance(table, SparkRelation) or not table.is_delta:
            return
        if unsupported := self._unsupported(table):
            do = "drop the table feature with the program that has set it, or use a newer Delta"
            place = self.files.of_node(node)
            kind = "a table that this Delta can't write"
            yield Finding(kind, Severity.STOPS, place, f"{table}: {unsupported}", do)
            return
        paths.append(relation_path(table))
        yield from self._keys(node, table)

    def _seed(self, node: Node) -> Iterator[Finding]:
        file, config = self.files.node_file(node), node["config"]
        delimiter = str(config.get("delimiter") or ",")
        try:
            rows = from_csv(str(file), config.get("column_types") or {}, delimiter)
            rows.original_abspath = str(file)
            types = self.context["adapter"].services().seeds.types(node, rows)
            check_seed(node, rows, types, self.planner.backend.fetch_rows)
        except Exception as error:  # An empty file ends agate with StopIteration.
            found = _LINE.search(message_of(error))
            place = self.files.place(file, int(found[1]) if found else 1)
            do = "correct the file, or set column_types or on_lossy_write for the seed"
            yield Finding("a seed that stops", Severity.STOPS, place, message_of(error), do)

    def _pre_hooks(self, node: Node) -> Iterator[Finding]:
        """Find the pre-hooks that delete rows of the node's own table."""
        if not node["config"].get("pre-hook"):
            return
        try:
            statements = hook_statements(self.context, str(node["unique_id"]))
        except NotCompared:
            return
        table = name_pattern(read_name(node["relation_name"]))
        for statement in statements:
            start = _DELETES.match(statement)
            if start is not None and table.match(statement, start.end()):
                text = (
                    f"{full_name(node)}: {' '.join(statement.split())}\nThis is committed before "
                    "the model is planned and written. If the model is then refused, or stops at a "
                    "value, the deleted rows are gone, and no new rows replace them"
                )
                do = (
                    "remove the hook, and let incremental_strategy replace the rows in one commit: "
                    "delete+insert, replace_where or insert_overwrite"
                )
                place = self.files.of_node(node, "pre_hook", "pre-hook")
                yield Finding("a pre-hook that deletes rows", Severity.UNCHECKED, place, text, do)

    def _file_format(self, node: Node, table: Any) -> Iterator[Finding]:
        is_delta = isinstance(table, SparkRelation) and table.is_delta
        has_default = not node["config"].get("file_format") and not is_delta
        if not has_default or materialization(node) == "snapshot":
            return
        text = f"{full_name(node)} has no file_format: dbt-spark makes a Parquet table, and"
        text = f"{text} dbt-deltawiden a Delta table" + (f". {table} is not Delta" if table else "")
        do = "set +file_format: parquet in dbt_project.yml to keep it, or delta"
        place = self.files.of_node(node, "materialized")
        yield Finding("the default file format", Severity.CHANGES, place, text, do)

    def _unsupported(self, table: SparkRelation) -> str:
        """Return Delta's error if it can't write a table. No file and no commit is written."""
        try:
            if self.planner.backend.snapshot(table).features:
                self.planner.backend.execute(f"delete from {relation_sql(table)} where false")
        except DbtRuntimeError as error:
            return message_of(error) if _NOT_SUPPORTED.search(message_of(error)) else ""
        return ""

    def _keys(self, node: Node, table: SparkRelation) -> Iterator[Finding]:
        keys = columns_named(filter(None, as_list(node["config"].get("unique_key"))))
        is_merged = strategy_of(node["config"]) in (MERGE, DELETE_INSERT)
        if not keys or not is_merged or materialization(node) != "incremental":
            return
        schema = self.planner.schemas.get(str(node["unique_id"]), StructType())
        columns = self.planner.backend.table_schema(table).fields if schema else ()
        stored = {field.name.lower(): field.dataType for field in columns}
        for field in schema:
            own, other = field.dataType, stored.get(field.name.lower())
            if other is None or field.name.lower() not in keys or _kind(own) == _kind(other):
                continue
            text = (
                f"{full_name(node)}.{field.name} is {type_text(own)}, and {type_text(other)} in "
                f"{table}. dbt-spark lets Spark compare them, so that 7 finds '007'. Here they are "
                "compared as the table stores them"
            )
            do = f"cast {field.name} to {type_text(other)} in the model, as the table has it"
            place = self.files.of_node(node, "unique_key")
            yield Finding("a unique_key of another type", Severity.CHANGES, place, text, do)

    def _views(self, tables: list[Path]) -> Iterator[Finding]:
        finder = self.planner.finder
        models = view_models(self.selection.nodes())
        nodes = {path: node for node in self.selection.nodes() for path in view_models([node])}
        for view in finder.stale_over(*tables) if tables else ():
            node = nodes.get(folded(view.shown))
            place = self.files.of_node(node) if node else NOWHERE
            casts = [cast.text for cast in view.casts] or ["it has the types from before"]
            text = f"{path_text(view.shown)}: {'; '.join(casts)}"
            do = " or: ".join(update_commands(view, models, finder.can_follow))
            yield Finding("a view that casts back", Severity.CHANGES, place, text, do)

    def _lossy(self, node: Node, lossy: str) -> Iterator[Finding]:
        """Find values that dbt-spark would round, and with which the run stops here."""
        if lossy:
            kind, place = "values that may not be stored exactly", self.files.of_node(node)
            do = "do what the text says; with on_lossy_write: ignore, Spark rounds as in dbt-spark"
            yield Finding(kind, Severity.CHANGES, place, f"{full_name(node)}: {lossy}", do)

    def _refused(self, node: Node, error: str) -> Finding:
        place = self.files.of_node(node)
        if error == QUERY_NOT_KNOWN or condition(error) == NOT_BUILT:
            kind, severity = "a model that could not be planned", Severity.UNCHECKED
            do = "run dbt compile, then check_project with compiled: true"
        else:
            kind, severity = "a model that is refused", Severity.STOPS
            do = "do what the text says; dbt run-operation plan shows the plan of each model"
        return Finding(kind, severity, place, f"{full_name(node)}: {error}", do)


def _kind(of: DataType) -> str:
    if isinstance(of, _TEXTS):
        return "text"
    return "number" if isinstance(of, NumericType) else of.typeName()
