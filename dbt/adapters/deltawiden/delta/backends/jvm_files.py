"""Read and rewrite the data files of a Delta table with the session's JVM.

Delta has no statement that rewrites selected files. For ``DROP FEATURE``, its ``REORG`` rewrites
files in a transaction that adds the new files, removes the old ones, and changes no data. This
module makes the same transaction, with the classes of Delta that ``REORG`` uses.
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial, reduce
from typing import Any

from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField, StructType

from dbt.adapters.deltawiden.delta.conflicts import retry_same_commit
from dbt.adapters.deltawiden.delta.data_files import DataFile, Progress, StaleFile
from dbt.adapters.deltawiden.delta.float_statistics import (
    BOUNDS,
    corrected,
    physical_path,
    schema_with_doubles,
)
from dbt.adapters.deltawiden.spark.scala import DeltaTransactions
from dbt.adapters.deltawiden.spark.session_connection import as_active, errors_as_dbt_errors
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.types import schema_from_json

_READERS = 8
"""The number of footers that are read at a time. Most of the time to read one is waiting."""

_BATCH_FILES = 1_000
_BATCH_BYTES = 16 << 30
"""The maximum number and size of the files in one commit. If the process dies, the work of one
commit is lost."""

_read_schema = lru_cache(maxsize=64)(schema_from_json)


@dataclass
class FilesByJvm:
    """The data files of a table, in a session that has the settings for the commits."""

    session: SparkSession
    table: str
    rewrites_single_files: bool = field(default=True, init=False)
    rewrite_text: str = field(default="one by one", init=False)
    correction_text: str = field(default="in the transaction log", init=False)

    def __post_init__(self) -> None:
        with as_active(self.session), errors_as_dbt_errors():
            self._transactions = DeltaTransactions(self.session, self.table)

    def version(self) -> int:
        with as_active(self.session), errors_as_dbt_errors():
            return int(self._snapshot().version())

    def log_schema(self) -> str:
        with as_active(self.session), errors_as_dbt_errors():
            return str(self._snapshot().metadata().schemaString())

    def list(self) -> Sequence[DataFile]:
        with as_active(self.session), errors_as_dbt_errors():
            files = self._transactions.files(self._snapshot())
            columns = ("path", "size", "partitionValues", "modificationTime")
            rows = files.select(*columns, _row_count().alias("rows")).collect()
        return [
            DataFile(
                row.path,
                row.size,
                row.rows,
                {key: value for key, value in row.partitionValues.items() if value is not None},
                row.modificationTime,
            )
            for row in rows
        ]

    def schemas(self, files: Sequence[DataFile]) -> Iterator[tuple[DataFile, StructType]]:
        """Read the schema in each file's footer, several files at a time."""
        with ThreadPoolExecutor(_READERS) as readers, errors_as_dbt_errors():
            texts = readers.map(self._transactions.footer_schema, (file.path for file in files))
            for file, text in zip(files, texts, strict=True):
                yield file, _read_schema(text)

    def rewrite(self, stale: Sequence[StaleFile], progress: Progress = lambda _: None) -> None:
        """Rewrite files, in one commit for each batch. Readers of changes see no change."""
        done = 0
        with as_active(self.session):
            for batch in _batches([stale_file.file for stale_file in stale]):
                if done:
                    progress(done)
                retry_same_commit(partial(self._rewrite, batch))
                done += len(batch)

    def may_have_float_statistics(self, leaves: Sequence[Path]) -> Sequence[DataFile]:
        """List the files whose statistics would be wrong for some leaves once these are double.

        A file that holds a leaf as double can be among them, with right statistics.
        """
        with as_active(self.session), errors_as_dbt_errors():
            return self._may_have_float_statistics(self._snapshot(), leaves)

    def correct(self, files: Sequence[DataFile], leaves: Sequence[Path]) -> None:
        """Correct the statistics of files that hold leaves as float, in one commit for each batch.

        The new statistics are right before and after the leaves become double. The files, and
        everything else that the log contains about them, stay the same.
        """
        with as_active(self.session):
            for batch in _batches(files):
                retry_same_commit(partial(self._correct, batch, leaves))

    def correct_stale(self, stale: Sequence[StaleFile]) -> None:
        for leaves, files in _by_leaves(stale).items():
            self.correct(files, leaves)

    def collect_statistics(self) -> None:
        """Collect the statistics of all files, in one commit. No file is written."""
        with as_active(self.session):
            retry_same_commit(errors_as_dbt_errors()(self._transactions.collect_statistics))

    def widen_floats(self, leaves: Sequence[Path]) -> None:
        """Correct the statistics of float leaves, then change the leaves to double.

        SQL's ``ALTER TABLE`` ignores files that other writers add while it runs, and their
        statistics would be wrong. This method makes the same commit, but fails if a file was added.
        It does not retry a commit: the caller has to plan again, because another writer may have
        changed the schema.

        Raises:
            DbtDatabaseError: Delta refused the change, or another writer changed the table at the
                same time. Corrected statistics stay, and are right for both types.
        """
        with as_active(self.session), errors_as_dbt_errors():
            self._widen_floats(leaves)

    def _widen_floats(self, leaves: Sequence[Path]) -> None:
        for batch in _batches(self._may_have_float_statistics(self._snapshot(), leaves)):
            self._correct(batch, leaves)
        transaction = self._transactions.start()
        if self._may_have_float_statistics(transaction.snapshot(), leaves):
            raise DbtDatabaseError(
                "[DELTA_CONCURRENT_APPEND] Others added files while the statistics of the files "
                f"of {self.table} were being corrected."
            )
        # With this, the commit fails if a file is added from now on.
        transaction.readWholeTable()
        self._change_to_double(transaction, leaves)

    def _change_to_double(self, transaction: Any, leaves: Sequence[Path]) -> None:
        self._check_changes(transaction, leaves)
        schema = schema_with_doubles(transaction.metadata().schemaString(), leaves)
        self._transactions.commit_schema(transaction, schema, leaves)

    def _check_changes(self, transaction: Any, leaves: Sequence[Path]) -> None:
        """Make the checks that SQL's ``ALTER TABLE`` makes before it changes a type."""
        if not self._transactions.has_type_widening(transaction):
            raise DbtDatabaseError(
                f"[DELTA_METADATA_CHANGED] Type widening is not enabled on {self.table} any more."
            )
        for leaf in leaves:
            self._transactions.check_dependent_expressions(transaction, leaf)

    def _may_have_float_statistics(
        self, snapshot: Any, leaves: Sequence[Path]
    ) -> Sequence[DataFile]:
        names = self._physical(snapshot, leaves)
        rows = (
            self._transactions.files(snapshot)
            .filter(_has_float_text(names))
            .select("path", "size")
            .collect()
        )
        return [DataFile(row.path, row.size) for row in rows]

    def _physical(self, snapshot: Any, leaves: Sequence[Path]) -> Sequence[Path]:
        schema = _read_schema(snapshot.metadata().schemaString())
        return [physical_path(leaf, schema) for leaf in leaves]

    @errors_as_dbt_errors()
    def _correct(self, files: Sequence[DataFile], leaves: Sequence[Path]) -> None:
        transaction = self._transactions.start()
        found = self._found(transaction, files)
        if not found:
            return
        names = self._physical(transaction.snapshot(), leaves)
        corrected_files = [self._without_data_change(action, names) for action in found]
        self._transactions.commit_statistics(transaction, found, corrected_files)

    def _found(self, transaction: Any, files: Sequence[DataFile]) -> Any:
        # Files that another writer has rewritten since are not in the table any more.
        paths = ", ".join(literal(file.path) for file in files)
        return self._transactions.file_actions(transaction.snapshot(), f"path in ({paths})")

    def remove_recorded_changes(self, log_schema: str) -> bool:
        """Remove the recorded type changes from the schema, as DROP FEATURE does after its rewrite.

        Every file has the types of ``log_schema``. The result is False if another writer has
        changed the schema since: files can have older types.
        """
        with as_active(self.session), errors_as_dbt_errors():
            transaction = self._transactions.start()
            if transaction.metadata().schemaString() != log_schema:
                return False
            self._transactions.commit_without_recorded_changes(transaction)
            return True

    @errors_as_dbt_errors()
    def _rewrite(self, files: Sequence[DataFile]) -> None:
        transaction = self._transactions.start()
        found = self._found(transaction, files)
        if not found:
            return
        written = self._transactions.write_rows_of(transaction, found)
        added = [self._without_data_change(action) for action in written]
        now = int(time.time() * 1000)
        removed = [action.removeWithTimestamp(now, False) for action in found]
        self._transactions.commit_rewrite(transaction, [*added, *removed])

    def _snapshot(self) -> Any:
        return self._transactions.start().snapshot()

    def _without_data_change(self, action: Any, floats: Sequence[Path] = ()) -> Any:
        values = json.loads(action.json())
        values["add"]["dataChange"] = False
        if floats:
            values["add"]["stats"] = corrected(values["add"]["stats"], floats)
        return self._transactions.action(values)


def _by_leaves(stale: Sequence[StaleFile]) -> dict[tuple[Path, ...], list[DataFile]]:
    """Group files by their stale leaves, which can differ from file to file."""
    groups: dict[tuple[Path, ...], list[DataFile]] = {}
    for stale_file in stale:
        paths = tuple(leaf.path for leaf in stale_file.leaves)
        groups.setdefault(paths, []).append(stale_file.file)
    return groups


def _row_count() -> Column:
    written = sf.get_json_object("stats", "$.numRecords").cast("bigint")
    deleted = sf.col("deletionVector.cardinality")
    return written - sf.coalesce(deleted, sf.lit(0))


def _has_float_text(leaves: Iterable[Path]) -> Column:
    """Return the condition that the text of a bound is another number as float than as double.

    It can also be true for the bound of a leaf that is not float in the file.
    """
    struct = StructType([StructField(bound, _texts(leaves)) for bound in BOUNDS])
    statistics = sf.from_json("stats", struct)
    found = sf.lit(False)
    for leaf in leaves:
        for bound in BOUNDS:
            text = reduce(Column.getField, (bound, *leaf), statistics)
            double, real = text.try_cast("double"), text.try_cast("float").cast("double")
            # A number that is too large for a float is not from a float.
            differs = (real != double) & (sf.abs(real) < float("inf"))
            found = found | sf.coalesce(differs, sf.lit(False))
    return found


def _texts(leaves: Iterable[Path]) -> StructType:
    inside: dict[str, list[Path]] = {}
    for leaf in leaves:
        inside.setdefault(leaf[0], []).append(leaf[1:])
    return StructType(
        [
            StructField(name, _texts(paths) if paths[0] else StringType())
            for name, paths in inside.items()
        ]
    )


def _batches(files: Sequence[DataFile]) -> Iterator[Sequence[DataFile]]:
    batch: list[DataFile] = []
    for file in files:
        if batch and (
            len(batch) == _BATCH_FILES or sum(f.size for f in batch) + file.size > _BATCH_BYTES
        ):
            yield batch
            batch = []
        batch.append(file)
    if batch:
        yield batch
