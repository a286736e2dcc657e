"""The operations that ``dbt run-operation`` runs on the tables of a project."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from inspect import signature
from pathlib import Path
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.config.project_macros import NodeMacros
from dbt.adapters.deltawiden.config.strategies import is_own_strategy
from dbt.adapters.deltawiden.config.validation import require_accepted
from dbt.adapters.deltawiden.operations.arguments import (
    SELECTING,
    all_arguments,
    check_arguments,
    column_names,
    condition,
    file_name,
    merge_condition,
    whole_hours,
)
from dbt.adapters.deltawiden.operations.audit.audit_lossy_writes import Audit
from dbt.adapters.deltawiden.operations.audit.backfill_columns import Backfiller
from dbt.adapters.deltawiden.operations.audit.model_rows import (
    RowsReader,
    folded_columns,
    full_query,
)
from dbt.adapters.deltawiden.operations.audit.repair import Repairer, RepairResults
from dbt.adapters.deltawiden.operations.audit.restore_values import Restorer
from dbt.adapters.deltawiden.operations.contracts.sync_contracts import (
    SyncResults,
    own_package,
    sync_contracts,
)
from dbt.adapters.deltawiden.operations.forecast.check_type_widening import check_type_widening
from dbt.adapters.deltawiden.operations.forecast.compiled_query import compiled_query, node_query
from dbt.adapters.deltawiden.operations.forecast.downstream import Forecast
from dbt.adapters.deltawiden.operations.forecast.future_types import FutureTypes
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner, TakenOver
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.forecast.run_plan import plan
from dbt.adapters.deltawiden.operations.maintenance.analyze import analyze_table
from dbt.adapters.deltawiden.operations.maintenance.drop_type_widening import drop_from_table
from dbt.adapters.deltawiden.operations.maintenance.enable_type_widening import (
    disable_type_widening,
    enable_type_widening,
)
from dbt.adapters.deltawiden.operations.maintenance.optimize import optimize_table
from dbt.adapters.deltawiden.operations.maintenance.repair_statistics import repair_table
from dbt.adapters.deltawiden.operations.maintenance.rewrite_widened_files import rewrite_files
from dbt.adapters.deltawiden.operations.maintenance.table import run_on_each_table
from dbt.adapters.deltawiden.operations.maintenance.vacuum import Vacuum, vacuum_table
from dbt.adapters.deltawiden.operations.maintenance.widen_columns import widen_columns
from dbt.adapters.deltawiden.operations.project.check_project import check_project
from dbt.adapters.deltawiden.operations.project.finding import ProjectResults
from dbt.adapters.deltawiden.operations.report.html_page import check_page_file, page_of, write_page
from dbt.adapters.deltawiden.operations.report.report_type_widening import (
    ReportResults,
    report_type_widening,
)
from dbt.adapters.deltawiden.operations.result import OperationResults, Results
from dbt.adapters.deltawiden.operations.selection import Names, Node, Selection, full_name
from dbt.adapters.deltawiden.operations.stop_spark import StoppedSparks, stop_sparks
from dbt.adapters.deltawiden.spark.redaction import scrubbed
from dbt.adapters.deltawiden.writes.model_query import checked_by_contract, hook_statements
from dbt.adapters.deltawiden.writes.services import Services

Tables = Iterable[SparkRelation]


class Operations:
    """The methods that the macros of the operations call. Each operation has its own module.

    Args:
        taken_over: returns the table that a node with a unique id will take over, or None.
        check_folder: refuses the folder of the table of a node with a unique id.
    """

    def __init__(
        self,
        services: Services,
        adapter: Any,
        context: Mapping[str, Any],
        taken_over: Callable[[str], TakenOver | None],
        check_folder: Callable[[str], None],
    ) -> None:
        self.services, self.adapter, self.context = services, adapter, context
        self.backend, self.views = services.backend, services.views
        self.taken_over, self.check_folder = taken_over, check_folder
        self.manifest = adapter.get_macro_resolver()

    def _selection(self, operation: str) -> Selection:
        target = self.context["target"]
        return Selection(
            operation,
            self.context["graph"],
            target["schema"],
            self.adapter.get_relation,
            self.adapter.list_relations,
            target.get("database"),
        )

    def run(self, name: str, given: Mapping[str, Any]) -> None:
        """Check the arguments of an operation, run it, and show its results.

        The method with the operation's name declares its arguments. ``tables`` are what ``models``,
        ``relations`` and ``schema`` select. An argument that is declared as a boolean must be one.

        Raises:
            CompilationError: an argument is wrong, or the operation failed on a table.
        """
        declared = signature(getattr(type(self), name))
        arguments = all_arguments(name, given, declared)
        check_arguments(name, arguments, declared)
        output, file = arguments.pop("output"), arguments.pop("file", None)
        page = self._page_file(name, file) if output == "html" else None
        if "tables" in declared.parameters:
            selected = {key: arguments.pop(key) for key in SELECTING}
            arguments["tables"] = self._selection(name).relations(**selected)
        self._show(getattr(self, name)(**arguments), output, page)

    def _show(self, results: Results, output: str, page: Path | None) -> None:
        if isinstance(results, PlanResults | ReportResults) and page is not None:
            written = write_page(results.operation, page, scrubbed(page_of(results)))
            self.context["log"](f"The page is in {written}", info=True)
        if output == "json":
            self.context["print"](self.context["tojson"](results.document))
        elif isinstance(results, PlanResults | ProjectResults) and output == "markdown":
            self.context["print"](results.markdown)
        elif results.text:
            self.context["log"](f"{results.operation}\n{results.text}", info=True)
        if results.failed:
            self.context["exceptions"]["raise_compiler_error"](results.failure_text)

    def _page_file(self, operation: str, file: str | None) -> Path:
        config = self.context["adapter"].config
        default = Path(config.project_target_path, f"{operation}.html")
        given = file_name(operation, "file", file)
        chosen = Path(config.project_root, given) if given else default
        check_page_file(operation, chosen)
        return chosen

    def report_type_widening(self, tables: Tables) -> ReportResults:
        """Report what type widening has done to tables."""
        return report_type_widening(self.backend, tables)

    def check_type_widening(self, against: str | None, models: Names) -> PlanResults:
        """Compare what models build in one schema with their tables in another."""
        selection = self._selection("check_type_widening")
        planner = self._planner(selection, False)
        planner = replace(planner, writer=self._writer, check_views=self._check_views)
        exists = self.adapter.check_schema_exists
        return check_type_widening(planner, selection, exists, against, models)

    def plan(self, models: Names, compiled: bool, apply: bool) -> PlanResults:
        """Show what the next run will do to the tables of the target, or do what comes first."""
        selection = self._selection("plan")
        results = plan(self._run_planner(selection, compiled), selection, models, apply)
        if apply:
            self.views.log_stale(results.widened, self.context["graph"])
            others = results.with_other_columns
            self.views.log_stale(others, self.context["graph"], columns=True)
        return results

    def check_project(self, compiled: bool) -> ProjectResults:
        """Find what differs from dbt-spark in this project."""
        selection = self._selection("check_project")
        planner = self._run_planner(selection, compiled)
        return check_project(self.context, self.manifest, self.check_folder, planner, selection)

    def _run_planner(self, selection: Selection, compiled: bool) -> NodePlanner:
        return replace(
            self._planner(selection, compiled),
            writer=self._writer,
            taken_over=lambda node: self.taken_over(str(node["unique_id"])),
            check=self._check_node,
            check_views=self._check_views,
        )

    def _writer(self, node: Node) -> str:
        return self._macros(node).writer(str(node["config"].get("materialized")))

    def _macros(self, node: Node) -> NodeMacros:
        config = self.context["adapter"].config
        return NodeMacros(self.manifest, config, node["package_name"], node.get("language"))

    def _check_node(self, node: Node) -> None:
        """Refuse what the run of a node refuses before it reads a table: keys and folder."""
        is_own = self._macros(node).writes_with_own
        require_accepted(node["config"], full_name(node), is_own, node.get("columns"))
        self.check_folder(str(node["unique_id"]))

    def _check_views(self, node: Node, query: str) -> None:
        self.views.check(query, node["config"].get("on_lossy_write"), self.context["graph"])

    def sync_contracts(self, models: Names, write: bool, compiled: bool) -> SyncResults:
        """Show, and write, the types in contracts that a widening has made stale."""
        selection = self._selection("sync_contracts")
        config = self.context["adapter"].config
        nodes = selection.nodes() if models is None else selection.nodes_named(models, "")
        if models is None:
            nodes = [node for node in nodes if node.get("package_name") == config.project_name]
        nodes = sorted(own_package(nodes, config.project_name), key=full_name)
        forecast = Forecast(
            NodeGraph(selection.graph),
            self._planner(selection, compiled),
            FutureTypes(self.backend),
            visits_all=True,
            stops_at_contracts=False,
        )
        forecast.visit_nodes()
        return sync_contracts(
            selection.operation, forecast, nodes, Path(config.project_root), write
        )

    def _planner(self, selection: Selection, compiled: bool) -> NodePlanner:
        return NodePlanner(
            self.backend,
            self.services.write_planner,
            self.services.snapshots,
            self.services.view_finder,
            partial(node_query, self.context, compiled),
            selection.node_relation,
            is_own=lambda node, name: is_own_strategy(self._macros(node).writes_with_own, name),
        )

    def audit_lossy_writes(
        self, models: Names, unique_key: Names, compiled: bool
    ) -> OperationResults:
        """Find stored values that are not those of the models."""
        rows = self._rows_reader("audit_lossy_writes", unique_key, compiled)
        return Audit(rows, self.views).run(models)

    def backfill_columns(
        self,
        models: Names,
        columns: Names,
        unique_key: Names,
        where: str | None,
        compiled: bool,
        dry_run: bool,
    ) -> RepairResults:
        """Give columns of the rows that exist the values of the models."""
        if not columns:
            raise self._selection("backfill_columns").error("say which columns: `columns: [name]`")
        rows = self._rows_reader("backfill_columns", unique_key, compiled, columns)
        return self._repairer(Backfiller, rows, columns, where, dry_run).run(models)

    def restore_values(
        self,
        models: Names,
        columns: Names,
        unique_key: Names,
        where: str | None,
        compiled: bool,
        dry_run: bool,
    ) -> RepairResults:
        """Restore what casts have changed in the tables of models."""
        rows = self._rows_reader("restore_values", unique_key, compiled, columns)
        return self._repairer(Restorer, rows, columns, where, dry_run).run(models)

    def _repairer(
        self,
        kind: type[Repairer],
        rows: RowsReader,
        columns: Names,
        where: str | None,
        dry_run: bool,
    ) -> Repairer:
        name, full = rows.selection.operation, rows.full_query

        def query(node: Node, table: BaseRelation) -> str:
            found, unique_id = full(node, table), str(node["unique_id"])
            return found and checked_by_contract(self.context, unique_id, found, rows.unique_key)

        rows = replace(rows, full_query=query)
        names, only = column_names(name, "columns", columns), merge_condition(name, "where", where)
        graph = self.context["graph"]
        return kind(name, self.backend, self.views, rows, names, only, dry_run, graph)

    def _rows_reader(
        self, name: str, unique_key: Names, compiled: bool, columns: Names = None
    ) -> RowsReader:
        read = compiled_query if compiled else full_query
        key, query = column_names(name, "unique_key", unique_key), partial(read, self.context)
        only = folded_columns(column_names(name, "columns", columns))
        hooks = cache(partial(hook_statements, self.context))
        return RowsReader(self.backend, self._selection(name), query, hooks, key, compiled, only)

    def widen_columns(
        self, columns: Mapping[str, str], tables: Tables, dry_run: bool
    ) -> OperationResults:
        """Make the requested type changes, and log the views that become stale."""
        results = widen_columns(self.backend, tables, columns, dry_run)
        if not dry_run:
            self.views.log_stale(results.changed, self.context["graph"])
        return results

    def enable_type_widening(self, tables: Tables, dry_run: bool) -> OperationResults:
        """Enable type widening, after listing the readers that lose access."""
        return enable_type_widening(self.backend, tables, dry_run)

    def disable_type_widening(self, tables: Tables, dry_run: bool) -> OperationResults:
        """Disable type widening. The table feature stays."""
        return disable_type_widening(self.backend, tables, dry_run)

    def drop_type_widening(
        self, tables: Tables, truncate_history: bool, dry_run: bool
    ) -> OperationResults:
        """Remove the table feature from tables, and rewrite the files that need it."""
        work = partial(drop_from_table, truncate_history=truncate_history, dry_run=dry_run)
        return run_on_each_table(self.backend, "drop_type_widening", tables, work, writes_rows=True)

    def rewrite_widened_files(self, tables: Tables, dry_run: bool) -> OperationResults:
        """Rewrite the files from before a widening in which filters misread a column."""
        work = partial(rewrite_files, dry_run=dry_run)
        return run_on_each_table(
            self.backend, "rewrite_widened_files", tables, work, writes_rows=True
        )

    def optimize(
        self, tables: Tables, zorder_by: Names, where: str | None, dry_run: bool
    ) -> OperationResults:
        """Compact the files of tables."""
        columns = column_names("optimize", "zorder_by", zorder_by)
        only = condition("optimize", "where", where)
        work = partial(optimize_table, zorder_by=columns, where=only, dry_run=dry_run)
        return run_on_each_table(self.backend, "optimize", tables, work, "OPTIMIZE")

    def vacuum(
        self, tables: Tables, retention_hours: int | None, force: bool, dry_run: bool
    ) -> OperationResults:
        """Delete the files that tables no longer need."""
        hours = whole_hours("vacuum", "retention_hours", retention_hours)
        work = partial(vacuum_table, request=Vacuum(hours, force, dry_run))
        return run_on_each_table(self.backend, "vacuum", tables, work, "VACUUM")

    def analyze(self, tables: Tables, dry_run: bool) -> OperationResults:
        """Collect the statistics of tables' files again."""
        work = partial(analyze_table, dry_run=dry_run)
        return run_on_each_table(self.backend, "analyze", tables, work, "analyze")

    def repair_statistics(self, tables: Tables, dry_run: bool) -> OperationResults:
        """Correct the statistics of files in which a double column is still float."""
        work = partial(repair_table, dry_run=dry_run)
        return run_on_each_table(self.backend, "repair_statistics", tables, work)

    def stop_spark(self, everywhere: bool) -> StoppedSparks:
        """End the Sparks that ``keep_alive`` keeps alive and that no dbt command uses."""
        return stop_sparks(everywhere)
