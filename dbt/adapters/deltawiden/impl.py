"""The adapter: what dbt calls. The services, which the macros call too, decide and do the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from multiprocessing.context import SpawnContext
from typing import TYPE_CHECKING, Any

import agate
from dbt.adapters.base import available
from dbt.adapters.base.impl import PythonJobHelper
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.clients.agate_helper import empty_table
from dbt_common.contracts.metadata import CatalogTable
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.deltawiden.capabilities import CAPABILITIES
from dbt.adapters.deltawiden.column import DeltaWidenColumn
from dbt.adapters.deltawiden.config.model import DeltaWidenConfig, file_format_of, use_format_of
from dbt.adapters.deltawiden.config.project_macros import NodeMacros
from dbt.adapters.deltawiden.connections import DeltaWidenConnectionManager
from dbt.adapters.deltawiden.credentials import ConnectionMethod
from dbt.adapters.deltawiden.relation import DeltaWidenRelation
from dbt.adapters.deltawiden.relation_listing import ListingAdapter
from dbt.adapters.deltawiden.spark import temporary_views as views
from dbt.adapters.deltawiden.spark.errors import UP_CAST, condition_of
from dbt.adapters.deltawiden.spark.prestart import needs_spark, prestart
from dbt.adapters.deltawiden.spark.python_models import SESSION, SessionJob, check_submission
from dbt.adapters.deltawiden.sql.identifiers import columns_sql, quote, quote_once
from dbt.adapters.deltawiden.sql.literals import expression_in, literal, properties_sql
from dbt.adapters.deltawiden.sql.queries import in_lines

if TYPE_CHECKING:
    from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
    from dbt.adapters.deltawiden.services import AdapterServices


class _WhileParsing:
    """The services, and each of them, while dbt parses: their methods return an empty text."""

    unsafe_callable = alters_data = False  # The sandbox of Jinja asks for both.

    def __getattr__(self, name: str) -> _WhileParsing:
        return self

    def __call__(self, *_: Any, **__: Any) -> str:
        return ""


_WHILE_PARSING = _WhileParsing()


class DeltaWidenAdapter(ListingAdapter):
    """dbt-spark's adapter, with a plan before every write to an existing table."""

    ConnectionManager = DeltaWidenConnectionManager
    Column = DeltaWidenColumn
    Relation = DeltaWidenRelation
    AdapterSpecificConfigs = DeltaWidenConfig
    _capabilities = CAPABILITIES
    connections: DeltaWidenConnectionManager

    def __init__(self, config: Any, mp_context: SpawnContext) -> None:
        credentials = config.credentials
        # At once: dbt-core's own part reads the whole stack, which takes a tenth of a second.
        if credentials.method == ConnectionMethod.SESSION and needs_spark():
            prestart(credentials.spark_start, credentials.kept_seconds)
        super().__init__(config, mp_context)
        if needs_spark():
            _ = self._services  # The threads of the nodes must not make one each.

    @cached_property
    def _services(self) -> AdapterServices:
        # Two thirds of the package's modules: dbt parse and dbt ls start faster without them.
        from dbt.adapters.deltawiden.services import AdapterServices

        return AdapterServices(self, self._handle)

    @available.parse(lambda: _WHILE_PARSING)
    def services(self) -> AdapterServices:
        """Return what the macros call: nothing while dbt parses the project."""
        return self._services

    @property
    def _backend(self) -> SqlBackend:
        return self._services.backend

    def _handle(self) -> Any:
        return self.connections.get_thread_connection().handle

    # What dbt calls around a node

    @contextmanager
    def connection_named(
        self, name: str, query_header_context: Any = None, should_release_connection: bool = True
    ) -> Iterator[None]:
        """Check a node's folder on its connection: dbt does nothing before it compiles the node."""
        with super().connection_named(name, query_header_context, should_release_connection):
            self._services.folders.prepare(query_header_context)
            yield

    @available
    def spark_materialization(self, context: Mapping[str, Any], materialized: str) -> Any:
        """Return the project's materialization that runs in place of ours, or None."""
        model = context["model"]
        macros = self._macros(model["package_name"], model.get("language"))
        return macros.to_call(context, materialized)

    def _macros(self, package: str, language: str | None) -> NodeMacros:
        return NodeMacros(self.get_macro_resolver(), self.config, package, language)

    def pre_model_hook(self, config: Any) -> Any:
        """Check a node's configuration and default its file format, before anything runs.

        dbt calls it before each materialization. Those of dbt-spark read ``file_format`` each.

        Returns:
            The settings of Spark that the node's statements run with, for ``post_model_hook``.

        Raises:
            DbtConfigError: a value is not accepted, or the session has no Delta.
        """
        macros = self._macros(config.model.package_name, getattr(config.model, "language", None))
        settings = self._services.start_node(config, macros)
        super().pre_model_hook(config)
        return settings

    def post_model_hook(self, config: Any, context: Any) -> None:
        """Drop the views of a model's data frames. dbt calls this if a model failed, too."""
        # For a unit test, which has no such view, dbt passes the whole context of its macros.
        with context:
            self._backend.drop_views(views.data_frame_views(getattr(config, "model", None)))
        node = getattr(config, "model", None)
        is_iceberg = node and file_format_of(config) == "iceberg"
        self._backend.refresh_shared(node.relation_name if node and is_iceberg else None)
        super().post_model_hook(config, None)

    @available.parse(lambda *_, **__: ("", empty_table()))
    def execute(
        self, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run a statement, as dbt's own ``execute`` does.

        Raises:
            ViewRefused: a view that is read has narrower types than its table.
            DbtDatabaseError: Spark or Delta refused the statement.
        """
        try:
            return super().execute(sql, auto_begin, fetch, limit)  # type: ignore[no-any-return]
        except DbtDatabaseError as error:
            if condition_of(error) == UP_CAST:
                self._services.view_finder.explain_failure(sql, error)
            raise

    # Python models

    @property
    def default_python_submission_method(self) -> str:
        """Where Python models run by default: in dbt's own session, if it has one."""
        if self._backend.has_session:
            return SESSION
        return str(super().default_python_submission_method)

    @property
    def python_submission_helpers(  # type: ignore[override]
        self,
    ) -> dict[str, Callable[..., PythonJobHelper]]:
        """The ways to run a Python model, by ``submission_method``."""
        in_session = partial(
            SessionJob,
            connection=self._handle,
            check_query=self._services.views.check_python,
        )
        return {**super().python_submission_helpers, SESSION: in_session}

    def submit_python_job(
        self, parsed_model: dict[str, Any], compiled_code: str
    ) -> AdapterResponse:
        """Run a Python model, as dbt's own ``submit_python_job`` does.

        Raises:
            DbtRuntimeError: the connection has no session to run it in.
        """
        check_submission(
            parsed_model["config"].get("submission_method"),
            self.config.credentials.method,
            self._backend.has_session,
        )
        response: AdapterResponse = super().submit_python_job(parsed_model, compiled_code)
        return response

    # Writes

    def valid_incremental_strategies(self) -> list[str]:
        """Return the strategies for which dbt calls a macro that the project has for them."""
        return list(self._services.strategies)

    @available.parse(lambda *_, **__: False)
    def has_spark(self, major: int) -> bool:
        """Return whether the Spark that runs is of a major version or a later one."""
        return self._backend.spark_version() >= (major,)

    @available
    def prepare_for_view(self, query: str) -> None:
        """Let the metastore of the embedded Spark keep a view's text, however long it is."""
        self._backend.allow_long_view(query)

    @available
    def temporary_view(self, model: Mapping[str, Any], of_data_frame: bool = False) -> str:
        """Return the name of the temporary view of a model's rows, or of its data frame."""
        return views.temporary_view(model, views.PYTHON if of_data_frame else views.WRITE)

    @available.parse(lambda *_: DeltaWidenConfig.file_format)
    def use_format_of(self, config: Any, table: SparkRelation) -> str:
        """Let a model have the format of the table that it has: ``use_format_of``."""
        return use_format_of(config.model.config, table)

    # Seeds

    def quote_seed_column(self, column: str, quote_config: bool | None) -> str:
        """Quote the name of a seed's column: ``quote_seed_column``."""
        super().quote_seed_column(column, quote_config)
        return self._services.quote_seed_column(column, quote_config)

    # Text for statements

    @available
    @classmethod
    def quote(cls, identifier: str) -> str:
        """Quote a name for a statement, whatever is in it."""
        # As dbt-spark: dbt's own callers ask for the name of a database, which can be None.
        return quote(str(identifier))

    quote_once = available(staticmethod(quote_once))
    columns_sql = available(staticmethod(columns_sql))
    in_lines = available(staticmethod(in_lines))
    properties_sql = available(staticmethod(properties_sql))
    literal_sql = available(staticmethod(literal))
    expression_in = available(staticmethod(expression_in))

    @available
    def operations(self, context: Mapping[str, Any]) -> Any:
        """Return the operations that ``dbt run-operation`` runs on the tables of a project."""
        # A quarter of the package's modules: other commands start faster without them.
        from dbt.adapters.deltawiden.operations.operations import Operations

        folders = self._services.folders
        return Operations(self._services, self, context, folders.taken_over, folders.check)

    # Metadata: the pages of dbt docs

    def get_catalog(
        self, relation_configs: Iterable[Any], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        """Return the catalog of all schemas of a project: ``catalog_of_schemas``."""
        return self._services.catalog_of_schemas(self._get_catalog_schemas(relation_configs))

    def get_catalog_by_relations(
        self, used_schemas: frozenset[tuple[str, str]], relations: set[BaseRelation]
    ) -> tuple[agate.Table, list[Exception]]:
        """Return the catalog of some relations: ``catalog_of_relations``."""
        return self._services.catalog_of_relations(relations)

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterable[dict[str, Any]]:
        of_view = super()._get_columns_for_catalog
        return self._services.columns_for_catalog(relation, of_view)

    def get_catalog_for_single_relation(self, relation: BaseRelation) -> CatalogTable | None:
        """Return what ``dbt docs generate`` shows of a relation; None if it can't be read."""
        return self._services.catalog_of_relation(relation)
