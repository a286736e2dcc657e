"""The data files of a Delta table: list them, read their types, rewrite them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol
from urllib.parse import unquote

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.conflicts import retry_same_commit
from dbt.adapters.deltawiden.delta.stale_types import StaleLeaf, stale_leaves
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows, file_sql, newest_schema
from dbt.adapters.deltawiden.sql.describe_parser import read_schema
from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.statements import rewrite_rows


@dataclass(frozen=True)
class DataFile:
    """A data file of a table's newest version.

    Attributes:
        path: the file's URI, as the engine shows it.
        size: in bytes.
        rows: the number without deleted ones. None if the log has no statistics, or was not read.
        partition_values: texts of those that are known and not null, by physical name.
        modified: when it was written, in milliseconds; 0 if the log was not read.
    """

    path: str
    size: int
    rows: int | None = None
    partition_values: Mapping[str, str] = field(default_factory=dict, compare=False)
    modified: int = 0


@dataclass(frozen=True)
class StaleFile:
    """A data file that holds a type from before a widening, in at least one leaf."""

    file: DataFile
    leaves: tuple[StaleLeaf, ...]


Progress = Callable[[int], None]
"""Is called with the number of files that are rewritten so far, after each commit but the last."""


def _silently(rewritten: int) -> None:
    """Show no progress."""


class DataFiles(Protocol):
    """The data files of one table, and the table's newest version."""

    @property
    def rewrites_single_files(self) -> bool:
        """Whether only the stale files are rewritten, so that no row changes for readers."""

    @property
    def rewrite_text(self) -> str:
        """How stale files are rewritten, as text for people."""

    def version(self) -> int:
        """Read the number of the newest version."""

    def log_schema(self) -> str:
        """Read the schema from the log: JSON, with all metadata that Delta keeps in it."""

    def list(self) -> Sequence[DataFile]:
        """List the files of the newest version."""

    def schemas(self, files: Sequence[DataFile]) -> Iterator[tuple[DataFile, StructType]]:
        """Read the schema in each file's footer, with physical names."""

    def rewrite(self, stale: Sequence[StaleFile], progress: Progress = _silently) -> None:
        """Rewrite files with the types of the table's schema.

        Raises:
            DbtDatabaseError: Spark or Delta refused a statement or commit, or other writers came
                first each time. Earlier rewrites are complete.
        """

    @property
    def correction_text(self) -> str:
        """How the statistics of files are corrected, as text for people."""

    def may_have_float_statistics(self, leaves: Sequence[Path]) -> Sequence[DataFile]:
        """List the files whose statistics are wrong if the leaves are float in the file."""

    def correct_stale(self, stale: Sequence[StaleFile]) -> None:
        """Correct the statistics of stale leaves: float in the file, double in the schema."""


_FILES_A_QUERY = 500


@dataclass(frozen=True)
class FilesBySql:
    """The data files of a table on a server that accepts only SQL.

    SQL can't select the files that an ``UPDATE`` rewrites. But an ``UPDATE`` rewrites whole
    partitions if its condition uses only partition columns. To a reader of the table's changes (a
    stream, the change data feed), an ``UPDATE`` changes every row in them.

    Attributes:
        partitioned_by: the partition columns, each with its type as SQL.
        metadata: the column with the metadata of files.
        generated: the generated columns.
    """

    table: str
    location: str
    fetch_rows: FetchRows
    partitioned_by: Mapping[str, str] = field(default_factory=dict)
    metadata: str = "_metadata"
    generated: tuple[str, ...] = ()
    rewrites_single_files: bool = field(default=False, init=False)

    @property
    def rewrite_text(self) -> str:
        unit = "their whole partitions" if self.partitioned_by else "the whole table"
        return f"by UPDATE of {unit}"

    def version(self) -> int:
        return int(self.fetch_rows(f"describe history {self.table} limit 1")[0]["version"])

    def log_schema(self) -> str:
        return newest_schema(self.location, self.fetch_rows)

    def list(self) -> Sequence[DataFile]:
        """List the files of the newest version that have rows."""
        rows = self.fetch_rows(
            f"select {self.metadata}.file_path, {self.metadata}.file_size from {self.table} "
            "group by 1, 2"
        )
        return [
            DataFile(path, size, partition_values=self._values_in_path(path))
            for path, size in ((str(row[0]), int(row[1])) for row in rows)
        ]

    def _values_in_path(self, path: str) -> Mapping[str, str]:
        """Read the partition values from the names of a file's folders, if these have them."""
        folders = path.split("/")[:-1][-len(self.partitioned_by) :] if self.partitioned_by else []
        # The URI escapes the names again.
        pairs = (unquote(unquote(folder)).partition("=") for folder in folders)
        return {name: value for name, separator, value in pairs if separator}

    def schemas(self, files: Sequence[DataFile]) -> Iterator[tuple[DataFile, StructType]]:
        """Read the schema in each file's footer, one file after the other."""
        for file in files:
            name = file_sql("parquet", unquote(file.path))
            yield file, read_schema(f"select * from {name}", name, self.fetch_rows)

    def rewrite(self, stale: Sequence[StaleFile], progress: Progress = _silently) -> None:
        """Rewrite the partitions of files, or the whole table if it has no partitions."""
        # Any column works: Delta rewrites the whole row.
        statement = rewrite_rows(self.table, stale[0].leaves[0].path[0], self.generated)
        if not self.partitioned_by:
            self._run(statement)
            return
        for first in range(0, len(stale), _FILES_A_QUERY):
            if first:
                progress(first)
            if condition := self._partitions_of(stale[first : first + _FILES_A_QUERY]):
                self._run(f"{statement} where {condition}")

    def _run(self, statement: str) -> None:
        retry_same_commit(partial(self.fetch_rows, statement))

    @property
    def correction_text(self) -> str:
        return self.rewrite_text

    def may_have_float_statistics(self, leaves: Sequence[Path]) -> Sequence[DataFile]:
        """List all files: SQL does not show the statistics."""
        return self.list()

    def correct_stale(self, stale: Sequence[StaleFile]) -> None:
        """Rewrite the files. The new files get new statistics."""
        self.rewrite(stale)

    def _partitions_of(self, stale: Sequence[StaleFile]) -> str:
        paths = ", ".join(literal(stale_file.file.path) for stale_file in stale)
        values = ", ".join(f"cast({quote(name)} as string)" for name in self.partitioned_by)
        # As JSON, because dbt reads some texts in a result as numbers or null.
        rows = self.fetch_rows(
            f"select distinct to_json(array({values})) from {self.table} "
            f"where {self.metadata}.file_path in ({paths})"
        )
        return " or ".join(f"({self._is_partition(json.loads(row[0]))})" for row in rows)

    def _is_partition(self, values: Sequence[Any]) -> str:
        return " and ".join(
            f"{quote(name)} <=> cast({literal(value)} as {data_type})"
            for (name, data_type), value in zip(self.partitioned_by.items(), values, strict=True)
        )


def metadata_name(columns: Iterable[str]) -> str:
    """Return the name that Spark gives to the column with the metadata of files, beside others.

    Source:
        Spark's ``ExposesMetadataColumns.metadataOutputWithOutConflicts``
    """
    taken = {column.lower() for column in columns}
    name = "_metadata"
    while name in taken:
        name = f"_{name}"
    return name


def find_stale(
    files: DataFiles,
    listed: Sequence[DataFile],
    schema: StructType,
    is_wanted: Callable[[StaleLeaf], bool],
) -> Iterator[StaleFile]:
    """Read the types in files, and yield the files with older types in leaves that are wanted."""
    for file, stored in files.schemas(listed):
        if leaves := tuple(filter(is_wanted, stale_leaves(stored, schema))):
            yield StaleFile(file, leaves)
