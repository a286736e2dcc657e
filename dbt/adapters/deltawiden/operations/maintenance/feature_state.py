"""What a table still has of type widening: the feature, recorded changes and stale files."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbt_common.events.format import pluralize
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.data_files import DataFile, StaleFile
from dbt.adapters.deltawiden.delta.stale_types import stale_leaves, stale_partition_columns
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable, read_log_schema
from dbt.adapters.deltawiden.operations.result import log_progress
from dbt.adapters.deltawiden.sql.sizes import size_text

_PROGRESS_EVERY = 1_000


@dataclass(frozen=True)
class FeatureState:
    """What a version of a table has of type widening. ``size`` is in bytes."""

    snapshot: TableSnapshot
    version: int
    log_schema: str
    rows: int
    changes: tuple[TypeChange, ...]
    files: int
    size: int
    stale: Sequence[StaleFile]

    @property
    def features(self) -> list[str]:
        """The table features of type widening that the table has."""
        return self.snapshot.widening_features

    @property
    def stale_size(self) -> int:
        """The size of the stale files in bytes."""
        return sum(stale.file.size for stale in self.stale)

    @property
    def left_by_delta(self) -> list[StaleFile]:
        """The stale files that Delta's own command does not rewrite."""
        if self.features and self.changes:
            return [
                stale for stale in self.stale if all(leaf.left_by_delta for leaf in stale.leaves)
            ]
        return list(self.stale)

    @property
    def has_copied_changes(self) -> bool:
        """Whether the recorded type changes are those of another table.

        Delta 3.3 copies them to a table that is created from the rows of a widened one.
        """
        return bool(self.changes) and not self.features

    @property
    def counts(self) -> dict[str, int]:
        """The numbers for a document."""
        return {
            "files": self.files,
            "bytes": self.size,
            "stale_files": len(self.stale),
            "stale_bytes": self.stale_size,
            "rows": self.rows,
        }

    @property
    def stale_text(self) -> str:
        """The number and size of the stale files, as text for people."""
        return (
            f"{len(self.stale)} of {pluralize(self.files, 'file')} "
            f"({size_text(self.stale_size)} of {size_text(self.size)})"
        )


class FeatureReader:
    """Reads the state of a table, before and after changes.

    A data file never changes, so that the types in it are read once.
    """

    def __init__(self, table: MaintainedTable) -> None:
        self._table = table
        self._types: dict[str, StructType] = {}
        self._same_types: dict[str, StructType] = {}

    def read(self) -> FeatureState:
        """Read the newest version. A file that can't be read is a DbtDatabaseError."""
        snapshot = self._table.snapshot().read_now()
        version = self._table.files.version()
        log_schema = self._table.files.log_schema()
        schema, changes = read_log_schema(log_schema)
        files = self._table.files.list()
        self._read_types(snapshot.name, files)
        stale = []
        for file in files:
            leaves = (
                *stale_leaves(self._types[file.path], schema),
                *stale_partition_columns(file.partition_values, schema),
            )
            if leaves:
                stale.append(StaleFile(file, leaves))
        size = sum(file.size for file in files)
        rows = self._count(files, version)
        return FeatureState(snapshot, version, log_schema, rows, changes, len(files), size, stale)

    def _count(self, files: Sequence[DataFile], version: int) -> int:
        known = [file.rows for file in files if file.rows is not None]
        return sum(known) if len(known) == len(files) else self._table.count(version)

    def _read_types(self, name: str, files: Sequence[DataFile]) -> None:
        new = [file for file in files if file.path not in self._types]
        log_progress(f"{name}: reading the types in {pluralize(len(new), 'file')}")
        for number, (file, stored) in enumerate(self._table.files.schemas(new), start=1):
            # Most files have the same types. One object for all of them saves memory.
            self._types[file.path] = self._same_types.setdefault(stored.json(), stored)
            if number % _PROGRESS_EVERY == 0:
                log_progress(f"{name}: the types in {number} of {len(new)} files are read")
