"""What dropping the table feature of type widening does to the history of a table."""

from contextlib import AbstractContextManager, nullcontext
from enum import Enum

from dbt.adapters.deltawiden.delta.engine import Capability
from dbt.adapters.deltawiden.delta.transaction_log import history_has_type_changes
from dbt.adapters.deltawiden.operations.maintenance.feature_state import FeatureState
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable

TRUNCATING = ("delta.dropFeatureTruncateHistory.retentionDuration", "interval 24 hours")
"""The property that says how much history is left when it is truncated, and its default value."""
EXPIRING = ("delta.logRetentionDuration", "interval 30 days")
"""The property that says how long Delta keeps history, and its default value."""

_CLEANUP = "delta.enableExpiredLogCleanup"

_LOSSY_WRITES = (
    "; audit_lossy_writes and restore_values find values that a cast changed before a widening "
    "only as long as a version with the type changes is left"
)

# Whether DROP FEATURE protects the history, which leaves the feature checkpointProtection.
_PROTECT_SETTING = "spark.databricks.delta.tableFeatures.fastDropFeature.enabled"


class History(Enum):
    """What a drop does to the history of the table.

    Delta 3.3 can't protect the history. It waits until a version with a type change has expired.

    Source:
        Delta's ``AlterTableDropFeatureDeltaCommand``
    """

    CLEAN = "Every version stays. None has a type change, so there is nothing to protect."
    PROTECTED = "Every version stays, and checkpointProtection protects those with a type change."
    TRUNCATED = "The versions before the retention period are deleted."

    def setting(self, table: MaintainedTable) -> AbstractContextManager[None]:
        """Return a context in which DROP FEATURE does this to the history."""
        if self is History.CLEAN:
            return table.backend.with_setting(_PROTECT_SETTING, "false")
        return nullcontext()

    def text(self, state: FeatureState) -> str:
        """Return what happens to the history of a table, as text for people."""
        text = "every version stays"
        if self is History.TRUNCATED:
            setting, default = TRUNCATING
            kept = state.snapshot.properties.get(setting, default).lower().removeprefix("interval ")
            text = f"versions older than {kept} are deleted"
        return text + (_LOSSY_WRITES if state.changes else "")


def history_of_drop(table: MaintainedTable, state: FeatureState, truncate_history: bool) -> History:
    """Decide what a drop does to the history of a table. Only a request truncates it."""
    if not state.features:
        # Nothing is dropped.
        return History.CLEAN
    if truncate_history:
        return History.TRUNCATED
    if state.changes or state.stale or _keeps_expired(state):
        return History.PROTECTED
    location = state.snapshot.location
    if history_has_type_changes(location, table.backend.fetch_rows):
        return History.PROTECTED
    return History.CLEAN


def _keeps_expired(state: FeatureState) -> bool:
    """Return whether the user wants to keep history that Delta would delete in a clean drop."""
    # Delta 3.3 can't protect history, and a drop there deletes the expired part in any case.
    kept = state.snapshot.properties.get(_CLEANUP, "true").lower() == "false"
    return kept and state.snapshot.engine.can(Capability.PROTECT_HISTORY)
