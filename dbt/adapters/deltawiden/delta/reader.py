"""Asks Spark and Delta about relations: by the session where there is one, else by SQL alone."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import cached_property

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StringType, StructField, StructType

from dbt.adapters.deltawiden.delta.backends.session_catalog import (
    delta_schema,
    descriptions,
    view_schema,
)
from dbt.adapters.deltawiden.delta.backends.session_files import FilesBySession
from dbt.adapters.deltawiden.delta.data_files import DataFiles, FilesBySql
from dbt.adapters.deltawiden.delta.engine import Engine, read_engine, read_spark_version
from dbt.adapters.deltawiden.delta.partition_columns import can_lose_values, with_partition_columns
from dbt.adapters.deltawiden.delta.protocol import ROW_TRACKING, is_true
from dbt.adapters.deltawiden.delta.questions import (
    read_partition_columns,
    read_properties,
    read_snapshot,
)
from dbt.adapters.deltawiden.delta.relations import provider, quoted
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows, newest_schema
from dbt.adapters.deltawiden.spark.session import SessionConnection
from dbt.adapters.deltawiden.sql.describe_parser import (
    CHAR_VARCHAR_KEY,
    partition_names,
    read_schema,
)
from dbt.adapters.deltawiden.sql.identifiers import read_name
from dbt.adapters.deltawiden.sql.types import leaves, type_sql
from dbt.adapters.deltawiden.sql.versions import Version, read_version


class Reader:
    """Reads what has to be known of relations.

    Args:
        fetch_rows: runs a query on the thread's connection.
        session: gives the thread's session, or None where the connection is to a server.
        delta_version: the version of Delta, where the profile says it.
    """

    def __init__(
        self,
        fetch_rows: FetchRows,
        session: Callable[[], SessionConnection | None],
        delta_version: str | None,
    ) -> None:
        self._fetch_rows = fetch_rows
        self._session = session
        self._delta_version = delta_version
        self._engine: Engine | None = None
        self._spark: Version | None = None

    def schema(self, relation: BaseRelation) -> StructType:
        """Read the schema of a table or view.

        Args:
            relation: the table or view.

        Returns:
            Its schema, exactly; by SQL alone, all of it is taken to be nullable.

        Raises:
            DbtDatabaseError: there is no such relation, or it can't be read.
        """
        # Not str(relation): under --empty that is a subquery.
        session, name = self._session(), relation.render()
        if session is not None:
            return _schema_at_hand(relation, session) or session.schema(name)
        # Not DESCRIBE TABLE: it lists partition columns twice, after a row that starts with '#', as
        # a column's name can too.
        columns = self._describe(f"select * from {name}")
        return read_schema(columns, name, self._describe)

    def table_schema(self, table: BaseRelation) -> StructType:
        """Read the schema of a table as ``prefetch_schema`` does, at once."""
        return self.prefetch_schema(table)()

    def prefetch_schema(self, table: BaseRelation) -> Callable[[], StructType]:
        """Begin to read the schema of a table, beside the statements that the caller runs next.

        Args:
            table: the table.

        Returns:
            A function that waits for the schema and gives it, or raises what ``schema`` does. The
            partition columns are marked in it, if they can lose a value. Where the connection has
            no JVM here, the schema is read only then: a cursor is one thread's.
        """
        session = self._session()
        if session is None:
            return lambda: self._with_partition_columns(table, self._schema_with_char(table))
        if not session.has_jvm:
            return lambda: self._with_partition_columns(table, self.schema(table))
        # With the thread's context: dbt's log says by it which model a line is of.
        reading = self._beside.submit(copy_context().run, _schema_at_hand, table, session)
        return lambda: (
            reading.result() or self._with_partition_columns(table, session.schema(table.render()))
        )

    def _with_partition_columns(self, table: BaseRelation, schema: StructType) -> StructType:
        if not any(can_lose_values(column.dataType) for column in schema.fields):
            return schema
        rows = self._fetch_rows(f"describe table {quoted(table)}")
        described = [(str(row[0]), str(row[1] or "")) for row in rows]
        return with_partition_columns(schema, partition_names(described))

    def _schema_with_char(self, table: BaseRelation) -> StructType:
        """Read a table's schema by SQL alone, with the declarations of its char columns.

        No statement shows them for all columns. Spark pads the values of such a column when it
        reads them, so a query plan tells whether there is one; only then the log is read.
        """
        schema, name = self.schema(table), quoted(table)
        has_text = any(isinstance(leaf, StringType) for leaf in leaves(schema))
        if not has_text or not getattr(table, "is_delta", False):
            return schema
        if "readSidePadding" not in str(self._fetch_rows(f"explain select * from {name}")[0][0]):
            return schema
        location = str(self._fetch_rows(f"describe detail {name}")[0]["location"])
        in_log = StructType.fromJson(json.loads(newest_schema(location, self._fetch_rows)))
        declared = {column.name: column.metadata.get(CHAR_VARCHAR_KEY) for column in in_log.fields}
        return StructType(
            [
                StructField(f.name, f.dataType, f.nullable, _declaration(declared.get(f.name)))
                for f in schema.fields
            ]
        )

    @cached_property
    def _beside(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(thread_name_prefix="reader")

    def descriptions(self, schema: str) -> list[tuple[str, str, str]] | None:
        """Describe each table and view of a schema, without a statement.

        Args:
            schema: the schema, as dbt's relations have it.

        Returns:
            Of each, the schema, the name and the information that SHOW TABLE EXTENDED has; None
            where that statement has to be run.
        """
        session, names = self._session(), read_name(schema)
        if session is None or not session.has_jvm or len(names) > 1:
            return None
        return descriptions(session.session, names[0])

    def comment(self, relation: BaseRelation) -> str | None:
        """Read the comment on a table or view, by the session.

        Args:
            relation: the table or view.

        Returns:
            The comment; None where it has none, or there is no session.

        Raises:
            DbtDatabaseError: there is no such relation.
        """
        session = self._session()
        return session.comment(relation.render()) if session is not None else None

    def query_schema(self, query: str) -> StructType:
        """Read the schema of a query's result, without running it.

        Args:
            query: a SELECT.

        Returns:
            The schema, as ``schema`` gives it.

        Raises:
            DbtDatabaseError: the query is not valid.
        """
        session = self._session()
        if session is not None:
            return session.query_schema(query)
        return read_schema(self._describe(query), f"({query})", self._describe)

    def _describe(self, query: str) -> list[tuple[str, str]]:
        return [(str(row[0]), str(row[1])) for row in self._fetch_rows(f"describe query {query}")]

    def engine(self) -> Engine:
        """FetchRows once for the versions of Spark and Delta that run.

        Raises:
            DbtRuntimeError: the server does not say which Delta it runs.
        """
        # Two threads may both ask at first; they get the same answer.
        if self._engine is None:
            self._engine = read_engine(self._fetch_rows, self._delta_version)
        return self._engine

    def spark_version(self) -> Version:
        """Return the version of Spark that runs; a session knows it without a statement."""
        if self._spark is None:
            session = self._session()
            self._spark = (
                read_spark_version(self._fetch_rows)
                if session is None
                else read_version(session.session.version)
            )
        return self._spark

    def facts(
        self, table: SparkRelation, layout: bool = False, changes: bool = False
    ) -> TableSnapshot:
        """Read a table's properties and features.

        Args:
            table: the table.
            layout: whether its partitioning and clustering columns, and the number of its files,
                are wanted.
            changes: whether its recorded type changes are wanted.

        Returns:
            The facts; of a relation that is not Delta's, no more than what it is.
        """
        name, engine = quoted(table), self.engine()
        if not table.is_delta:
            return TableSnapshot(name, engine, format=provider(table))
        facts = read_snapshot(name, engine, self._fetch_rows, layout, changes)
        return replace(facts, corrects_statistics=self.has_jvm)

    def properties(self, table: SparkRelation) -> dict[str, str]:
        """Read a table's properties, and nothing else."""
        return read_properties(quoted(table), self._fetch_rows)

    @property
    def has_jvm(self) -> bool:
        """Whether the connection is a session whose JVM is at hand."""
        session = self._session()
        return session is not None and session.has_jvm

    def session_files(self, name: str) -> FilesBySession:
        """Give the data files of a Delta table by the session's JVM, which must be at hand.

        Args:
            name: the table's name, quoted for a statement.
        """
        session = self._session()
        if session is None or not session.has_jvm:
            raise DbtRuntimeError(f"The connection has no JVM here, by which to change {name}.")
        return FilesBySession(session.session, name)

    def data_files(self, table: SparkRelation, writes_rows: bool = True) -> DataFiles:
        """Give the data files of a Delta table, by the best way that the connection has.

        Args:
            table: the table.
            writes_rows: whether rows will be written anew, whose ids only an UPDATE keeps.
        """
        name = quoted(table)
        keeps_ids = writes_rows and is_true(self.properties(table), ROW_TRACKING)
        if self.has_jvm and not keeps_ids:
            return self.session_files(name)
        types = {field.name: field.dataType for field in self.schema(table)}
        partitioned_by = {
            each: type_sql(types[each]) for each in read_partition_columns(name, self._fetch_rows)
        }
        return FilesBySql(name, self._fetch_rows, partitioned_by)

    def remove_recorded_changes(self, table: SparkRelation) -> None:
        """Take the recorded type changes out of a table's schema, by the session's JVM.

        Args:
            table: a Delta table, each of whose files holds the types of its schema.

        Raises:
            DbtRuntimeError: SQL has no statement for it, and there is no JVM here.
        """
        if not self.has_jvm:
            raise DbtRuntimeError(
                "This server's Delta can't remove type widening on a cluster: its DROP FEATURE "
                "asks the executors for a session, https://github.com/delta-io/delta/pull/5697. "
                "All files have been rewritten. Run the operation again with method: session on "
                "the same metastore: that needs no rewrite of Delta's."
            )
        self.session_files(quoted(table)).remove_recorded_changes()


def _schema_at_hand(relation: BaseRelation, session: SessionConnection) -> StructType | None:
    """Read the schema from the session's JVM, if it can be had without analysing a query."""
    if not session.has_jvm:
        return None
    names = [read_name(each or "") for each in (relation.schema, relation.identifier)]
    if any(len(parts) > 1 for parts in names):
        return None  # It is in another catalog.
    (schema,), (name,) = names
    # Only a temporary view has a name without a schema, though dbt's relation has one all the same.
    if schema and relation.include_policy.schema:
        return delta_schema(session.session, schema, name)
    return view_schema(session.session, name)


def _declaration(text: str | None) -> dict[str, str]:
    return {CHAR_VARCHAR_KEY: text} if text else {}
