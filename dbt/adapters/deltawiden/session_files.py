"""The data files of a Delta table by the session's JVM: footers in parallel, files one by one.

Delta has no statement that rewrites files of one's choice. Its ``REORG`` does so for ``DROP
FEATURE``, in a transaction that adds the new files, removes the old ones, and changes no data; the
same transaction is used here, through the classes of Delta's own that ``REORG`` uses.
"""

import functools
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.data_files import DataFile, StaleFile
from dbt.adapters.deltawiden.session import as_active, clear_errors
from dbt.adapters.deltawiden.widening.literals import literal

_READERS = 8
"""Footers read at a time: reading one is waiting, for the most part."""

_BATCH_FILES = 1_000
_BATCH_BYTES = 16 << 30
"""What is rewritten in one commit, at most: so much is lost when the process dies."""


@dataclass
class FilesBySession:
    """The data files of a table, read and written by the session's JVM.

    Attributes:
        session: the session, with the settings that its commits should have.
        table: the table's name, quoted for a statement.
    """

    session: SparkSession
    table: str
    how: str = field(default="one by one", init=False)

    def __post_init__(self) -> None:
        session: Any = self.session
        self._spark, self._jvm = session._jsparkSession, session._jvm
        self._delta = self._jvm.org.apache.spark.sql.delta
        with clear_errors():
            name = self._spark.sessionState().sqlParser().parseTableIdentifier(self.table)
            self._log = self._delta.DeltaLog.forTable(self._spark, name)
            self._hadoop = self._spark.sessionState().newHadoopConf()

    def version(self) -> int:
        """Read the number of the newest version."""
        with as_active(self.session), clear_errors():
            return int(self._snapshot().version())

    def log_schema(self) -> str:
        """Read the schema as the log has it."""
        with as_active(self.session), clear_errors():
            return str(self._snapshot().metadata().schemaString())

    def list(self) -> Sequence[DataFile]:
        """List the files of the newest version."""
        with as_active(self.session), clear_errors():
            files = self._snapshot().allFiles().toDF()
            rows = DataFrame(files, self.session).select("path", "size").collect()
        return [DataFile(row.path, row.size) for row in rows]

    def schemas(self, files: Sequence[DataFile]) -> Iterator[tuple[DataFile, StructType]]:
        """Read the schema in each file's footer, several files at a time.

        Raises:
            DbtDatabaseError: a file can't be read.
        """
        with ThreadPoolExecutor(_READERS) as readers, clear_errors():
            for file, text in zip(files, readers.map(self._footer, files), strict=True):
                yield file, _read_schema(text)

    def rewrite(self, stale: Sequence[StaleFile]) -> None:
        """Write files anew, in one commit a batch. No row changes for those who read changes.

        Raises:
            DbtDatabaseError: Delta refused a commit, because others changed the files meanwhile;
                what was committed before is complete.
        """
        with as_active(self.session), clear_errors():
            for batch in _batches([each.file for each in stale]):
                self._rewrite(batch)

    def remove_recorded_changes(self) -> None:
        """Take the recorded type changes out of the schema, as DROP FEATURE does after its rewrite.

        Every file must hold the types of the schema already.

        Raises:
            DbtDatabaseError: Delta refused the commit, because others changed the table meanwhile.
        """
        with as_active(self.session), clear_errors():
            transaction = self._transaction()
            metadata = transaction.metadata()
            cleaned = self._delta.TypeWideningMetadata.removeTypeWideningMetadata(metadata.schema())
            values = json.loads(metadata.json())
            values["metaData"]["schemaString"] = cleaned._1().json()
            operation = getattr(self._delta, "DeltaOperations$UpdateColumnMetadata")
            transaction.commit(
                self._seq([self._delta.actions.Action.fromJson(json.dumps(values))]),
                operation("DROP FEATURE", cleaned._2()),
            )

    def _rewrite(self, files: Sequence[DataFile]) -> None:
        transaction = self._transaction()
        paths = ", ".join(literal(each.path) for each in files)
        # Those that others have rewritten since are not in the table any more.
        found = transaction.snapshot().allFiles().filter(f"path in ({paths})").collectAsList()
        if not found:
            return
        rows = self._log.createDataFrame(
            transaction.snapshot(), self._seq(found), False, self._option("Optimize")
        )
        written = transaction.writeFiles(rows, self._option(None), True, self._seq([]))
        added = [self._without_data_change(written.apply(i)) for i in range(written.size())]
        now = int(time.time() * 1000)
        removed = [each.removeWithTimestamp(now, False) for each in found]
        operation = getattr(self._delta, "DeltaOperations$ManualUpdate$")
        transaction.commit(self._seq([*added, *removed]), getattr(operation, "MODULE$"))

    def _snapshot(self) -> Any:
        return self._transaction().snapshot()

    def _transaction(self) -> Any:
        # A transaction begins with the newest version.
        return self._log.startTransaction(self._option(None), self._option(None))

    def _without_data_change(self, action: Any) -> Any:
        # As JSON an action is what the protocol says; its class has other fields in each version.
        values = json.loads(action.json())
        values["add"]["dataChange"] = False
        return self._delta.actions.Action.fromJson(json.dumps(values))

    def _footer(self, file: DataFile) -> str:
        hadoop, parquet = self._jvm.org.apache.hadoop.fs, self._jvm.org.apache.parquet.hadoop
        path = hadoop.Path(self._jvm.java.net.URI(file.path))
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

    def _seq(self, values: Sequence[Any]) -> Any:
        return self._jvm.PythonUtils.toSeq(values)

    def _option(self, value: Any) -> Any:
        return self._jvm.scala.Option.apply(value)


@functools.lru_cache(maxsize=64)
def _read_schema(text: str) -> StructType:
    return StructType.fromJson(json.loads(text))


def _batches(files: Sequence[DataFile]) -> Iterator[Sequence[DataFile]]:
    batch: list[DataFile] = []
    for each in files:
        if batch and (
            len(batch) == _BATCH_FILES or sum(f.size for f in batch) + each.size > _BATCH_BYTES
        ):
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch
