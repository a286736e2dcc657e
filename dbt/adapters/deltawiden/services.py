"""What the adapter calls after dbt has parsed the project: most of the package's modules."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from copy import copy, deepcopy
from functools import partial
from typing import Any

from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden import docs_catalog
from dbt.adapters.deltawiden.config.materializations import TABLES
from dbt.adapters.deltawiden.config.model import DeltaWidenConfig, file_format_of
from dbt.adapters.deltawiden.config.project_macros import NodeMacros
from dbt.adapters.deltawiden.config.strategies import STRATEGIES
from dbt.adapters.deltawiden.config.unchecked import warn_unchecked
from dbt.adapters.deltawiden.config.validation import check_configuration
from dbt.adapters.deltawiden.delta.backends import choose_backend
from dbt.adapters.deltawiden.freshness import last_modified
from dbt.adapters.deltawiden.log import shown_for_a_batch
from dbt.adapters.deltawiden.read_check import reads
from dbt.adapters.deltawiden.spark.session import check_has_delta
from dbt.adapters.deltawiden.spark.temporary_views import WRITE, temporary_view
from dbt.adapters.deltawiden.sql.identifiers import read_name
from dbt.adapters.deltawiden.sql.listagg import ordered_listagg
from dbt.adapters.deltawiden.table_folders import TableFolders
from dbt.adapters.deltawiden.writes.comments import Comments
from dbt.adapters.deltawiden.writes.computed_rows import rows_computed
from dbt.adapters.deltawiden.writes.node_settings import overwrite_all, with_node_settings
from dbt.adapters.deltawiden.writes.optimize_after_run import optimize_after_run
from dbt.adapters.deltawiden.writes.seeds import Seeds, quote_seed_column
from dbt.adapters.deltawiden.writes.services import Services
from dbt.adapters.deltawiden.writing.contract_checks import added_checks, contract_columns
from dbt.adapters.deltawiden.writing.merge import merge_update_columns
from dbt.adapters.deltawiden.writing.rows_kept import generated_without
from dbt.adapters.deltawiden.writing.snapshot_merge import snapshot_merge_sql


class AdapterServices(Services):
    """The services of an adapter, for its macros too: ``adapter.services()``."""

    strategies = STRATEGIES
    merge_update_columns = staticmethod(merge_update_columns)
    quote_seed_column = staticmethod(quote_seed_column)
    contract_columns = staticmethod(contract_columns)
    added_checks = staticmethod(added_checks)
    ordered_listagg = staticmethod(ordered_listagg)

    def __init__(self, adapter: Any, handle: Callable[[], Any]) -> None:
        credentials = adapter.config.credentials
        backend = choose_backend(
            credentials.session_method, adapter.execute, handle, credentials.delta_version
        )
        super().__init__(backend)
        self.folders = TableFolders(adapter, backend)
        self.seeds = Seeds(backend, adapter)
        self.overwrite_all = partial(overwrite_all, backend)
        self.reads = partial(reads, backend)
        self.optimize_after_run = partial(optimize_after_run, backend)
        self.comments = Comments(backend)
        self.catalog_of_schemas = partial(docs_catalog.catalog_of_schemas, adapter)
        self.catalog_of_relations = partial(docs_catalog.catalog_of_relations, adapter)
        self.catalog_of_relation = partial(docs_catalog.catalog_of_relation, adapter)
        self.columns_for_catalog = partial(docs_catalog.columns_for_catalog, backend)
        self.last_modified = partial(last_modified, backend)

    def snapshot_merge_sql(
        self,
        config: Any,
        own: Mapping[str, str],
        target: SparkRelation,
        source: str,
        inserted: Sequence[str],
        hard_deletes: str,
    ) -> str:
        """Render the MERGE of a snapshot, which keeps generated columns: ``snapshot_merge_sql``."""
        ends = [read_name(own["dbt_valid_to"])]
        kept = generated_without(self.backend.snapshot(target), ends)
        return snapshot_merge_sql(config, own, target, source, inserted, hard_deletes, kept)

    def with_rows_computed(
        self,
        model: Mapping[str, Any],
        query: str,
        table: SparkRelation,
        run: Callable[..., Any],
        *given: Any,
    ) -> None:
        """Run a macro that drops a table, when its new rows are computed: ``rows_computed``."""
        with rows_computed(self.backend, temporary_view(model, WRITE), query, table) as rows:
            run(rows, *given, table)

    def start_node(self, config: Any, macros: NodeMacros) -> ExitStack:
        """Check a node's configuration, and default its file format: ``pre_model_hook``."""
        with shown_for_a_batch(config.model):
            columns = {name: column.to_dict() for name, column in config.model.columns.items()}
            unique_id = config.model.unique_id
            check_configuration(config, unique_id, macros.writes_with_own, columns)
        writer = macros.writer(config.get("materialized"))
        warn_unchecked(config, config.model.unique_id, writer)
        # dbt's node is in the manifest, which a program can use for other commands: what a run sets
        # here is not configured.
        config.model = copy(config.model)
        config.model.config = deepcopy(config.model.config)
        # A test can store a column such as count(1), whose name Delta does not accept.
        if config.get("file_format") or config.model.resource_type != "test":
            config.model.config["file_format"] = file_format_of(config)
        is_table = config.get("materialized") in TABLES
        if is_table and config.get("file_format") == DeltaWidenConfig.file_format:
            check_has_delta()
        if getattr(config.model, "previous_batch_results", None):
            # After --full-refresh, the retried batches would replace those that had succeeded.
            config.model.config["full_refresh"] = False
        return with_node_settings(config, self.backend, has_own_writer=bool(writer))
