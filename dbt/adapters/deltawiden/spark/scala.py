"""Call the classes of Spark and Delta that are not public. No other module calls them.

Another version can have other classes or other arguments. Every function says on which versions
it was tried: on ``ALL`` of them, or on the ``LATER`` ones, which have every kind of type widening.

    ALL: Spark 3.5.9 with Delta 3.3.3, 4.0.2 with 4.0.1, 4.1.4 and 4.2.0 with 4.4.0
    LATER: ALL but Spark 3.5.9 with Delta 3.3.3
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

Java = Any
"""A Java or Scala object, accessed through py4j."""


def clone_session(session: SparkSession) -> SparkSession:
    """Return a copy of a session, in which each statement means the same.

    Spark copies the settings and the temporary views and functions. It does not copy the variables,
    nor the current catalog.
    """
    own: Any = session
    copy = SparkSession(own.sparkContext, own._jsparkSession.cloneSession())
    given, taken = (_state(each).catalogManager() for each in (session, copy))
    # Spark loads a catalog with the settings of the active session.
    before = set_active_session(copy)
    try:
        taken.setCurrentCatalog(given.currentCatalog().name())
        if list(taken.currentNamespace()) != list(given.currentNamespace()):
            taken.setCurrentNamespace(given.currentNamespace())
    finally:
        restore_active_session(session, before)
    if not session.version.startswith("3."):  # Spark 3.5 has no variables.
        # A variable that the copy sets is not set in the session. Another version of Spark can lack
        # this field. A statement that reads a variable then stops.
        with suppress(Py4JError):
            getattr(_variables(taken), "$plus$plus$eq")(_variables(given))
    return copy


@contextmanager
def returned_by_builder(session: SparkSession) -> Iterator[None]:
    """Let ``SparkSession.builder.getOrCreate()`` return a session. Tried on Spark 4.1.4."""
    builds: Any = SparkSession
    before, builds._instantiatedSession = builds._instantiatedSession, session
    try:
        yield
    finally:
        builds._instantiatedSession = before


def _variables(catalogs: Java) -> Java:
    """Return the variables of a session, by name. Tried on Spark 4.1.4.

    Spark has no public way to list them.
    """
    variables = catalogs.tempVariableManager()
    field = variables.getClass().getDeclaredField("variables")
    field.setAccessible(True)
    return field.get(variables)


def set_active_session(session: SparkSession) -> Java:
    """Set the thread's active session, and return the previous one. Tried on ALL."""
    own: Any = session._jsparkSession
    before = own.getActiveSession()
    own.setActiveSession(own)
    return before


def restore_active_session(session: SparkSession, before: Java) -> None:
    """Undo ``set_active_session``. Tried on ALL."""
    own: Any = session._jsparkSession
    # Delta refuses to work in a thread that has no active session.
    own.setActiveSession(before.get() if before.isDefined() else own)


def analysed_plan(frame: DataFrame) -> Java:
    """Return the analysed logical plan of a data frame. Tried on ALL."""
    java: Any = frame._jdf
    return java.queryExecution().analyzed()


def frame_in(session: SparkSession, frame: DataFrame) -> DataFrame:
    """Return a data frame of another session as one of this session. Tried on Spark 4.1.4."""
    package = "org.apache.spark.sql" + ("" if session.version.startswith("3.") else ".classic")
    datasets, own = java_class(session, f"{package}.Dataset"), cast(Any, session)
    return DataFrame(datasets.ofRows(own._jsparkSession, analysed_plan(frame)), session)


def hadoop_configuration(session: SparkSession) -> Java:
    """Return the Hadoop configuration of a session's context. Tried on ALL."""
    context: Any = session.sparkContext
    return context._jsc.hadoopConfiguration()


def delete_at_end(context: Any, folder: str) -> None:
    """Let the JVM delete a folder when it ends, after all else. Tried on Spark 4.1.4."""
    # Without it, the next start deletes the folder.
    with suppress(Py4JError):
        file = context._jvm.java.io.File(folder)
        context._jvm.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(file)


def java_class(session: SparkSession, name: str) -> Java:
    """Return a class of the JVM by its full name. Tried on ALL."""
    # With dots in Python, py4j would look up every part of the name in the JVM.
    return getattr(session._jvm, name)


# Spark's catalog


def _state(session: SparkSession) -> Java:
    own: Any = session
    return own._jsparkSession.sessionState()


def temporary_view_schema(session: SparkSession, name: str) -> Java | None:
    """Return the schema that Spark stores for a temporary view. Tried on ALL."""
    found = _state(session).catalog().getRawTempView(name)
    return found.get().tableMeta().schema() if found.isDefined() else None


def catalog_table(session: SparkSession, schema: str, name: str) -> Java:
    """Return the metastore's entry of a table. Tried on ALL."""
    return _state(session).catalog().externalCatalog().getTable(schema, name)


def newest_snapshot(session: SparkSession, table: Java) -> Java:
    """Return the newest version of a ``catalog_table``, a Delta table. Tried on ALL."""
    own: Any = session
    log = java_class(session, "org.apache.spark.sql.delta.DeltaLog")
    no_options = table.properties().empty()
    return log.forTableWithSnapshot(own._jsparkSession, table, no_options)._2()


def catalog_tables(session: SparkSession, schema: str, at_once: int) -> Iterable[Java]:
    """Return the metastore's entries of a schema's tables and views, in slices. Tried on ALL."""
    catalog = _state(session).catalog()
    names = catalog.listTables(schema, "*", False)  # without temporary views
    starts = range(0, names.size(), at_once)
    slices = (names.slice(start, start + at_once) for start in starts)
    return (catalog.getTablesByName(names_slice) for names_slice in slices)


def texts(sequence: Java) -> list[str]:
    """Return the elements of a Scala sequence as texts. Tried on ALL."""
    # Join them into one text: py4j takes longer per element than the JVM takes to join them all.
    end = uuid.uuid4().hex
    return str(sequence.mkString("", end, end)).split(end)[:-1]


class DeltaTransactions:
    """Delta's transactions on one table."""

    def __init__(self, session: SparkSession, table_name: str) -> None:
        own: Any = session
        self._session = session
        self._spark, self._jvm = own._jsparkSession, own._jvm
        self._delta = self._jvm.org.apache.spark.sql.delta
        state = self._spark.sessionState()
        # As a statement finds it: a name of three parts has its catalog, and one of two parts is in
        # the current one. Spark's class for a name, TableIdentifier, is always in spark_catalog.
        names = state.sqlParser().parseMultipartIdentifier(table_name)
        found = state.analyzer().CatalogAndIdentifier().unapply(names).get()
        self._table = found._1().loadTable(found._2())
        self._log = self._table.deltaLog()
        self._hadoop = state.newHadoopConf()

    def start(self) -> Java:
        """Start a transaction on the newest version, as Delta's own commands do. Tried on ALL."""
        # The table's own method, because the log does not know the catalog's entry of the table.
        # Without it, Delta skips what follows a commit in a catalog, and UniForm raises an error.
        return self._table.startTransaction(self._option(None))

    def files(self, snapshot: Java) -> DataFrame:
        """Return the data files of a snapshot as rows, by the fields of ``add``. Tried on ALL."""
        return DataFrame(snapshot.allFiles().toDF(), self._session)

    def file_actions(self, snapshot: Java, condition: str) -> Sequence[Java]:
        """Return the ``add`` actions of a snapshot's files that meet a condition. Tried on ALL."""
        found: Sequence[Java] = snapshot.allFiles().filter(condition).collectAsList()
        return found

    def action(self, values: Mapping[str, Any]) -> Java:
        """Create an action from its JSON. Tried on ALL."""
        # The protocol defines an action's JSON. The fields of its class differ between versions.
        return self._delta.actions.Action.fromJson(json.dumps(values))

    def write_rows_of(self, transaction: Java, files: Sequence[Java]) -> list[Java]:
        """Write the rows of files as OPTIMIZE does. Return the ``add`` actions. Tried on ALL."""
        rows = self._log.createDataFrame(
            transaction.snapshot(), self._seq(files), False, self._option("Optimize")
        )
        written = transaction.writeFiles(rows, self._option(None), True, self._seq([]))
        return [written.apply(i) for i in range(written.size())]

    def commit_rewrite(self, transaction: Java, actions: Sequence[Java]) -> None:
        """Commit rewritten files. Tried on ALL."""
        operation = getattr(self._delta, "DeltaOperations$ManualUpdate$")
        transaction.commit(self._seq(actions), getattr(operation, "MODULE$"))

    def commit_statistics(
        self, transaction: Java, read: Sequence[Java], actions: Sequence[Java]
    ) -> None:
        """Commit new statistics of files, unless another writer removed one. Tried on LATER."""
        # This commit would add a file again that another writer has removed.
        transaction.trackFilesRead(self._seq(read))
        operation = getattr(self._delta, "DeltaOperations$ComputeStats")
        transaction.commit(self._seq(actions), operation(self._seq([])))

    def collect_statistics(self) -> None:
        """Collect and commit the statistics of all files. Tried on Spark 4.1.4 with Delta 4.4.0."""
        name = "org.apache.spark.sql.delta.stats.StatisticsCollection$"
        collection = getattr(java_class(self._session, name), "MODULE$")
        every_row, every_file = (
            getattr(collection, f"recompute$default${position}")() for position in (4, 5)
        )
        entry = self._table.catalogTable()
        collection.recompute(self._spark, self._log, entry, every_row, every_file)

    def commit_schema(
        self, transaction: Java, schema_json: str, leaves: Sequence[Sequence[str]]
    ) -> None:
        """Commit a schema with new types of leaves, and record the type changes. Tried on LATER."""
        metadata = transaction.metadata()
        wanted = self._jvm.org.apache.spark.sql.types.DataType.fromJson(schema_json)
        schema = self._delta.TypeWideningMetadata.addTypeWideningMetadata(
            transaction, wanted, metadata.schema()
        )
        # The session's default properties do not apply, because this is not a new table.
        transaction.updateMetadata(self._with_schema(metadata, schema), False)
        changes = [self._change_operation(schema, leaf) for leaf in leaves]
        several = getattr(self._delta, "DeltaOperations$ChangeColumns")
        operation = changes[0] if len(changes) == 1 else several(self._seq(changes))
        transaction.commit(self._seq([]), operation)

    def _change_operation(self, schema: Java, leaf: Sequence[str]) -> Java:
        parent = schema
        for name in leaf[:-1]:
            parent = parent.apply(name).dataType()
        operation = getattr(self._delta, "DeltaOperations$ChangeColumn")
        column = parent.apply(leaf[-1])
        return operation(self._seq(leaf[:-1]), leaf[-1], column, self._option(None))

    def has_type_widening(self, transaction: Java) -> bool:
        """Return whether type widening is enabled on the table. Tried on LATER."""
        protocol, metadata = transaction.protocol(), transaction.metadata()
        return bool(self._delta.TypeWidening.isEnabled(protocol, metadata))

    def check_dependent_expressions(self, transaction: Java, leaf: Sequence[str]) -> None:
        """Check that no expression of the table depends on a leaf that changes. Tried on LATER."""
        command = self._delta.commands.AlterTableChangeColumnDeltaCommand(None, self._seq([]))
        metadata, protocol = transaction.metadata(), transaction.protocol()
        command.checkDependentExpressions(self._spark, self._seq(leaf), metadata, protocol)

    def commit_without_recorded_changes(self, transaction: Java) -> None:
        """Commit the schema without its recorded type changes. Tried on LATER."""
        metadata = transaction.metadata()
        cleaned = self._delta.TypeWideningMetadata.removeTypeWideningMetadata(metadata.schema())
        operation = getattr(self._delta, "DeltaOperations$UpdateColumnMetadata")
        transaction.commit(
            self._seq([self._with_schema(metadata, cleaned._1())]),
            operation("DROP FEATURE", cleaned._2()),
        )

    def _with_schema(self, metadata: Java, schema: Java) -> Java:
        values = json.loads(metadata.json())
        values["metaData"]["schemaString"] = schema.json()
        return self.action(values)

    def footer_schema(self, file_uri: str) -> str:
        """Read the schema in the footer of a Parquet file, as JSON. Tried on ALL.

        The file's URI is absolute or relative to the table's folder.
        """
        hadoop, parquet = self._jvm.org.apache.hadoop.fs, self._jvm.org.apache.parquet.hadoop
        path = hadoop.Path(self._jvm.java.net.URI(file_uri))
        if not path.isAbsolute():
            path = hadoop.Path(self._log.dataPath(), path)
        reader = parquet.ParquetFileReader.open(
            parquet.util.HadoopInputFile.fromPath(path, self._hadoop)
        )
        try:
            stored = reader.getFooter().getFileMetaData().getSchema()
        finally:
            reader.close()
        datasources = self._jvm.org.apache.spark.sql.execution.datasources
        converter = datasources.parquet.ParquetToSparkSchemaConverter(
            self._spark.sessionState().conf()
        )
        return str(converter.convert(stored).json())

    def _seq(self, values: Sequence[Any]) -> Java:
        return self._jvm.PythonUtils.toSeq(values)

    def _option(self, value: Any) -> Java:
        return self._jvm.scala.Option.apply(value)


# Spark Connect


def spark_connect_port(session: SparkSession) -> int:
    """Return the port of the Spark Connect server in the session's JVM. Tried on Spark 4.1.4."""
    service = java_class(session, "org.apache.spark.sql.connect.service.SparkConnectService$")
    return int(getattr(service, "MODULE$").localPort())
