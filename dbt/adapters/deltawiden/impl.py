"""The adapter: what dbt and the macros of models call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.context import SpawnContext
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.impl import PythonJobHelper
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.spark.impl import SparkConfig
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.contracts.metadata import CatalogTable
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden import model_config
from dbt.adapters.deltawiden.catalog import catalog_rows, catalog_table, statistics
from dbt.adapters.deltawiden.conflicts import until_no_conflict
from dbt.adapters.deltawiden.connections import ConnectionMethod, DeltaWidenResponse
from dbt.adapters.deltawiden.early_start import start_early
from dbt.adapters.deltawiden.maintenance import MaintenanceAdapter
from dbt.adapters.deltawiden.python_models import SessionJob
from dbt.adapters.deltawiden.tables import SchemaChangeRefused, invalid_configuration
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.facts import ENABLED, is_true
from dbt.adapters.deltawiden.widening.literals import literal
from dbt.adapters.deltawiden.widening.names import names_sql
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.policy import (
    CONFIGURATION_KEYS,
    InvalidConfiguration,
    OnLossyWrite,
    OnSchemaChange,
    Policy,
    read_policy,
)
from dbt.adapters.deltawiden.widening.properties import properties_sql
from dbt.adapters.deltawiden.widening.rules import feature_properties

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

    def __init__(self, config: Any, mp_context: SpawnContext) -> None:
        super().__init__(config, mp_context)
        if config.credentials.method == ConnectionMethod.SESSION:
            start_early(config.credentials.server_side_parameters)

    def pre_model_hook(self, config: Any) -> Any:
        """Check a node's configuration and default its file format, before anything runs.

        dbt calls this before each materialization. It is the one place that dbt-spark's
        materializations and macros, which each read ``file_format`` on their own, all come after.

        Args:
            config: the node's configuration, as macros see it.

        Raises:
            DbtConfigError: a value is not accepted.
        """
        self._check_configuration(config)
        if config.get("file_format") is None:
            config.model.config["file_format"] = DeltaWidenConfig.file_format
        return super().pre_model_hook(config)

    @property
    def default_python_submission_method(self) -> str:
        """Where Python models run unless they say it: in dbt's own session, if it has one."""
        return SESSION if self._has_session() else str(super().default_python_submission_method)

    @property
    def python_submission_helpers(  # type: ignore[override]
        self,
    ) -> dict[str, Callable[..., PythonJobHelper]]:
        """The ways to run a Python model, by ``submission_method``."""
        in_session = partial(SessionJob, session=lambda: self._handle().session)
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
    def begin_to_read(self, table: SparkRelation) -> Callable[[], StructType]:
        """Begin to read the schema of an existing table, beside the statements that come next.

        Args:
            table: the table.

        Returns:
            What ``plan_schema_changes`` takes.
        """
        return self._reader.begin_schema(table)

    @available
    def plan_schema_changes(
        self,
        source: SparkRelation,
        table: SparkRelation,
        table_schema: Callable[[], StructType],
        config: Any,
    ) -> Plan:
        """Decide what an existing table needs before a model's output is written to it.

        Args:
            source: the relation with the model's output.
            table: the existing table.
            table_schema: waits for the table's schema, and gives it.
            config: the model's configuration.

        Returns:
            A plan that is not refused. Its statements have not run.

        Raises:
            SchemaChangeRefused: the plan is refused; all refusals are in the message.
            DbtConfigError: a configuration value is not accepted.
        """
        policy = self._policy(config)
        plan = self._unless_refused(
            self._plan(self._reader.schema(source), table, table_schema(), policy, config)
        )
        if plan.lossy and policy.on_lossy_write is OnLossyWrite.ERROR:
            raise SchemaChangeRefused(report.lossy_text(plan, policy.on_lossy_write))
        return plan

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
        source, table_schema = self._reader.query_schema(query), self._reader.schema(table)
        return self._unless_refused(self._plan(source, table, table_schema, policy, config))

    @available
    def until_no_conflict(self, write: Callable[..., Any], *arguments: Any) -> None:
        """Plan and write; where another writer came first, again, a bounded number of times.

        Args:
            write: a macro that plans and writes once. It is called with the attempts, whose
                ``remember`` takes its plan, and the arguments.
            arguments: what else the macro takes.

        Raises:
            DbtDatabaseError: the engine refused a statement, or other writers came first each time.
        """
        until_no_conflict(lambda attempts: write(attempts, *arguments))

    @available
    def schema_changes_text(self, plan: Plan) -> str:
        """Say in one line what a plan changes; empty where it changes nothing."""
        return report.changes_text(plan)

    @available
    def lossy_write_text(self, plan: Plan, config: Any) -> str:
        """Say what a write would not store exactly; empty where nobody has to be warned."""
        if plan.lossy and self._policy(config).on_lossy_write is OnLossyWrite.WARN:
            return report.lossy_text(plan, OnLossyWrite.WARN)
        return ""

    @available
    def response_with_changes(self, response: AdapterResponse, plan: Plan) -> AdapterResponse:
        """Add a plan's type changes to the answer of a write, for run_results.json.

        Args:
            response: the answer.
            plan: the plan that was run before the write.

        Returns:
            The answer as it was where no type was changed.
        """
        changes = (*plan.made_before, *plan.changes)
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

    @available.parse(lambda *_, **__: False)
    def has_spark(self, major: int) -> bool:
        """Tell whether the Spark that runs is of a major version or a later one."""
        return self._reader.engine().spark >= (major,)

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
