"""The adapter: what dbt and the macros of models call."""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.context import SpawnContext
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.impl import PythonJobHelper
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.spark.impl import SparkAdapter, SparkConfig
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.contracts.metadata import CatalogTable
from dbt_common.exceptions import CompilationError, DbtRuntimeError
from dbt_common.invocation import get_invocation_id
from pyspark.sql.types import DataType, DateType, StructField, StructType, TimestampNTZType

from dbt.adapters.deltawiden.config import validation as model_config
from dbt.adapters.deltawiden.config.policy import (
    CONFIGURATION_KEYS,
    InvalidConfiguration,
    OnLossyWrite,
    OnSchemaChange,
    Policy,
    read_policy,
)
from dbt.adapters.deltawiden.connections import ConnectionMethod, DeltaWidenResponse
from dbt.adapters.deltawiden.delta.protocol import ENABLED, is_true
from dbt.adapters.deltawiden.docs_catalog import catalog_rows, catalog_table, statistics
from dbt.adapters.deltawiden.evolution.attempts import Turns, retry_on_conflict
from dbt.adapters.deltawiden.maintenance import MaintenanceAdapter
from dbt.adapters.deltawiden.spark.embedded_metastore import MAX_VIEW_CHARACTERS, allow_long_views
from dbt.adapters.deltawiden.spark.prestart import prestart
from dbt.adapters.deltawiden.spark.python_models import SessionJob
from dbt.adapters.deltawiden.spark.session import check_has_delta
from dbt.adapters.deltawiden.spark.temporary_views import python_view, session_view
from dbt.adapters.deltawiden.sql.identifiers import names_sql, quote, read_name
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.properties import properties_sql
from dbt.adapters.deltawiden.tables import SchemaChangeRefused, invalid_configuration
from dbt.adapters.deltawiden.views.finder import view_models
from dbt.adapters.deltawiden.views.stale_views import read_text
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan, refused_keys
from dbt.adapters.deltawiden.widening.rules import feature_properties
from dbt.adapters.deltawiden.widening.self_reference import (
    grows_again,
    self_reference_text,
    widened_queries,
)
from dbt.adapters.deltawiden.writing.batch import Batch, NoBatch, read_batch
from dbt.adapters.deltawiden.writing.columns import partitions_checked_sql
from dbt.adapters.deltawiden.writing.partition_values import keeps_partitions_as_text

SESSION = "session"


@dataclass
class DeltaWidenConfig(SparkConfig):
    """The model configuration that this adapter reads besides dbt-spark's."""

    file_format: str = "delta"
    type_widening: bool | None = None
    type_widening_compatible_with: list[str] | None = None
    on_lossy_write: str | None = None


class DeltaWidenAdapter(MaintenanceAdapter):
    """dbt-spark's adapter, with a plan before every write to an existing table."""

    AdapterSpecificConfigs = DeltaWidenConfig
    # Of batches that run at once each replaces its own rows, and a conflict is tried again.
    _capabilities = CapabilityDict(
        {
            **SparkAdapter._capabilities,
            Capability.MicrobatchConcurrency: CapabilitySupport(support=Support.Full),
        }
    )

    def __init__(self, config: Any, mp_context: SpawnContext) -> None:
        super().__init__(config, mp_context)
        self._warned: set[tuple[str, str]] = set()
        self._turns: defaultdict[str, Turns] = defaultdict(Turns)
        self._with_zoneless_times: set[str] = set()
        if config.credentials.method == ConnectionMethod.SESSION:
            prestart(config.credentials.server_side_parameters)

    def pre_model_hook(self, config: Any) -> Any:
        """Check a node's configuration and default its file format, before anything runs.

        dbt calls this before each materialization. It is the one place that dbt-spark's
        materializations and macros, which each read ``file_format`` on their own, all come after.

        Args:
            config: the node's configuration, as macros see it.

        Raises:
            DbtConfigError: a value is not accepted, or the session has no Delta.
        """
        self._check_configuration(config)
        if config.get("file_format") is None:
            config.model.config["file_format"] = DeltaWidenConfig.file_format
        is_table = config.get("materialized") in ("table", "incremental", "snapshot", "seed")
        if is_table and config.get("file_format") == DeltaWidenConfig.file_format:
            check_has_delta()
        return super().pre_model_hook(config)

    def post_model_hook(self, config: Any, context: Any) -> None:
        """Drop the view of a Python model's data frame. dbt calls this where a model failed, too.

        Args:
            config: the node's configuration, as macros see it. For a unit test, which is never
                in Python, dbt gives the whole context of its macros.
            context: what ``pre_model_hook`` returned.
        """
        node = getattr(config, "model", None)
        if getattr(node, "language", None) == "python" and self._has_session():
            assert node is not None
            view = python_view(node.to_dict(omit_none=True))
            self._handle().session.catalog.dropTempView(view)
        super().post_model_hook(config, context)

    @property
    def default_python_submission_method(self) -> str:
        """Where Python models run unless they say it: in dbt's own session, if it has one."""
        return SESSION if self._has_session() else str(super().default_python_submission_method)

    @property
    def python_submission_helpers(  # type: ignore[override]
        self,
    ) -> dict[str, Callable[..., PythonJobHelper]]:
        """The ways to run a Python model, by ``submission_method``."""
        in_session = partial(
            SessionJob,
            session=lambda: self._handle().session,
            check_query=self._check_query_of_python,
        )
        return {**super().python_submission_helpers, SESSION: in_session}

    def submit_python_job(
        self, parsed_model: dict[str, Any], compiled_code: str
    ) -> AdapterResponse:
        """Run a Python model.

        Args:
            parsed_model: the model's node.
            compiled_code: its code, with what dbt adds.

        Returns:
            The answer of the connection.

        Raises:
            DbtRuntimeError: the connection has no session to run it in.
        """
        method = self.config.credentials.method
        asked = parsed_model["config"].get("submission_method")
        has_none = method in (ConnectionMethod.THRIFT, ConnectionMethod.ODBC)
        if (asked == SESSION and not self._has_session()) or (asked is None and has_none):
            raise DbtRuntimeError(
                f"This is a Python model, and method: {method} of the profile can run SQL only. "
                "Python models run in dbt's own Spark session: use method: session or connect."
            )
        response: AdapterResponse = super().submit_python_job(parsed_model, compiled_code)
        return response

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterable[dict[str, Any]]:
        if isinstance(relation, SparkRelation) and self._has_session():
            return catalog_rows(self._reader, relation)
        rows = list(super()._get_columns_for_catalog(relation))
        told = statistics(self._reader, relation) if isinstance(relation, SparkRelation) else {}
        return [{**each, **told} for each in rows]

    def get_catalog_for_single_relation(self, relation: BaseRelation) -> CatalogTable | None:
        """Tell of one relation what ``dbt docs generate`` tells of all.

        Args:
            relation: a table or view.

        Returns:
            It with its columns and statistics; None where it can't be read.
        """
        # dbt's cache knows a relation that this process has made by no more than its name.
        listed = self.list_relations_without_caching(relation.without_identifier())
        found = next((each for each in listed if each.identifier == relation.identifier), relation)
        rows = list(self._get_columns_for_catalog(found))
        return catalog_table(rows) if rows else None

    @available
    def prefetch_schema(self, table: SparkRelation) -> Callable[[], StructType]:
        """Begin to read the schema of an existing table, beside the statements that come next.

        Args:
            table: the table.

        Returns:
            What ``plan_schema_changes`` takes.
        """
        return self._reader.prefetch_schema(table)

    @available
    def plan_schema_changes(
        self,
        source: SparkRelation,
        table: SparkRelation,
        table_schema: Callable[[], StructType],
        config: Any,
        query: str,
    ) -> Plan:
        """Decide what an existing table needs before a model's output is written to it.

        Args:
            source: the relation with the model's output.
            table: the existing table.
            table_schema: waits for the table's schema, and gives it.
            config: the model's configuration.
            query: the model's query.

        Returns:
            A plan that is not refused. Its statements have not run.

        Raises:
            SchemaChangeRefused: the plan is refused; all refusals are in the message.
            DbtConfigError: a configuration value is not accepted.
        """
        schemas = self._reader.schema(source), table_schema()
        keys = model_config.columns_named(config.get("unique_key"))
        plan = self._plan(schemas, table, self._policy(config), config, config.model.name, keys)
        if config.get("incremental_strategy") == "merge":
            plan = plan.refusing(refused_keys(plan.write))
        self._refuse_self_reference(self._unless_refused(plan), table, query)
        return plan

    def _refuse_self_reference(self, plan: Plan, table: SparkRelation, query: str) -> None:
        """Stop a model that would widen its own input, before the first statement."""
        if not plan.changes:
            return
        types = {column.name: column.type for column in plan.write.columns}
        name = (*read_name(table.schema or ""), *read_name(table.identifier or ""))
        for widened in widened_queries(query, name, types):
            output = None
            # One of the two spellings is not valid, and both may not be.
            with contextlib.suppress(DbtRuntimeError):
                output = self._reader.query_schema(widened)
            if output is not None:
                after = StructType([StructField(*column) for column in types.items()])
                growing = grows_again(plan.changes, output, after)
                if growing:
                    raise SchemaChangeRefused(self_reference_text(plan.table, growing))
                return

    @available
    def plan_snapshot_changes(self, query: str, table: SparkRelation, config: Any) -> Plan:
        """Decide what an existing snapshot needs before new versions of rows are written to it.

        A snapshot keeps what its source no longer has, and takes what is new, whatever the
        configuration: as ``on_schema_change: append_new_columns`` does.

        Args:
            query: what the snapshot's rows are made of, dbt's own columns included.
            table: the existing table.
            config: the snapshot's configuration.

        Returns:
            A plan that is not refused. Its statements have not run.

        Raises:
            SchemaChangeRefused: the plan is refused; all refusals are in the message.
            DbtConfigError: a configuration value is not accepted.

        Source:
            https://docs.getdbt.com/docs/build/snapshots, "What happens if I add new columns to my
            snapshot query?"
        """
        policy = replace(self._policy(config), on_schema_change=OnSchemaChange.APPEND_NEW_COLUMNS)
        schemas = self._reader.query_schema(query), self._reader.table_schema(table)
        # A snapshot compares each of its columns with the table's, as the table stores it.
        keys = frozenset(name.lower() for name in schemas[1].names)
        return self._unless_refused(
            self._plan(schemas, table, policy, config, config.model.name, keys)
        )

    @available
    def with_moments(self, query: str, columns: Mapping[str, str]) -> str:
        """Let the times of a new snapshot's versions be moments, also where they come from dates.

        Args:
            query: what the snapshot's rows are made of.
            columns: the names of dbt's own columns.

        Returns:
            A query with the same columns; ``query`` itself where none of the times is a date.
        """
        try:
            schema = self._reader.query_schema(query)
        except DbtRuntimeError:
            return query  # The statement itself will say what is wrong.
        dates = _times(schema.fields, columns, DateType)
        if not dates:
            return query
        names = ((field.name, quote(field.name)) for field in schema.fields)
        selected = (f"cast({q} as timestamp) as {q}" if name in dates else q for name, q in names)
        return f"select {', '.join(selected)} from (\n{query}\n)"

    @available
    def check_hard_deletes(self, plan: Plan, config: Any, columns: Mapping[str, str]) -> None:
        """Stop a snapshot whose table has dates for the moments at which rows are found deleted.

        Args:
            plan: the plan for the snapshot's table.
            config: the snapshot's configuration.
            columns: the names of dbt's own columns.

        Raises:
            SchemaChangeRefused: the table would store days, not moments.
        """
        hard_deletes = self.get_hard_deletes_behavior(config)
        is_accepted = self._policy(config).on_lossy_write is not OnLossyWrite.ERROR
        written = [StructField(column.name, column.type) for column in plan.write.columns]
        if _times(written, columns, TimestampNTZType):
            self._with_zoneless_times.add(config.model.unique_id)
        dates = _times(written, columns, DateType)
        if hard_deletes != "ignore" and dates and not is_accepted:
            raise SchemaChangeRefused(report.dates_text(plan.table, hard_deletes, dates))

    @available.parse(lambda *_, **__: False)
    def has_zoneless_times(self, unique_id: str) -> bool:
        """Tell whether the times in a snapshot's table have no time zone.

        Args:
            unique_id: the snapshot, after ``check_hard_deletes``.
        """
        return unique_id in self._with_zoneless_times

    @available
    def views_read_text(self, query: str, config: Any, graph: Mapping[str, Any]) -> str:
        """Find out whether a model reads through views that change its values, before it writes.

        Args:
            query: the query that makes the model's rows.
            config: the model's configuration.
            graph: dbt's graph.

        Returns:
            What to warn of, where ``on_lossy_write`` is ``warn``; else empty.

        Raises:
            SchemaChangeRefused: the values would be changed.
        """
        accepted = config.get("on_lossy_write")
        if accepted == OnLossyWrite.IGNORE.value:
            return ""
        views = self._views.read_by(query)
        if not views:
            return ""
        is_accepted = accepted == OnLossyWrite.WARN.value
        text = read_text(views, view_models(graph.get("nodes", {}).values()), is_accepted)
        if is_accepted:
            return text
        raise SchemaChangeRefused(text)

    @available
    def with_partitions_checked(self, query: str, table: SparkRelation, config: Any) -> str:
        """Let a query that makes a table end where a partition would not store a value exactly.

        Args:
            query: the query.
            table: the table that is made of it.
            config: the model's configuration.

        Returns:
            A query with the same columns; ``query`` itself where nothing has to be checked.
        """
        columns = model_config.columns_named(config.get("partition_by"))
        is_accepted = self._policy(config).on_lossy_write is not OnLossyWrite.ERROR
        if is_accepted or not columns or not keeps_partitions_as_text(config.get("file_format")):
            return query
        try:
            schema = self._reader.query_schema(query)
        except DbtRuntimeError:
            return query  # The statement itself will say what is wrong.
        is_delta = config.get("file_format") == DeltaWidenConfig.file_format
        check = self._value_check(config.model.name, table, is_delta, schema, columns)
        selected = partitions_checked_sql(schema, check)
        if not selected:
            return query
        return f"select {selected} from (\n{query.rstrip().removesuffix(';')}\n)"

    def _check_query_of_python(self, query: str, config: Mapping[str, Any]) -> None:
        # The data frame that the model returns is looked at as well, and warned of once.
        if config.get("on_lossy_write") in (None, OnLossyWrite.ERROR.value):
            self.views_read_text(query, config, {})

    @available
    def retry_on_conflict(
        self, table: SparkRelation, write: Callable[..., Any], *arguments: Any
    ) -> Plan | None:
        """Plan and write; where another writer came first, again, a bounded number of times.

        Args:
            table: the table that is written to.
            write: a macro that plans and writes once. It is called with the attempts, whose
                ``record_plan`` takes its plan, and the arguments.
            arguments: what else the macro takes.

        Returns:
            The plan by which the rows were written, for ``run_after_write``.

        Raises:
            DbtDatabaseError: the engine refused a statement, or other writers came first each time.
        """
        return retry_on_conflict(
            lambda attempts: write(attempts, *arguments), self._turns[table.render()]
        )

    @available
    def schema_changes_text(self, plan: Plan) -> str:
        """Say in one line what a plan changes; empty where it changes nothing."""
        return report.changes_text(plan)

    @available
    def warnings(self, plan: Plan, config: Any) -> list[str]:
        """Say what a write would not store, or not exactly.

        Args:
            plan: the plan of the write.
            config: the model's configuration.

        Returns:
            What to warn of. Each text is given once a run, however many batches a model has.
        """
        texts = []
        if plan.left_out:
            texts.append(report.left_out_text(plan))
        if plan.lossy and self._policy(config).on_lossy_write is OnLossyWrite.WARN:
            texts.append(report.lossy_text(plan, OnLossyWrite.WARN))
        run = get_invocation_id()
        new = [text for text in texts if (run, text) not in self._warned]
        self._warned.update((run, text) for text in new)
        return new

    @available
    def response_with_changes(self, response: AdapterResponse, plan: Plan) -> AdapterResponse:
        """Add a plan's type changes to the answer of a write, for run_results.json.

        Args:
            response: the answer.
            plan: the plan that was run before the write.

        Returns:
            The answer as it was where no type was changed.
        """
        changes = (*plan.applied_by_earlier_attempts, *plan.changes)
        if not changes:
            return response
        return DeltaWidenResponse(
            **response.to_dict(), type_changes=[each.value for each in changes]
        )

    @available
    def features_for_query(self, query: str) -> dict[str, str]:
        """Name the table properties without which a query can't replace an existing Delta table.

        Args:
            query: the model's query.

        Returns:
            Properties that support table features; in a session only, where asking is no statement.
        """
        if not self._has_session():
            return {}
        try:
            schema = self._handle().query_schema(query)
        except DbtRuntimeError:
            return {}  # The statement itself will say what is wrong.
        return feature_properties([schema])

    @available
    def properties_sql(self, properties: Mapping[str, Any]) -> str:
        """Render table properties for a statement."""
        return properties_sql(properties)

    @available
    def names_sql(self, names: str | Sequence[str]) -> str:
        """Render the columns that a configuration lists, for a statement."""
        return names_sql(names)

    @available
    def literal_sql(self, value: Any) -> str:
        """Render a value for a statement."""
        return literal(value)

    @available
    def prepare_for_view(self, query: str) -> None:
        """Let the metastore of the embedded Spark keep a view's text, however long it is.

        Args:
            query: the view's query.
        """
        if len(query) > MAX_VIEW_CHARACTERS and self._reader.has_jvm:
            allow_long_views(self._handle().session)

    @available
    def session_view(self, model: Mapping[str, Any]) -> str:
        """Name the temporary view of a model's rows, which the write reads.

        Args:
            model: the model's node.
        """
        return session_view(model)

    @available
    def python_view(self, model: Mapping[str, Any]) -> str:
        """Name the temporary view of a Python model's data frame.

        Args:
            model: the model's node.
        """
        return python_view(model)

    @available
    def read_batch(self, plan: Plan, config: Any, limits: Mapping[str, Any]) -> Batch:
        """Find the rows of a table that belong to a batch of a microbatch model.

        Args:
            plan: the plan for the table.
            config: the model's configuration.
            limits: the batch, as dbt describes it in the model's node.

        Returns:
            The batch.

        Raises:
            CompilationError: the table's column does not tell in which batch a row is.
        """
        start, end = limits["event_time_start"], limits["event_time_end"]
        try:
            return read_batch(plan.write.columns, config.get("event_time"), start, end)
        except NoBatch as error:
            raise CompilationError(str(error)) from error

    @available
    def has_exact_text(self, batch: Batch) -> bool:
        """Tell whether the limits of a batch are the same when Spark reads them as text."""
        return not batch.is_text_exact or bool(self._fetch_rows(batch.is_text_exact)[0][0])

    @available.parse(lambda *_, **__: False)
    def has_spark(self, major: int) -> bool:
        """Tell whether the Spark that runs is of a major version or a later one."""
        return self._reader.spark_version() >= (major,)

    @available
    def has_type_widening(self, table: SparkRelation) -> bool:
        """Tell whether a table's property enables type widening."""
        return is_true(self._reader.properties(table), ENABLED)

    def _check_configuration(self, config: Any) -> None:
        found = model_config.problems({key: config.get(key) for key in model_config.CHECKS})
        try:
            read_policy({key: config.get(key) for key in CONFIGURATION_KEYS})
        except InvalidConfiguration as error:
            found = [str(error), *found]
        if found:
            raise invalid_configuration(config.model.unique_id, found)

    def _policy(self, config: Any) -> Policy:
        return self._read_policy(config, config.model.unique_id)


def _times(
    fields: Iterable[StructField], columns: Mapping[str, str], data_type: type[DataType]
) -> list[str]:
    """Name the times of a snapshot's versions that are of a type."""
    keys = ("dbt_updated_at", "dbt_valid_from", "dbt_valid_to")
    times = {columns[key].lower() for key in keys if key in columns}
    found = (field for field in fields if isinstance(field.dataType, data_type))
    return [field.name for field in found if field.name.lower() in times]
