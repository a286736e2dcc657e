"""Read the history of a Delta table: what its commits did, and when its data last changed.

DESCRIBE HISTORY lists a commit for every change of a table. Many of them change no data: new
properties, wider types, compaction, VACUUM.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dbt_common.invocation import get_invocation_id

from dbt.adapters.deltawiden.delta.transaction_log import FetchRows, parsed

_WITHOUT_DATA = frozenset(
    {
        *("ADD COLUMNS", "ADD CONSTRAINT", "CHANGE COLUMN", "CHANGE COLUMNS", "CLUSTER BY"),
        *("COMPUTE STATS", "CREATE TABLE", "DOMAIN METADATA CLEANUP", "DROP COLUMNS"),
        *("DROP CONSTRAINT", "DROP FEATURE", "Deletion Vector Tombstones", "Empty Commit", "FSCK"),
        *("OPTIMIZE", "OPTIMIZE CHECKPOINT", "REMOVE COLUMN MAPPING", "RENAME COLUMN", "REORG"),
        *("REORG TABLE UPGRADE UNIFORM", "REPLACE COLUMNS", "ROW TRACKING BACKFILL"),
        *("ROW TRACKING UNBACKFILL", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES"),
        *("UPDATE COLUMN METADATA", "UPDATE SCHEMA", "UPGRADE PROTOCOL", "VACUUM END"),
        *("VACUUM START",),
    }
)
"""The operations that change no value of any row. An operation that is not listed counts as one
that does. The names are those of Delta's ``DeltaOperations``."""

_REWRITING = ("drop_type_widening", "repair_statistics", "rewrite_widened_files", "widen_columns")
"""The operations of this adapter that rewrite rows."""

_COUNTS: Mapping[str, tuple[str, ...]] = {
    "DELETE": ("numDeletedRows", "numRemovedFiles", "numAddedFiles", "numDeletionVectorsAdded"),
    "MERGE": ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"),
    "STREAMING UPDATE": ("numOutputRows", "numRemovedFiles"),
    "UPDATE": ("numUpdatedRows",),
    "WRITE": ("numOutputRows", "numRemovedFiles", "numDeletedRows"),
}
"""For an operation, the metrics that say whether it changed anything. A metric that is missing
counts as zero if another one of them is there."""

_SETS_PROPERTIES = re.compile("TBLPROPERTIES|REPLACE|RESTORE|CLONE")
"""The operations that can change the properties of a table."""


@dataclass(frozen=True)
class Commit:
    """A commit in a table's history.

    Attributes:
        timestamp: when it was made, as the connection returns it.
        metrics: the operation's metrics; empty if Delta did not record them.
        parameters: the operation's parameters as one text, with their values in JSON.
    """

    version: int
    timestamp: datetime | str
    operation: str
    metrics: Mapping[str, str]
    user_metadata: str
    parameters: str = ""

    @property
    def tag(self) -> Mapping[str, Any]:
        """What this adapter recorded with the commit; empty if another program made it."""
        try:
            values = json.loads(self.user_metadata)
        except ValueError:
            return {}
        return values if isinstance(values, dict) and "dbt_deltawiden" in values else {}

    @property
    def changes_data(self) -> bool:
        """Whether it added, removed or changed a row.

        Source:
            https://docs.delta.io/latest/delta-utility.html#operation-metrics-keys
        """
        if self.operation in _WITHOUT_DATA or self._is_rewrite:
            return False
        counts = [
            self.metrics[name] for name in _COUNTS.get(self.operation, ()) if name in self.metrics
        ]
        return not counts or any(count != "0" for count in counts)

    @property
    def _is_rewrite(self) -> bool:
        """Whether this adapter made it to rewrite rows, without a change of a value."""
        # In a session, runs and operations rewrite files in a transaction with this name.
        is_rewrite = self.operation == "Manual Update"
        return bool(self.tag) and (is_rewrite or self.tag.get("changed_by") in _REWRITING)


def read_history(
    table_name: str, fetch_rows: FetchRows, limit: int | None = None
) -> Iterator[Commit]:
    """Read the commits of a table, the newest first.

    Raises:
        DbtDatabaseError: the table does not exist, or it is not a Delta table.

    Source:
        https://docs.delta.io/latest/delta-utility.html#retrieve-delta-table-history
    """
    suffix = f" limit {limit}" if limit is not None else ""
    for row in fetch_rows(f"describe history {table_name}{suffix}"):
        yield Commit(
            int(row["version"]),
            row["timestamp"],
            str(row["operation"]),
            _metrics(row["operationMetrics"]),
            str(row["userMetadata"] or ""),
            _parameters(row["operationParameters"]),
        )


def _parameters(value: Any) -> str:
    try:
        found = parsed(value)
    except ValueError:
        # A Thrift server shows a map without escaping the quotes in its values.
        return str(value)
    return " ".join(map(str, (found or {}).values()))


def _metrics(value: Any) -> Mapping[str, str]:
    return {str(name): str(count) for name, count in (parsed(value) or {}).items()}


def others_set_properties(table_name: str, fetch_rows: FetchRows) -> bool:
    """Return whether another program may have set properties since this one last set some."""
    for commit in read_history(table_name, fetch_rows):
        if not _SETS_PROPERTIES.search(commit.operation):
            continue
        if commit.tag.get("invocation_id") != get_invocation_id():
            return True
        if commit.operation == "SET TBLPROPERTIES":
            return False
    return True


_FIRST_COMMITS = 50


def last_data_change(table_name: str, fetch_rows: FetchRows) -> Commit:
    """Return the last commit of a table that changed its data; if none did, the oldest one."""
    commits = list(read_history(table_name, fetch_rows, _FIRST_COMMITS))
    found = _newest_change(commits)
    if found is None and len(commits) == _FIRST_COMMITS:
        commits = list(read_history(table_name, fetch_rows))
        found = _newest_change(commits)
    return found or commits[-1]


def _newest_change(commits: list[Commit]) -> Commit | None:
    return next((commit for commit in commits if commit.changes_data), None)
