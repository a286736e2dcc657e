"""Read and change one Delta table for a maintenance operation."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.events.format import pluralize
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.column_metadata import read_metadata
from dbt.adapters.deltawiden.delta.data_files import DataFiles, StaleFile
from dbt.adapters.deltawiden.delta.history import Commit, read_history
from dbt.adapters.deltawiden.delta.relations import relation_sql, require_delta, require_table
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.transaction_log import history_expiry
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    log_progress,
    run_on_each,
)
from dbt.adapters.deltawiden.sql.sizes import size_text
from dbt.adapters.deltawiden.sql.types import schema_from_json
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared, require_rows_that_change
from dbt.adapters.deltawiden.writing.partition_values import require_moments_kept
from dbt.adapters.deltawiden.writing.rows_kept import require_rows_kept


@dataclass(frozen=True)
class MaintainedTable:
    """A Delta table that an operation works on, whose commits have the tag in their metadata."""

    relation: SparkRelation
    backend: SqlBackend
    files: DataFiles
    commit_tag: str

    @property
    def name(self) -> str:
        """The table's name, quoted for a statement."""
        return relation_sql(self.relation)

    def snapshot(self) -> TableSnapshot:
        """Return a snapshot of the table's current version."""
        return self.backend.snapshot(self.relation)

    def run(self, statement: str) -> None:
        """Run a statement."""
        self.backend.execute(statement)

    def schema(self) -> tuple[StructType, tuple[TypeChange, ...]]:
        """Read the schema with Delta's own metadata, and the type changes recorded in it."""
        return read_log_schema(self.files.log_schema())

    def require_rewrite(
        self, stale: Sequence[StaleFile], updated: Sequence[StaleFile] | None = None
    ) -> None:
        """Refuse to write the rows of stale files again, before the first statement.

        Args:
            updated: the files whose rows an UPDATE writes, if not all. Delta can refuse it.
        """
        if stale:
            require_rows_kept(self.backend, self.relation)
        if (stale if updated is None else updated) and not self.files.rewrites_single_files:
            try:
                require_rows_that_change(self.snapshot())
            except NotCompared as error:
                raise DbtRuntimeError(f"Nothing was changed: {error}.") from error

    def require_moments_kept(self) -> None:
        """Check that rows which are written again stay in their partitions."""
        require_moments_kept(self.backend, self.relation)

    def rewrite_text(self, stale: Sequence[StaleFile]) -> str:
        """Render the rewrite of stale files: how many, their size, and how they are rewritten."""
        size = size_text(sum(stale_file.file.size for stale_file in stale))
        return f"rewrite {pluralize(len(stale), 'file')} ({size}) {self.files.rewrite_text}"

    def rewrite(self, stale: Sequence[StaleFile]) -> str:
        """Rewrite stale files, show the progress, and return the text about it."""
        text = self.rewrite_text(stale)
        log_progress(f"{self.name}: {text}")

        def show(rewritten: int) -> None:
            log_progress(f"{self.name}: {rewritten} of {pluralize(len(stale), 'file')} rewritten")

        self.files.rewrite(stale, show)
        return text

    def remove_recorded_changes(self, log_schema: str) -> bool:
        """Remove the recorded type changes. See ``SqlBackend.remove_recorded_changes``."""
        return self.backend.remove_recorded_changes(self.relation, log_schema)

    def count(self, version: int) -> int:
        """Count the table's rows at a version. Delta uses statistics if it has them."""
        query = f"select count(*) from {self.name} version as of {version}"
        return int(self.backend.fetch_rows(query)[0][0])

    def others_since(self, version: int) -> Sequence[str]:
        """Return the names of the operations that other writers committed after a version."""
        commits = self._commits_since(version)
        return [each.operation for each in commits if self.commit_tag not in each.user_metadata]

    def own_commits_since(self, version: int) -> Sequence[Commit]:
        """Return the commits that the operation made after a version, the newest first."""
        commits = self._commits_since(version)
        return [commit for commit in commits if self.commit_tag in commit.user_metadata]

    def _commits_since(self, version: int) -> Iterable[Commit]:
        newer = self.files.version() - version
        return read_history(self.name, self.backend.fetch_rows, newer) if newer else ()

    def history_expires_at(self, retention: str) -> str:
        """Return when the history, kept for an interval, no longer has the removed type changes.

        The time is in ISO 8601, in the connection's time zone.
        """
        location = self.snapshot().location
        return history_expiry(location, retention, self.backend.fetch_rows)


def read_log_schema(text: str) -> tuple[StructType, tuple[TypeChange, ...]]:
    """Read a schema from the log, with Delta's metadata, and the type changes in it."""
    return schema_from_json(text), read_metadata(text).changes


def run_on_each_table(
    backend: SqlBackend,
    operation: str,
    tables: Iterable[SparkRelation],
    work: Callable[[MaintainedTable], OperationResult],
    statement: str | None = None,
    writes_rows: bool = False,
) -> OperationResults:
    """Open one table after the other, and run an operation on it, also if some fail.

    Args:
        statement: the statement that the operation runs on any Delta table, for the error of a
            relation that is not one. None for an operation on type widening.
    """

    def work_on(table: SparkRelation) -> OperationResult:
        if statement is not None:
            require_table(table, statement)
        require_delta(table)
        with backend.tagged_commits(operation) as commit_tag:
            files = backend.data_files(table, writes_rows)
            return work(MaintainedTable(table, backend, files, commit_tag))

    return run_on_each(operation, tables, relation_sql, work_on)
