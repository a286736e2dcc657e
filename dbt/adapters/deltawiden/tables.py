"""The part of the adapter that knows tables: reads them, plans and runs changes of schemas."""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import agate
from dbt.adapters.base import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import (
    LIST_RELATIONS_SHOW_TABLES_MACRO_NAME,
    SCHEMA_NOT_FOUND_MESSAGES,
    TABLE_OR_VIEW_NOT_FOUND_MESSAGES,
    SparkAdapter,
)
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.clients.agate_helper import empty_table
from dbt_common.exceptions import (
    CompilationError,
    DbtConfigError,
    DbtDatabaseError,
    DbtRuntimeError,
)
from dbt_common.invocation import get_invocation_id
from pyspark.sql.types import FloatType, StructType

from dbt.adapters.deltawiden.__version__ import version
from dbt.adapters.deltawiden.column import DeltaWidenColumn
from dbt.adapters.deltawiden.config.policy import (
    CONFIGURATION_KEYS,
    InvalidConfiguration,
    OnLossyWrite,
    OnSchemaChange,
    Policy,
    read_policy,
)
from dbt.adapters.deltawiden.config.table_properties import changed_properties
from dbt.adapters.deltawiden.connections import ConnectionMethod, DeltaWidenConnectionManager
from dbt.adapters.deltawiden.delta.conflicts import is_conflict, retry_conflicts
from dbt.adapters.deltawiden.delta.partition_columns import partition_columns
from dbt.adapters.deltawiden.delta.reader import Reader
from dbt.adapters.deltawiden.delta.relations import quoted
from dbt.adapters.deltawiden.evolution.attempts import SchemaChangeFailed
from dbt.adapters.deltawiden.relation import DeltaWidenRelation
from dbt.adapters.deltawiden.spark.errors import condition
from dbt.adapters.deltawiden.sql.identifiers import (
    parse_path,
    path_text,
    quote,
    quote_once,
    read_name,
)
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName
from dbt.adapters.deltawiden.views.finder import UP_CAST, Views, view_models
from dbt.adapters.deltawiden.views.stale_views import failing_text, widened_text
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan, plan_changes, plan_no_change
from dbt.adapters.deltawiden.widening.request import InvalidRequest, find_leaf
from dbt.adapters.deltawiden.widening.schema_diff import SchemaDifference, compare
from dbt.adapters.deltawiden.writing.partition_values import has_moments, shifts_moments
from dbt.adapters.deltawiden.writing.seeds import check_seed, seed_values
from dbt.adapters.deltawiden.writing.value_check import ValueCheck

logger = AdapterLogger("DeltaWiden")

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
"""The setting whose value Delta stores with the next commits,
https://docs.delta.io/latest/delta-batch.html#set-user-defined-commit-metadata."""


class SchemaChangeRefused(CompilationError):
    """The table can't take the model's output; nothing was changed or written.

    A compilation error, as dbt's own refusal under ``on_schema_change: fail`` is.
    """


class ViewRefused(DbtDatabaseError):
    """Spark refuses to read a view that has narrower types than a table that became wider."""


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

    @available
    def check_seed(
        self, seed: Mapping[str, Any], table: agate.Table, types: Mapping[str, str]
    ) -> None:
        """Stop a seed whose file has a value that its table would not store as it is.

        Args:
            seed: the seed's node.
            table: the file, as dbt has read it.
            types: the Spark type of each column.

        Raises:
            SeedRefused: there is such a value.
        """
        check_seed(seed, table, types, self._session_zone)

    def _session_zone(self) -> str:
        return str(self._fetch_rows("select current_timezone()")[0][0])

    @available
    def seed_values(self, seed: Mapping[str, Any], table: agate.Table) -> list[list[Any]]:
        """Give the values of a seed's file to write, numbers as the file has them.

        Args:
            seed: the seed's node.
            table: the file, as dbt has read it.
        """
        return seed_values(seed, table)

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """List the tables and views of a schema.

        Args:
            schema_relation: the schema.

        Returns:
            Its relations, none where there is no such schema.
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
        So the tables are then described one by one, and one that is gone by then is left out.
        """
        relations: list[BaseRelation] = super().list_relations_without_caching(schema_relation)
        if relations:
            return relations
        names = self._names_in(schema_relation)
        return self._build_relations(
            described for name in names for described in self._described(schema_relation, name)
        )

    def _names_in(self, schema_relation: BaseRelation) -> list[str]:
        try:
            rows = self.execute_macro(
                LIST_RELATIONS_SHOW_TABLES_MACRO_NAME, kwargs={"schema_relation": schema_relation}
            )
        except DbtRuntimeError as error:
            if any(message in error.msg for message in SCHEMA_NOT_FOUND_MESSAGES):
                return []
            raise
        return [str(name) for _, name, _ in _stored(rows).rows]

    def _described(self, schema_relation: BaseRelation, name: str) -> list[tuple[str, str, str]]:
        try:
            rows = self._fetch_rows(
                f"show table extended in {schema_relation.schema} like {literal(name)}"
            )
        except DbtRuntimeError as error:
            if any(message in error.msg for message in TABLE_OR_VIEW_NOT_FOUND_MESSAGES):
                return []
            raise
        # The name is a pattern, which others can match.
        described = [(str(row[0]), str(row[1]), str(row[3])) for row in rows if row[2] is False]
        return [row for row in described if row[1] == name]

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

    @available.parse(lambda *_, **__: ("", empty_table()))
    def execute(
        self,
        sql: str,
        auto_begin: bool = False,
        fetch: bool = False,
        limit: int | None = None,
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run a statement.

        Args:
            sql: the statement.
            auto_begin: whether to begin a transaction; Spark has none.
            fetch: whether its rows are wanted.
            limit: how many of them at most.

        Returns:
            The answer of the connection, and the rows.

        Raises:
            ViewRefused: a view that is read has narrower types than its table.
            DbtDatabaseError: Spark or Delta refused the statement.
        """
        try:
            answer: tuple[AdapterResponse, agate.Table] = super().execute(
                sql, auto_begin, fetch, limit
            )
            return answer
        except DbtDatabaseError as error:
            if condition(error.msg) == UP_CAST:
                self._explain_failing_views(sql, error)
            raise

    def _explain_failing_views(self, statement: str, error: DbtDatabaseError) -> None:
        try:
            failing = self._views.failing(statement)
        except DbtRuntimeError as unlisted:
            logger.debug(f"The views could not be listed: {unlisted.msg}")
            return
        if failing:
            text = failing_text(failing, {}, self._views.can_follow)
            raise ViewRefused(text) from error

    @available
    def tell_stale_views(self, tables: Iterable[str], graph: Mapping[str, Any]) -> None:
        """Name the views over widened tables that still have the types from before.

        It is no warning to dbt: the tables are widened already, and ``--warn-error`` would stop a
        model that has nothing wrong.

        Args:
            tables: the names of the tables, as for a statement.
            graph: dbt's graph.
        """
        models = view_models(graph.get("nodes", {}).values())
        for table in map(parse_path, tables):
            try:
                stale = self._views.over(table)
            except DbtRuntimeError as error:
                logger.warning(f"The views over {path_text(table)} can't be listed: {error.msg}")
                continue
            if stale:
                logger.warning(widened_text(table, stale, models, self._views.can_follow))

    @available
    def run_schema_changes(self, plan: Plan, changed_by: str) -> None:
        """Run what a plan has to do before the write.

        The commits say in the table's history who made them.

        Args:
            plan: a plan that is not refused.
            changed_by: the unique id of the model, or the name of the operation.

        Raises:
            SchemaChangeFailed: the engine refused a statement. A property that was turned on for
                the type changes is turned off again.
        """
        if not plan.statements_before_write:
            return
        with self._user_metadata(changed_by):
            done: list[str] = []
            try:
                for statement in plan.statements_before_write:
                    self._run_schema_change(statement, plan)
                    done.append(statement)
            except DbtRuntimeError as error:
                self._run_all(plan.undo_before_changes(done), plan)
                # After a conflict the property may be what another run's changes need.
                if not is_conflict(error):
                    self._undo(plan, done)
                raise SchemaChangeFailed(error.msg, done) from error

    @available
    def run_after_write(self, plan: Plan, changed_by: str) -> None:
        """Run what a plan has to do after the write, which has succeeded.

        Args:
            plan: the plan.
            changed_by: as for ``run_schema_changes``.

        Raises:
            SchemaChangeFailed: the engine refused a statement. The rows are written all the same.
        """
        for statement in plan.statements_after_write:
            with self._user_metadata(changed_by):
                try:
                    retry_conflicts(partial(self.execute, statement))
                except DbtRuntimeError as error:
                    raise SchemaChangeFailed(
                        f"The rows were written to {plan.table}, but this failed after it, and the "
                        f"next run will do it: {statement}\n{error.msg}"
                    ) from error

    def _run_schema_change(self, statement: str, plan: Plan) -> None:
        if statement != plan.statement_with_statistics:
            self.execute(statement)
            return
        logger.debug(f"Making, by the session's JVM, the change of {statement}")
        leaves = [change.path for change in plan.with_statistics]
        self._reader.session_files(plan.table).widen_floats(leaves)

    def _plan(
        self,
        schemas: tuple[StructType, StructType],
        table: SparkRelation,
        policy: Policy,
        config: Any,
        model: str,
        keys: Container[str] = (),
    ) -> Plan:
        source, table_schema = schemas
        try:
            difference = compare(source, table_schema)
        except AmbiguousName as error:
            raise SchemaChangeRefused(str(error)) from error
        check = None
        if policy.on_lossy_write is OnLossyWrite.ERROR:
            partitions = partition_columns(table_schema)
            check = self._value_check(model, table, bool(table.is_delta), table_schema, partitions)
        gained = self._changed_properties(table, config.get("tblproperties"))
        if difference and policy.on_schema_change is not OnSchemaChange.IGNORE:
            layout = (bool(difference.missing_in_source) and policy.drops) or _has_float(difference)
            facts = self._reader.facts(table, layout=layout)
            facts = replace(facts, properties={**facts.properties, **gained})
            plan = plan_changes(difference, source, table_schema, policy, facts, check, keys)
        else:
            computed_columns = self._made_by(table, difference)
            plan = plan_no_change(
                difference, source, table_schema, quoted(table), computed_columns, check, keys
            )
        return plan.with_properties(gained)

    def _value_check(
        self,
        model: str,
        table: SparkRelation,
        is_delta: bool,
        schema: StructType,
        partitions: frozenset[str],
    ) -> ValueCheck:
        in_partitions = (f.dataType for f in schema.fields if f.name.lower() in partitions)
        can_shift = is_delta and any(has_moments(each) for each in in_partitions)
        shifts = can_shift and shifts_moments(self._reader.engine().delta)
        return ValueCheck(model, quoted(table), partitions, shifts)

    def _made_by(self, table: SparkRelation, difference: SchemaDifference) -> frozenset[str]:
        # Only where the write would fail otherwise is it worth a question.
        return (
            self._reader.facts(table).computed_columns
            if difference.missing_columns
            else frozenset()
        )

    def _changed_properties(
        self, table: SparkRelation, configured: Mapping[str, Any] | None
    ) -> dict[str, str]:
        if not configured or not table.is_delta:
            return {}
        return changed_properties(configured, self._reader.properties(table))

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

    def _fetch_rows(self, query: str) -> list[Any]:
        _, answer = self.execute(query, fetch=True)
        return list(answer.rows)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(
            self._fetch_rows,
            lambda: self._handle() if self._has_session() else None,
            self.config.credentials.delta_version,
        )

    @cached_property
    def _views(self) -> Views:
        return Views(
            self._reader, self._fetch_rows, lambda: self._handle() if self._has_session() else None
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
        self._run_all(statements, plan)

    def _run_all(self, statements: Iterable[str], plan: Plan) -> None:
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


def _has_float(difference: SchemaDifference) -> bool:
    return any(isinstance(each.table, FloatType) for each in difference.types)


def _stored(rows: agate.Table) -> agate.Table:
    """Leave out the temporary views of the session, which SHOW TABLES lists in every schema."""
    return rows.where(lambda row: str(row[2]).lower() != "true")
