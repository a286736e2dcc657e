"""The part of the adapter that knows tables: reads them, plans and runs changes of schemas."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import agate
from dbt.adapters.base import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import (
    LIST_RELATIONS_SHOW_TABLES_MACRO_NAME,
    SCHEMA_NOT_FOUND_MESSAGES,
    TABLE_OR_VIEW_NOT_FOUND_MESSAGES,
    SparkAdapter,
)
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError, DbtConfigError, DbtRuntimeError
from dbt_common.invocation import get_invocation_id
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.__version__ import version
from dbt.adapters.deltawiden.column import DeltaWidenColumn
from dbt.adapters.deltawiden.conflicts import MAX_ATTEMPTS, SchemaChangeFailed, is_conflict
from dbt.adapters.deltawiden.connections import ConnectionMethod, DeltaWidenConnectionManager
from dbt.adapters.deltawiden.reader import Reader, quoted
from dbt.adapters.deltawiden.relation import DeltaWidenRelation
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.diff import AmbiguousName, SchemaDifference, compare
from dbt.adapters.deltawiden.widening.names import quote, quote_once, read_name
from dbt.adapters.deltawiden.widening.plan import Plan, plan_changes, plan_no_change
from dbt.adapters.deltawiden.widening.policy import (
    CONFIGURATION_KEYS,
    InvalidConfiguration,
    OnSchemaChange,
    Policy,
    read_policy,
)
from dbt.adapters.deltawiden.widening.properties import gained_properties
from dbt.adapters.deltawiden.widening.request import InvalidRequest, find_leaf

logger = AdapterLogger("DeltaWiden")

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
"""The setting whose value Delta stores with the next commits,
https://docs.delta.io/latest/delta-batch.html#set-user-defined-commit-metadata."""


class SchemaChangeRefused(CompilationError):
    """The table can't take the model's output; nothing was changed or written.

    A compilation error, as dbt's own refusal under ``on_schema_change: fail`` is.
    """


class TableAdapter(SparkAdapter):
    """dbt-spark's adapter, with what has to be known of tables and done to them."""

    ConnectionManager = DeltaWidenConnectionManager
    Column = DeltaWidenColumn
    Relation = DeltaWidenRelation

    @available
    @classmethod
    def quote(cls, identifier: str) -> str:
        """Quote a name for a statement, whatever is in it."""
        # As dbt-spark: dbt's own callers ask for the name of a database, and Spark has none.
        return quote(str(identifier))

    @available
    def quote_once(self, name: str) -> str:
        """Quote a name of the configuration, unless it reads as one already."""
        return quote_once(name)

    @available
    def read_name(self, name: str) -> list[str]:
        """Read a name of the configuration: its parts without quotes, or itself as the only one."""
        return list(read_name(name))

    def quote_seed_column(self, column: str, quote_config: bool | None) -> str:
        """Quote the name of a seed's column, which is a text of the file's first line.

        Args:
            column: the name.
            quote_config: the seed's ``quote_columns``. To Spark a name is the same without quotes.

        Raises:
            QuoteConfigTypeError: ``quote_columns`` is no boolean.
            DbtRuntimeError: ``quote_columns`` is false, and the name is none without quotes.
        """
        super().quote_seed_column(column, quote_config)
        if quote_config is False and quote_once(column) != column:
            raise DbtRuntimeError(
                f"Syntax error in the seed's first line: {column!r} is no column's name without "
                "quotes. Check the seed's delimiter, or leave quote_columns out."
            )
        return quote(column)

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """List the tables and views of a schema.

        Args:
            schema_relation: the schema.

        Returns:
            Its relations, none where there is no such schema.

        Raises:
            DbtRuntimeError: they can't be listed, as others drop tables of the schema.
        """
        described = self._reader.descriptions(schema_relation.schema or "")
        if described is not None:
            return self._build_relations(described)
        # dbt-spark's statements have the schema as it stands.
        schema = quote_once(schema_relation.schema or "")
        return self._list_by_statement(schema_relation.replace_path(schema=schema))

    def _list_by_statement(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """List a schema by SHOW TABLE EXTENDED.

        The statement fails where a table is dropped while it runs (TABLE_OR_VIEW_NOT_FOUND).
        dbt-spark then takes the schema to be empty, and dbt replaces every incremental table in it.
        """
        for _ in range(MAX_ATTEMPTS):
            relations: list[BaseRelation] = super().list_relations_without_caching(schema_relation)
            if relations or not self._has_relations(schema_relation):
                return relations
        raise DbtRuntimeError(
            f"The tables of the schema {schema_relation.schema} could not be listed: "
            f"{MAX_ATTEMPTS} times one of them was not found when Spark was about to describe it. "
            "Nothing was changed. Run dbt again while nobody drops tables there; dbt's debug log "
            "names the table."
        )

    def _has_relations(self, schema_relation: BaseRelation) -> bool:
        try:
            rows = self.execute_macro(
                LIST_RELATIONS_SHOW_TABLES_MACRO_NAME, kwargs={"schema_relation": schema_relation}
            )
        except DbtRuntimeError as error:
            if any(message in error.msg for message in SCHEMA_NOT_FOUND_MESSAGES):
                return False
            raise
        return len(_stored(rows).rows) > 0

    def _get_relation_information_using_describe(self, row: agate.Row) -> tuple[str, str, str]:
        schema, name, is_temporary = row
        _, _, information = super()._get_relation_information_using_describe(
            (quote_once(schema), quote_once(name), is_temporary)
        )
        return schema, name, information

    def _build_spark_relation_list(
        self, row_list: agate.Table, relation_info_func: Callable[[agate.Row], Any]
    ) -> list[BaseRelation]:
        stored = _stored(row_list)
        # Of DESCRIBE TABLE EXTENDED the columns come first, and a line of theirs says anything.
        if relation_info_func == self._get_relation_information:
            return self._build_relations(map(relation_info_func, stored))
        relations: list[BaseRelation] = super()._build_spark_relation_list(
            stored, relation_info_func
        )
        return relations

    def _build_relations(self, described: Iterable[tuple[str, str, str]]) -> list[BaseRelation]:
        """Build relations of what SHOW TABLE EXTENDED says: schema, name and information."""
        relations = super()._build_spark_relation_list(described, tuple)
        return [each.as_described() for each in relations if isinstance(each, DeltaWidenRelation)]

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkColumn]:
        """List a relation's columns; in a session without a statement.

        Args:
            relation: a table or view.

        Returns:
            Its columns, none where there is no such relation.
        """
        if not self._has_session():
            columns = super().get_columns_in_relation(relation)
            return [DeltaWidenColumn(**vars(each)) for each in columns]
        try:
            schema = self._reader.schema(relation)
        except DbtRuntimeError as error:
            if any(message in error.msg for message in TABLE_OR_VIEW_NOT_FOUND_MESSAGES):
                return []
            raise
        return [
            DeltaWidenColumn(
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
    def run_schema_changes(self, plan: Plan, changed_by: str) -> None:
        """Run a plan's statements; their commits say in the table's history who made them.

        Args:
            plan: a plan that is not refused.
            changed_by: the unique id of the model, or the name of the operation.

        Raises:
            SchemaChangeFailed: the engine refused a statement. A property that was turned on for
                the type changes is turned off again.
        """
        if not plan.statements:
            return
        with self._user_metadata(changed_by):
            done: list[str] = []
            try:
                for statement in plan.statements:
                    self.execute(statement)
                    done.append(statement)
            except DbtRuntimeError as error:
                # After a conflict the property may be what another run's changes need.
                if not is_conflict(error):
                    self._undo(plan, done)
                raise SchemaChangeFailed(error.msg) from error

    def _plan(
        self,
        source: StructType,
        table: SparkRelation,
        table_schema: StructType,
        policy: Policy,
        config: Any,
    ) -> Plan:
        try:
            difference = compare(source, table_schema)
        except AmbiguousName as error:
            raise SchemaChangeRefused(str(error)) from error
        gained = self._gained_properties(table, config.get("tblproperties"))
        if difference and policy.on_schema_change is not OnSchemaChange.IGNORE:
            facts = self._reader.facts(table, layout=bool(difference.gone) and policy.drops)
            facts = replace(facts, properties={**facts.properties, **gained})
            plan = plan_changes(difference, source, table_schema, policy, facts)
        else:
            plan = plan_no_change(
                difference, source, table_schema, quoted(table), self._made_by(table, difference)
            )
        return plan.with_properties(gained)

    def _made_by(self, table: SparkRelation, difference: SchemaDifference) -> frozenset[str]:
        # Only where the write would fail otherwise is it worth a question.
        return self._reader.facts(table).made_by_table if difference.gone_columns else frozenset()

    def _gained_properties(
        self, table: SparkRelation, configured: Mapping[str, Any] | None
    ) -> dict[str, str]:
        if not configured or not table.is_delta:
            return {}
        return gained_properties(configured, self._reader.properties(table))

    def _unless_refused(self, plan: Plan) -> Plan:
        if plan.refusals:
            raise SchemaChangeRefused(report.refusals_text(plan))
        return plan

    def _read_policy(self, config: Any, name: str) -> Policy:
        try:
            return read_policy({key: config.get(key) for key in CONFIGURATION_KEYS})
        except InvalidConfiguration as error:
            raise invalid_configuration(name, [str(error)]) from error

    def _has_session(self) -> bool:
        return bool(self.config.credentials.has_session)

    def _handle(self) -> Any:
        return self.connections.get_thread_connection().handle

    def _ask(self, query: str) -> list[Any]:
        _, answer = self.execute(query, fetch=True)
        return list(answer.rows)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(
            self._ask,
            lambda: self._handle() if self._has_session() else None,
            self.config.credentials.delta_version,
        )

    @contextmanager
    def _user_metadata(self, changed_by: str) -> Iterator[str]:
        """Let the commits made inside say in the table's history who made them; give the text."""
        values = {"changed_by": changed_by, "invocation_id": get_invocation_id()}
        text = json.dumps({**values, "dbt_deltawiden": version})
        if self.config.credentials.method == ConnectionMethod.SESSION:
            with self._handle().with_setting(USER_METADATA, text):
                yield text
            return
        # A server gives each connection, and so each thread, a session of its own.
        self.execute(f"set {USER_METADATA}={text}")
        try:
            yield text
        finally:
            self.execute(f"reset {USER_METADATA}")

    def _undo(self, plan: Plan, done: Iterable[str]) -> None:
        statements = plan.undo(done)
        if statements and not self._has_planned_types(plan):
            return  # Another run has changed them, by the property that this one has set.
        for statement in statements:
            try:
                self.execute(statement)
            except DbtRuntimeError as error:
                logger.warning(f"Could not take back a change of {plan.table}: {error}")

    def _has_planned_types(self, plan: Plan) -> bool:
        now = self._reader.query_schema(f"select * from {plan.table}")
        try:
            return all(find_leaf(each.path, now)[1] == each.from_type for each in plan.changes)
        except InvalidRequest:
            return False


def invalid_configuration(name: str, problems: Iterable[str]) -> DbtConfigError:
    """Make the error that says what of a node's configuration is not accepted."""
    lines = [f"The configuration of {name} is not valid.", *problems]
    return DbtConfigError("\n".join(lines))


def _stored(rows: agate.Table) -> agate.Table:
    """Leave out the temporary views of the session, which SHOW TABLES lists in every schema."""
    return rows.where(lambda row: str(row[2]).lower() != "true")
