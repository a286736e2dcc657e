"""Read and change tables with the JVM of a session in this process, mostly without a statement."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cached_property
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.connect import ConnectBackend
from dbt.adapters.deltawiden.delta.backends.explain import (
    FOLLOWING_MODES,
    AnalysedQuery,
    ViewTypes,
    whole_text,
)
from dbt.adapters.deltawiden.delta.backends.jvm_catalog import (
    delta_schema,
    delta_table,
    describe_tables,
    temporary_view_schema,
)
from dbt.adapters.deltawiden.delta.backends.jvm_files import FilesByJvm
from dbt.adapters.deltawiden.delta.data_files import DataFiles
from dbt.adapters.deltawiden.delta.delta_table import DeltaTable
from dbt.adapters.deltawiden.delta.partition_columns import partition_columns
from dbt.adapters.deltawiden.delta.protocol import ROW_TRACKING
from dbt.adapters.deltawiden.delta.relations import relation_path, relation_sql
from dbt.adapters.deltawiden.spark.embedded_metastore import allow_long_views, is_long
from dbt.adapters.deltawiden.spark.scala import analysed_plan
from dbt.adapters.deltawiden.spark.session_connection import (
    SessionConnection,
    as_active,
    errors_as_dbt_errors,
)
from dbt.adapters.deltawiden.sql.identifiers import SESSION_CATALOG, Path, parse_path, path_sql
from dbt.adapters.deltawiden.sql.types import schema_from_json


class JvmBackend(ConnectBackend):
    """Uses the session's JVM where possible. See ``SqlBackend`` for the methods."""

    corrects_statistics = True

    @contextmanager
    def with_setting(self, key: str, value: str) -> Iterator[None]:
        """Run the statements in the block with a setting, in a copy of the session."""
        with self._handle().with_setting(key, value):
            yield

    def schema(self, relation: BaseRelation) -> StructType:
        return _schema_in_jvm(relation, self._handle()) or super().schema(relation)

    def prefetch_schema(self, table: BaseRelation) -> Callable[[], StructType]:
        """Start to read the schema of a table in another thread."""
        session = self._handle()
        # dbt's log finds the model of a log line in the thread's context.
        reading = self._readers.submit(copy_context().run, _schema_in_jvm, table, session)
        return lambda: (
            reading.result() or self._with_partition_columns(table, session.schema(table.render()))
        )

    def delta_table(self, table: SparkRelation) -> DeltaTable | None:
        names = _without_session_catalog(relation_path(table))
        return delta_table(self._handle().session, *names) if len(names) == 2 else None

    def partition_schema(self, table: BaseRelation) -> StructType:
        schema = _schema_in_jvm(table, self._handle())
        if schema is None:
            return super().partition_schema(table)
        marked = partition_columns(schema)
        return StructType([field for field in schema.fields if field.name.lower() in marked])

    @cached_property
    def _readers(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(thread_name_prefix="schema")

    def list_schema(self, schema: BaseRelation) -> list[tuple[str, str, str]] | None:
        names = _without_session_catalog(relation_path(schema) or ("",))
        return None if len(names) > 1 else describe_tables(self._handle().session, names[0])

    def refresh_shared(self, iceberg_table: str | None) -> None:
        self._handle().refresh_shared(iceberg_table)

    def analyse(self, query: str) -> AnalysedQuery:
        handle: SessionConnection = self._handle()
        plan = handle.analysed_plan(query)

        def text() -> str:
            with as_active(handle.session):  # Its settings cut the text.
                return str(plan.numberedTreeString())

        return JvmQuery(handle.session, plan, whole_text(self, text))

    def data_files(self, table: SparkRelation, writes_rows: bool = True) -> DataFiles:
        snapshot = self.snapshot(table)
        snapshot.require_own_log()
        if writes_rows and snapshot.has(ROW_TRACKING):
            return super().data_files(table, writes_rows)
        return self._files(relation_sql(table))

    def widen_floats(self, table_name: str, leaves: Sequence[Path]) -> None:
        self._files(table_name).widen_floats(leaves)

    def collect_statistics(self, table: SparkRelation) -> None:
        self._files(relation_sql(table)).collect_statistics()

    def remove_recorded_changes(self, table: SparkRelation, log_schema: str) -> bool:
        return self._files(relation_sql(table)).remove_recorded_changes(log_schema)

    def _files(self, table_name: str) -> FilesByJvm:
        return FilesByJvm(self._handle().session, table_name)

    def allow_long_view(self, query: str) -> None:
        if is_long(query):
            allow_long_views(self._handle().session)


def _schema_in_jvm(relation: BaseRelation, handle: SessionConnection) -> StructType | None:
    """Read the schema without analysing a query. Return None if the JVM does not have it."""
    names = _without_session_catalog(relation_path(relation))
    if len(names) == 1:
        return temporary_view_schema(handle.session, names[0])
    # With more parts, it is in another catalog.
    return delta_schema(handle.session, *names) if len(names) == 2 else None


def _without_session_catalog(names: Path) -> Path:
    # Also of a schema alone.
    is_named = len(names) > 1 and names[0].lower() == SESSION_CATALOG
    return names[1:] if is_named else names


_SEPARATOR = "\n"


class JvmQuery:
    """An analysed plan in the session's JVM."""

    def __init__(self, session: SparkSession, plan: Any, text: str) -> None:
        self._session = session
        self._plan = plan
        self.text = text

    def view_types(self, name: Path, line: int) -> ViewTypes:
        with errors_as_dbt_errors():
            node = self._node(name, line)
            described = node.desc()
            if str(described.viewSchemaMode().toString()) in FOLLOWING_MODES:
                return ViewTypes(follows=True)
            names = str(described.viewQueryColumnNames().mkString(_SEPARATOR))
            query = _read(node.child().child().schema())
            columns = names.split(_SEPARATOR) if names else ()
            return ViewTypes(False, query, _read(node.schema()), columns)

    def _node(self, name: Path, line: int) -> Any:
        node = self._plan.p(line)
        if node is not None and _is_view(node, name):
            return node
        # A text of several lines in the plan makes its line numbers wrong.
        return analysed_plan(self._session.table(path_sql(name))).child()


def _is_view(node: Any, name: Path) -> bool:
    return (
        str(node.nodeName()) == "View"
        and parse_path(str(node.desc().identifier().quotedString())) == name
    )


def _read(schema: Any) -> StructType:
    return schema_from_json(schema.json())
