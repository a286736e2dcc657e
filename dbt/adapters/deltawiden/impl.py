"""What macros may call."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.connections import SparkConnectionMethod
from dbt.adapters.spark.impl import TABLE_OR_VIEW_NOT_FOUND_MESSAGES, SparkAdapter, SparkConfig
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtConfigError, DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt.adapters.deltawiden.__version__ import version
from dbt.adapters.deltawiden.connections import DeltaWidenConnectionManager, DeltaWidenResponse
from dbt.adapters.deltawiden.operations.check_type_widening import of_check, of_new_table
from dbt.adapters.deltawiden.operations.outcome import Outcome, Outcomes, run_on_each
from dbt.adapters.deltawiden.operations.report_type_widening import report_table
from dbt.adapters.deltawiden.operations.widen_columns import of_plan
from dbt.adapters.deltawiden.reader import Reader, quoted
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.diff import AmbiguousName, compare
from dbt.adapters.deltawiden.widening.facts import ENABLED
from dbt.adapters.deltawiden.widening.plan import (
    Plan,
    plan_by_hand,
    plan_changes,
    plan_no_change,
)
from dbt.adapters.deltawiden.widening.policy import (
    CONFIGURATION_KEYS,
    InvalidConfiguration,
    OnLossyWrite,
    OnSchemaChange,
    Policy,
    read_policy,
)
from dbt.adapters.deltawiden.widening.request import InvalidRequest, read_request
from dbt.adapters.deltawiden.widening.rules import feature_properties
from dbt.adapters.deltawiden.widening.types import parse_path

logger = AdapterLogger("DeltaWiden")

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
"""The setting whose value Delta stores with the next commits,
https://docs.delta.io/latest/delta-batch.html#set-user-defined-commit-metadata."""


@dataclass
class DeltaWidenConfig(SparkConfig):
    """The model configuration that this adapter reads besides dbt-spark's."""

    file_format: str = "delta"
    type_widening: bool | None = None
    type_widening_compatible_with: list[str] | None = None
    on_lossy_write: str | None = None


class SchemaChangeRefused(DbtRuntimeError):
    """The table can't take the model's output; nothing was changed or written."""


class DeltaWidenAdapter(SparkAdapter):
    """dbt-spark's adapter, with a plan before every write to an existing table."""

    ConnectionManager = DeltaWidenConnectionManager
    AdapterSpecificConfigs = DeltaWidenConfig

    def pre_model_hook(self, config: Any) -> Any:
        """Check a node's configuration and default its file format, before anything runs.

        dbt calls this before each materialization. It is the one place that dbt-spark's
        materializations and macros, which each read ``file_format`` on their own, all come after.

        Args:
            config: the node's configuration, as macros see it.

        Raises:
            DbtConfigError: a value is not accepted.
        """
        self._policy(config)
        if config.get("file_format") is None:
            config.model.config["file_format"] = DeltaWidenConfig.file_format
        return super().pre_model_hook(config)

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkColumn]:
        """List a relation's columns; in a session without a statement.

        Args:
            relation: a table or view.

        Returns:
            Its columns, none where there is no such relation.
        """
        if not self._in_session():
            return super().get_columns_in_relation(relation)
        try:
            schema = self._reader.schema(relation)
        except DbtRuntimeError as error:
            if any(message in error.msg for message in TABLE_OR_VIEW_NOT_FOUND_MESSAGES):
                return []
            raise
        return [
            SparkColumn(
                table_schema=relation.schema,
                table_name=relation.name,
                table_type=relation.type,
                column=field.name,
                column_index=index,
                dtype=field.dataType.simpleString(),
            )
            for index, field in enumerate(schema.fields)
            if field.name not in self.HUDI_METADATA_COLUMNS
        ]

    @available
    def plan_schema_changes(self, source: SparkRelation, table: SparkRelation, config: Any) -> Plan:
        """Decide what an existing table needs before a model's output is written to it.

        Args:
            source: the relation with the model's output.
            table: the existing table.
            config: the model's configuration.

        Returns:
            A plan that is not refused. Its statements have not run.

        Raises:
            SchemaChangeRefused: the plan is refused; all refusals are in the message.
            DbtConfigError: a configuration value is not accepted.
        """
        policy = self._policy(config)
        plan = self._unless_refused(self._plan(source, table, policy))
        if plan.lossy and policy.on_lossy_write is OnLossyWrite.ERROR:
            raise SchemaChangeRefused(report.lossy_text(plan))
        return plan

    def _plan(self, source: SparkRelation, table: SparkRelation, policy: Policy) -> Plan:
        source_schema, table_schema = self._reader.schema(source), self._reader.schema(table)
        try:
            difference = compare(source_schema, table_schema)
        except AmbiguousName as error:
            raise SchemaChangeRefused(str(error)) from error
        if difference and policy.on_schema_change is not OnSchemaChange.IGNORE:
            facts = self._reader.facts(table, layout=bool(difference.gone) and policy.drops)
            return plan_changes(difference, source_schema, table_schema, policy, facts)
        # Only where the write would fail otherwise is it worth a question.
        made = self._reader.facts(table).made_by_table if difference.gone_columns else frozenset()
        return plan_no_change(difference, source_schema, table_schema, quoted(table), made)

    @available
    def parse_name(self, name: str) -> list[str]:
        """Read the name of a table, as ``schema.table`` with backticks where they are needed.

        Raises:
            DbtRuntimeError: the text is not such a name.
        """
        try:
            return list(parse_path(name))
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from error

    @available
    def tables_in_schema(self, schema: str) -> list[SparkRelation]:
        """List the tables of a schema that are Delta's."""
        found = self.list_relations(database=None, schema=schema)
        return [each for each in found if isinstance(each, SparkRelation) and each.is_delta]

    @available
    def report_type_widening(self, relations: Iterable[SparkRelation]) -> Outcomes:
        """Tell what is known of the type widening of tables.

        Args:
            relations: the tables.

        Returns:
            A report a table.
        """
        return run_on_each(
            "report_type_widening", relations, quoted, partial(report_table, self._reader)
        )

    @available
    def check_type_widening(self, models: Iterable[Mapping[str, Any]]) -> Outcomes:
        """Compare what models make in one schema with their tables in another.

        Args:
            models: for each model its ``name``, its ``config``, ``built``, the relation that it
                makes here, and ``table``, the one that a deployment will write to. Either relation
                can be none.

        Returns:
            What a deployment would do to each table; a refusal is a failure.
        """
        return run_on_each(
            "check_type_widening", models, lambda model: str(model["name"]), self._check
        )

    def _check(self, model: Mapping[str, Any]) -> Outcome:
        name, built, table = str(model["name"]), model["built"], model["table"]
        if built is None:
            raise DbtRuntimeError(
                "is not built in this target's schema: run it there first, for example with "
                f"dbt run --empty --select {name}"
            )
        if table is None:
            return of_new_table(name)
        policy = self._read_policy(model["config"], name)
        plan = self._plan(built, table, policy)
        self._unless_refused(plan)
        return of_check(name, plan, policy)

    @available
    def widen_columns(
        self, relations: Iterable[SparkRelation], columns: Mapping[str, str], dry_run: bool
    ) -> Outcomes:
        """Make the type changes that a person asks of tables.

        Args:
            relations: the tables.
            columns: the wanted type by column path.
            dry_run: whether to change nothing, and tell the statements.

        Returns:
            What became of each table. One that is refused is left as it is.
        """
        return run_on_each(
            "widen_columns",
            relations,
            quoted,
            lambda table: self._widen(table, columns, dry_run),
        )

    def _widen(self, table: SparkRelation, columns: Mapping[str, str], dry_run: bool) -> Outcome:
        try:
            requested = read_request(columns, self._reader.schema(table))
        except InvalidRequest as error:
            raise SchemaChangeRefused(str(error)) from error
        plan = self._unless_refused(plan_by_hand(requested, self._reader.facts(table)))
        if not dry_run:
            self.run_schema_changes(plan, "widen_columns")
        return of_plan(plan, dry_run)

    @available
    def run_schema_changes(self, plan: Plan, changed_by: str) -> None:
        """Run a plan's statements; their commits say in the table's history who made them.

        Args:
            plan: a plan that is not refused.
            changed_by: the unique id of the model, or the name of the operation.

        Raises:
            DbtDatabaseError: the engine refused a statement. A property that was turned on for the
                type changes is turned off again.
        """
        if not plan.statements:
            return
        with self._user_metadata(changed_by):
            done: list[str] = []
            try:
                for statement in plan.statements:
                    self.execute(statement)
                    done.append(statement)
            except DbtRuntimeError:
                self._undo(plan, done)
                raise

    @available
    def schema_changes_text(self, plan: Plan) -> str:
        """Say in one line what a plan changes; empty where it changes nothing."""
        return report.changes_text(plan)

    @available
    def lossy_write_text(self, plan: Plan, config: Any) -> str:
        """Say what a write would not store exactly; empty where nobody has to be warned."""
        if plan.lossy and self._policy(config).on_lossy_write is OnLossyWrite.WARN:
            return report.lossy_text(plan)
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
        if not plan.changes:
            return response
        return DeltaWidenResponse(
            **response.to_dict(), type_changes=[each.value for each in plan.changes]
        )

    @available
    def features_for_query(self, query: str) -> dict[str, str]:
        """Name the table properties without which a query can't replace an existing Delta table.

        Args:
            query: the model's query.

        Returns:
            Properties that support table features; in a session only, where asking is no statement.
        """
        if not self._in_session():
            return {}
        try:
            schema = self._handle().query_schema(query)
        except DbtRuntimeError:
            return {}  # The statement itself will say what is wrong.
        return feature_properties([schema])

    @available
    def has_type_widening(self, table: SparkRelation) -> bool:
        """Tell whether a table's property enables type widening."""
        return self._reader.properties(table).get(ENABLED, "").lower() == "true"

    def _unless_refused(self, plan: Plan) -> Plan:
        if plan.refusals:
            raise SchemaChangeRefused(report.refusals_text(plan))
        return plan

    def _policy(self, config: Any) -> Policy:
        return self._read_policy(config, config.model.unique_id)

    def _read_policy(self, config: Any, name: str) -> Policy:
        try:
            return read_policy({key: config.get(key) for key in CONFIGURATION_KEYS})
        except InvalidConfiguration as error:
            raise DbtConfigError(f"The configuration of {name} is not valid.\n{error}") from error

    def _in_session(self) -> bool:
        return bool(self.config.credentials.method == SparkConnectionMethod.SESSION)

    def _handle(self) -> Any:
        return self.connections.get_thread_connection().handle

    def _ask(self, query: str) -> list[Any]:
        _, answer = self.execute(query, fetch=True)
        return list(answer.rows)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(
            self._ask,
            lambda: self._handle() if self._in_session() else None,
            self.config.credentials.delta_version,
        )

    @contextmanager
    def _user_metadata(self, changed_by: str) -> Iterator[None]:
        """Let the commits made inside say in the table's history who made them."""
        values = {"changed_by": changed_by, "invocation_id": get_invocation_id()}
        text = json.dumps({**values, "dbt_deltawiden": version})
        if self._in_session():
            with self._handle().with_setting(USER_METADATA, text):
                yield
            return
        # A server gives each connection, and so each thread, a session of its own.
        self.execute(f"set {USER_METADATA}={text}")
        try:
            yield
        finally:
            self.execute(f"reset {USER_METADATA}")

    def _undo(self, plan: Plan, done: Iterable[str]) -> None:
        for statement in plan.undo(done):
            try:
                self.execute(statement)
            except DbtRuntimeError as error:
                logger.warning(f"Could not take back a change of {plan.table}: {error}")
