"""Read and change tables with SQL alone, for Thrift, HTTP and ODBC connections."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id
from pyspark.sql.types import StringType, StructField, StructType

from dbt.adapters.deltawiden.__version__ import version
from dbt.adapters.deltawiden.delta.backends.explain import (
    AnalysedQuery,
    ExplainedQuery,
    has_inner_plan,
    reads_char,
    whole_text,
)
from dbt.adapters.deltawiden.delta.data_files import DataFiles, FilesBySql, metadata_name
from dbt.adapters.deltawiden.delta.delta_table import DeltaTable
from dbt.adapters.deltawiden.delta.engine import Engine, read_engine, read_spark_version
from dbt.adapters.deltawiden.delta.partition_columns import can_lose_values, with_partition_columns
from dbt.adapters.deltawiden.delta.relations import provider, relation_sql
from dbt.adapters.deltawiden.delta.table_snapshot import REDACTED, TableSnapshot
from dbt.adapters.deltawiden.delta.transaction_log import newest_schema
from dbt.adapters.deltawiden.sql.describe_parser import (
    CHAR_VARCHAR_KEY,
    is_cut,
    partition_names,
    read_described,
    read_schema,
    with_declarations,
)
from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.sql.literals import property_text
from dbt.adapters.deltawiden.sql.queries import in_lines
from dbt.adapters.deltawiden.sql.types import contains, schema_from_json, type_sql
from dbt.adapters.deltawiden.sql.versions import Version

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
"""The setting with the user metadata that Delta stores in each commit,
https://docs.delta.io/latest/delta-batch.html#set-user-defined-commit-metadata."""

_NO_REMOVAL = (
    "No SQL statement removes the recorded type changes from a table's schema. {}Run the operation "
    "again with method: session, without keep_alive, on the same metastore."
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

Execute = Callable[..., tuple[Any, Any]]
"""The adapter's ``execute``. It runs a statement, and with ``fetch=True`` returns its rows."""


class SqlBackend:
    """Reads and changes tables with SQL. The other backends need fewer statements."""

    has_session = False
    """Whether dbt has a SparkSession, for exact schemas without a statement and Python models."""
    corrects_statistics = False
    """Whether this backend can correct the statistics of data files in the transaction log."""

    def __init__(
        self, execute: Execute, handle: Callable[[], Any], delta_version: str | None = None
    ) -> None:
        self.execute = execute
        self._handle = handle
        self._delta_version = delta_version
        self._engine: Engine | None = None
        self._spark: Version | None = None

    def current_catalog(self) -> str:
        """Return the catalog of a name without one."""
        return str(self.fetch_rows("select current_catalog()")[0][0])

    def fetch_rows(self, query: str) -> Sequence[Any]:
        """Run a query on the thread's connection. A row has its values by position and by name.

        Raises:
            DbtDatabaseError: Spark or Delta refused the query.
        """
        _, table = self.execute(query, fetch=True)
        return list(table.rows)

    def time_zone(self) -> str:
        """Return the session's time zone."""
        return str(self.fetch_rows("select current_timezone()")[0][0])

    def instant(self, value: datetime | str) -> datetime:
        """Convert a timestamp, as a query on this connection returned it, to a moment in UTC."""
        # A server returns timestamps without their time zone, in that of its session.
        rows = self.fetch_rows(f"select unix_micros(cast('{value}' as timestamp_ltz))")
        return _EPOCH + timedelta(microseconds=int(rows[0][0]))

    @contextmanager
    def tagged_commits(self, changed_by: str) -> Iterator[str]:
        """Record in the tables' history what makes the commits in the block, and yield the record.

        Args:
            changed_by: the unique id of the model, or the name of the operation.
        """
        values = {"changed_by": changed_by, "invocation_id": get_invocation_id()}
        text = json.dumps({**values, "dbt_deltawiden": version})
        with self.with_setting(USER_METADATA, text):
            yield text

    @contextmanager
    def with_setting(self, key: str, value: str) -> Iterator[None]:
        """Run the statements in the block with a setting, then restore its value."""
        # A server has one session for each connection, and each thread has its own connection.
        before = self.setting(key)
        if before == value:
            yield
            return
        # With quotes, the value may have any characters, and dbt's comment may follow.
        self.execute(f"set {quote(key)}={quote(value)}")
        try:
            yield
        finally:
            no_value = f"reset {quote(key)}"
            self.execute(no_value if before is None else f"set {quote(key)}={quote(before)}")

    def setting(self, key: str) -> str | None:
        """Return the value of a setting of the session; None if it is not set, or not shown."""
        ((_, value),) = self.fetch_rows(f"set {quote(key)}")
        # dbt reads an empty text in a result as None, and the text `true` as a boolean.
        return None if value in ("<undefined>", REDACTED) else property_text(value or "")

    def schema(self, relation: BaseRelation) -> StructType:
        """Read the schema of a table or view. With SQL alone, every field in it is nullable.

        Raises:
            DbtDatabaseError: the relation does not exist, or it can't be read.
        """
        # Not str(relation): under --empty that is a subquery. Not DESCRIBE TABLE: it lists
        # partition columns again after a row that starts with '#', and so can a column's name.
        name = relation.render()
        return read_schema(f"select * from {name}", name, self.fetch_rows)

    def table_schema(self, table: BaseRelation) -> StructType:
        """Read the schema of a table now, with the same result as ``prefetch_schema``."""
        return self.prefetch_schema(table)()

    def prefetch_schema(self, table: BaseRelation) -> Callable[[], StructType]:
        """Start to read the schema of a table, if that can run beside other statements.

        Returns:
            A function that returns the schema, or raises the errors of ``schema``. The partition
            columns are marked if any column has a type that can lose a value.
        """
        return lambda: self._with_partition_columns(table, self._schema_with_char(table))

    def _with_partition_columns(self, table: BaseRelation, schema: StructType) -> StructType:
        if not any(can_lose_values(column.dataType) for column in schema.fields):
            return schema
        return with_partition_columns(schema, self._described_partitions(table))

    def partition_schema(self, table: BaseRelation) -> StructType:
        """Read the partition columns of a table, with at most one statement."""
        found = self._described_partitions(table)
        return StructType([StructField(name, read_described(text)) for name, text in found.items()])

    def _described_partitions(self, table: BaseRelation) -> dict[str, str]:
        rows = self.fetch_rows(f"describe table {relation_sql(table)}")
        described = [(str(row[0]), str(row[1] or "")) for row in rows]
        types = dict(reversed(described))
        return {name: types[name] for name in partition_names(described)}

    def _schema_with_char(self, table: BaseRelation) -> StructType:
        """Read a table's schema with the declared types of its char columns.

        For a Delta table, no statement shows these types for all columns. Spark pads the values of
        a char column when it reads them, so a query plan shows whether there is one. Only then is
        the log read.
        """
        schema = self.schema(table)
        has_text = contains(schema, StringType)
        if not has_text or not isinstance(table, SparkRelation) or table.is_iceberg:
            return schema
        if not table.is_delta:
            return with_declarations(schema, self.shown_declarations(table, schema, whole=True))
        texts = [quote(each.name) for each in schema.fields if contains(each.dataType, StringType)]
        if not reads_char(self, relation_sql(table), texts):
            return schema
        in_log = self._logged_schema(table)
        declared = {column.name: column.metadata.get(CHAR_VARCHAR_KEY) for column in in_log.fields}
        return with_declarations(schema, declared)

    def shown_declarations(
        self, relation: BaseRelation, schema: StructType, whole: bool = False
    ) -> dict[str, str]:
        """Return the types with char or varchar in them that DESCRIBE shows, by their columns.

        For a Delta table, it shows none, and those of long structs only if they are asked for.
        """
        if not self._can_have_declarations(schema):
            return {}
        rows = self.fetch_rows(f"describe table {relation_sql(relation)}")
        shown = {str(row[0]): str(row[1]) for row in rows}
        if whole and any(map(is_cut, shown.values())):
            with self.with_setting("spark.sql.debug.maxToStringFields", "10000"):
                return self.shown_declarations(relation, schema)
        return {name: text for name, text in shown.items() if "char(" in text and not is_cut(text)}

    def _can_have_declarations(self, schema: StructType) -> bool:
        return contains(schema, StringType)

    def _logged_schema(self, table: SparkRelation) -> StructType:
        location = self.snapshot(table).location
        return schema_from_json(newest_schema(location, self.fetch_rows))

    def query_schema(self, query: str) -> StructType:
        """Read the schema of a query's result, without running the query.

        Raises:
            DbtDatabaseError: the query is not valid.
        """
        return read_schema(query, f"({in_lines(query)})", self.fetch_rows)

    def schema_to_check(self, query: str) -> StructType:
        """Read the schema of a query that is written next, to check its values.

        Raises:
            ViewRefused: the query reads a view that has narrower types than its table.
            DbtDatabaseError: the query is not valid.
        """
        try:
            return self.query_schema(query)
        except DbtRuntimeError:
            # The error of a statement says more, and nothing is written unchecked if it has none.
            self.fetch_rows(f"describe query {query}")
            raise

    def schema_if_valid(self, query: str) -> StructType | None:
        """Read the schema of a query's result. None if it is not valid: its statement says why."""
        try:
            return self.query_schema(query)
        except DbtRuntimeError:
            return None

    def query_schema_without_statement(self, query: str) -> StructType | None:
        """Read the schema of a query's result. None if it needs a statement, or is not valid."""
        return None

    def create_view(self, name: str, query: str, metadata: Mapping[str, Mapping[str, str]]) -> None:
        """Create a temporary view of a query, with metadata on its columns. It needs a session.

        Args:
            metadata: what is added to the metadata of columns, by their names in lower case.
        """
        raise NotImplementedError

    def create_text_view(
        self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str | None]]
    ) -> None:
        """Create a temporary view of rows of texts. It needs a session."""
        raise NotImplementedError

    def input_files(self, query: str) -> list[str]:
        """Return the files that a query reads, as far as Spark shows them. It needs a session."""
        raise NotImplementedError

    def hides_files(self, query: str) -> bool:
        """Return whether ``input_files`` can lack files: of a cached data frame or a subquery."""
        return has_inner_plan(self.explain(f"extended {query}"))

    def drop_views(self, names: Iterable[str]) -> None:
        """Drop views that ``create_view`` or Python models made, which need a session."""

    def refresh_shared(self, iceberg_table: str | None) -> None:
        """Let later nodes find what a node has written. Here each connection has its session."""

    def comment(self, relation: SparkRelation) -> str | None:
        """Read the comment on a table or view. With SQL alone, only a Delta table has one."""
        snapshot = self.snapshot(relation)
        return snapshot.description if snapshot.is_delta else None

    def delta_table(self, table: SparkRelation) -> DeltaTable | None:
        """Read what the log of a Delta table says of it. None if statements have to run for it."""
        return None

    def commented_schema(self, table: SparkRelation, nested: bool) -> StructType:
        """Read the schema of a table with the comments on its columns, or on nested fields too.

        With SQL alone, the columns have no types unless ``nested``.
        """
        if nested and table.is_delta:
            return self._logged_schema(table)
        rows = self.fetch_rows(f"describe query select * from {table.render()}")
        return StructType(
            [StructField(str(r[0]), StringType(), True, {"comment": r[2] or ""}) for r in rows]
        )

    def list_schema(self, schema: BaseRelation) -> list[tuple[str, str, str]] | None:
        """List the schema, name and information of SHOW TABLE EXTENDED of what is in a schema.

        None if that statement has to run.
        """
        return None

    def engine(self) -> Engine:
        """Return the versions of Spark and Delta that run. They are read once.

        Raises:
            DbtRuntimeError: the server does not say which Delta it runs.
        """
        # Two threads may both read the versions at first. The result is the same.
        if self._engine is None:
            self._engine = read_engine(self.fetch_rows, self._delta_version)
        return self._engine

    def spark_version(self) -> Version:
        """Return the version of Spark that runs."""
        if self._spark is None:
            self._spark = self._read_spark_version()
        return self._spark

    def _read_spark_version(self) -> Version:
        return read_spark_version(self.fetch_rows)

    def snapshot(self, table: SparkRelation, schema: StructType | None = None) -> TableSnapshot:
        """Return a snapshot of a table. It reads each value when it is first needed."""
        return TableSnapshot(
            relation_sql(table),
            self.engine,
            self.fetch_rows,
            "delta" if table.is_delta else provider(table),
            schema,
            self.corrects_statistics,
        )

    def analyse(self, query: str) -> AnalysedQuery:
        """Analyse a SELECT, perhaps that of a temporary view just created, without running it.

        Raises:
            DbtRuntimeError: the query is not valid.
        """
        return ExplainedQuery(query, self.explain, self.fetch_rows, self.query_schema)

    def explain(self, statement: str) -> str:
        """Return the whole text that EXPLAIN shows for a statement, whatever the session hides."""
        return whole_text(self, lambda: str(self.fetch_rows(f"explain {statement}")[0][0]))

    def data_files(self, table: SparkRelation, writes_rows: bool = True) -> DataFiles:
        """Return the data files of a Delta table.

        Args:
            writes_rows: whether rows will be rewritten. Only an UPDATE keeps their row ids.
        """
        snapshot = self.snapshot(table)
        types = {field.name: field.dataType for field in self.schema(table)}
        partitioned_by = {name: type_sql(types[name]) for name in snapshot.partition_columns}
        generated = tuple(snapshot.comparable_expressions) if writes_rows else ()
        more = metadata_name(types), generated
        return FilesBySql(snapshot.name, snapshot.location, self.fetch_rows, partitioned_by, *more)

    def widen_floats(self, table_name: str, leaves: Sequence[Path]) -> None:
        """Correct the statistics of float leaves, then change the leaves to double. SQL can't."""
        raise DbtRuntimeError(f"The statistics of {table_name} can't be corrected by SQL alone.")

    def require_statistics(self) -> None:
        """Raise a DbtRuntimeError if this connection can't collect the statistics of data files."""
        if not self.corrects_statistics:
            raise DbtRuntimeError(
                "Open-source Delta has no statement that collects the statistics of files, and "
                "ANALYZE TABLE does not support Delta tables. Run the operation with "
                "`method: session` and without keep_alive on the same metastore, which does it "
                "with Delta's own class."
            )

    def collect_statistics(self, table: SparkRelation) -> None:
        """Collect the statistics of all data files in one commit, see ``require_statistics``."""
        self.require_statistics()

    def remove_recorded_changes(self, table: SparkRelation, log_schema: str) -> bool:
        """Remove the recorded type changes from a schema. False if the log has another one now.

        SQL has no statement for it: a DbtRuntimeError.
        """
        raise DbtRuntimeError(
            _NO_REMOVAL.format("All files have the types of the table now. ")
            + " (On a cluster, Delta's own DROP FEATURE fails: "
            "https://github.com/delta-io/delta/pull/5697.)"
        )

    def require_removal_of_changes(self) -> None:
        """Check that this connection can remove recorded type changes.

        Raises:
            DbtRuntimeError: SQL has no statement for it.
        """
        if not self.corrects_statistics:
            raise DbtRuntimeError(_NO_REMOVAL.format(""))

    def allow_long_view(self, query: str) -> None:
        """Let the embedded metastore store a long view. A server's metastore needs no change."""
