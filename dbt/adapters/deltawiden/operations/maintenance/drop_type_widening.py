"""``drop_type_widening``: rewrite stale files, remove the table feature, and check the result.

Delta's own ``DROP FEATURE`` only looks at columns and struct fields. If only array elements, map
keys or map values were widened, it rewrites nothing: files with the old type stay in a table that
no longer records the change. So these files are rewritten first.
"""

import time
from collections.abc import Sequence

from dbt_common.events.format import pluralize
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.data_files import StaleFile
from dbt.adapters.deltawiden.delta.engine import Capability
from dbt.adapters.deltawiden.delta.protocol import (
    CHECKPOINT_PROTECTION_FEATURE,
    TYPE_WIDENING_PROPERTY,
)
from dbt.adapters.deltawiden.operations.maintenance.feature_state import FeatureReader, FeatureState
from dbt.adapters.deltawiden.operations.maintenance.history_of_drop import (
    EXPIRING,
    TRUNCATING,
    History,
    history_of_drop,
)
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    log_progress,
    steps_text,
    unexpected_state,
)
from dbt.adapters.deltawiden.spark.errors import condition_of
from dbt.adapters.deltawiden.sql.statements import drop_feature, unset_properties

# Delta's error conditions if the feature can only be removed when history is old enough.
# Before the second one, it has truncated the history.
_HISTORY_HAS_CHANGES = "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST"
_WAITING = frozenset({"DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD", _HISTORY_HAS_CHANGES})
_REMOVE_CHANGES = "remove the recorded type changes from the schema"

# Delta 4.4 looks for a session on the executors, which only have one if they are the driver:
# https://github.com/delta-io/delta/pull/5697.
_FAILS_ON_CLUSTERS = "No active or default Spark session found"


def drop_from_table(
    table: MaintainedTable, truncate_history: bool, dry_run: bool
) -> OperationResult:
    """Remove the table feature of type widening from a table. Calling it again is always safe.

    Args:
        truncate_history: whether to truncate the table's history to remove the feature. Then no
            other feature is left behind; but if the history has a type change, the removal waits
            for its retention period. If false, no version is lost.

    Raises:
        DbtRuntimeError: the table is not in the expected state afterwards; or, before the first
            statement, the connection can't remove type changes that another table has recorded, or
            rewrite files of a table that only takes new rows.
        DbtDatabaseError: Delta refused a statement.

    Source:
        https://docs.delta.io/latest/delta-drop-feature.html and
        https://docs.delta.io/latest/delta-type-widening.html#remove-type-widening
    """
    started = time.monotonic()
    reader = FeatureReader(table)
    before = reader.read()
    if before.has_copied_changes:
        table.backend.require_removal_of_changes()
    table.require_rewrite(before.stale, _rewritten_before(table, before))
    history = history_of_drop(table, before, truncate_history)
    work = _Drop(table, reader, before, history, dry_run)
    work.run_all()
    if dry_run:
        return _planned(before, history, work.statements)
    after = reader.read()
    if after.stale:
        # Delta did not rewrite them, or could not detect them.
        work.rewrite(after.stale)
        after = reader.read()
    _check(table, before, after, work)
    return _done(table, before, after, work, time.monotonic() - started)


class _Drop:
    """The steps of a drop. A dry run only collects the ``statements``.

    Attributes:
        waits_for: the property with the retention period that the feature waits for, and its
            default value.
    """

    def __init__(
        self,
        table: MaintainedTable,
        reader: FeatureReader,
        before: FeatureState,
        history: History,
        dry_run: bool,
    ) -> None:
        self._table = table
        self._reader = reader
        self._before = before
        self._history = history
        self._dry_run = dry_run
        self.statements: list[str] = []
        self.waits_for: tuple[str, str] | None = None
        self.truncated = False

    def run_all(self) -> None:
        snapshot = self._before.snapshot
        if TYPE_WIDENING_PROPERTY in snapshot.properties:
            # Delta's protocol, "Type Widening": it must not be set, so not to false either. It is
            # unset first, so that no other writer widens a type after the rewrite.
            self._run(unset_properties(snapshot.name, [TYPE_WIDENING_PROPERTY]))
        rewritten = _rewritten_before(self._table, self._before)
        if rewritten:
            self.rewrite(rewritten)
        rewritten_by_delta = len(self._before.stale) - len(rewritten)
        if rewritten_by_delta and not self._dry_run:
            files = pluralize(rewritten_by_delta, "file")
            log_progress(f"{snapshot.name}: Delta rewrites {files}")
        if _removes_changes_before(self._table, self._before, self._history):
            self._remove_recorded_changes(self._before)
        for feature in self._before.features:
            self._drop(feature)

    def rewrite(self, stale: Sequence[StaleFile]) -> None:
        table = self._table
        self.statements.append(table.rewrite_text(stale) if self._dry_run else table.rewrite(stale))

    def _drop(self, feature: str) -> None:
        truncates = self._history is History.TRUNCATED
        statement = drop_feature(self._before.snapshot.name, feature, truncates)
        if self._dry_run:
            self.statements.append(statement)
            return
        try:
            with self._history.setting(self._table):
                self._run_drop(statement)
            self.truncated |= truncates
        except DbtRuntimeError as error:
            found = condition_of(error)
            if found not in _WAITING:
                raise
            # Delta has rewritten the files all the same.
            self.statements.append(statement)
            self.truncated |= truncates and found == _HISTORY_HAS_CHANGES
            if self._history is History.CLEAN:
                # Another writer has changed a type since the history was read.
                self._history = History.PROTECTED
                self._drop(feature)
            else:
                self.waits_for = TRUNCATING if truncates else EXPIRING

    def _run_drop(self, statement: str) -> None:
        """Run DROP FEATURE. If it can't rewrite files on a cluster, rewrite them and rerun it."""
        try:
            self._run(statement)
        except DbtRuntimeError as error:
            if _FAILS_ON_CLUSTERS not in str(error.msg):
                raise
            self._do_what_delta_does()
            self._run(statement)

    def _do_what_delta_does(self) -> None:
        """Rewrite files and clean up metadata as DROP FEATURE does, which then has no work left."""
        state = self._rewritten()
        if state.changes:
            self._remove_recorded_changes(state)

    def _remove_recorded_changes(self, state: FeatureState) -> None:
        """Remove the recorded type changes, after a rewrite of the files that a state has."""
        if not self._dry_run:
            log_progress(f"{self._table.name}: {_REMOVE_CHANGES}")
            while not self._table.remove_recorded_changes(state.log_schema):
                # Another writer has changed the schema, perhaps a type in it.
                state = self._rewritten()
        self.statements.append(_REMOVE_CHANGES)

    def _rewritten(self) -> FeatureState:
        """Read the newest version, rewrite its stale files, and return what was read."""
        state = self._reader.read()
        if state.stale:
            self.rewrite(state.stale)
        return state

    def _run(self, statement: str) -> None:
        if not self._dry_run:
            log_progress(statement)
            self._table.run(statement)
        self.statements.append(statement)


def _rewritten_before(table: MaintainedTable, before: FeatureState) -> Sequence[StaleFile]:
    """Return the stale files to rewrite before DROP FEATURE.

    Delta's command rewrites up to 1 GiB of files in one task, so the others are rewritten too, if
    this needs no UPDATE.
    """
    return before.stale if table.files.rewrites_single_files else before.left_by_delta


def _removes_changes_before(table: MaintainedTable, before: FeatureState, history: History) -> bool:
    """Return whether to remove the recorded type changes before DROP FEATURE.

    Delta's command then does not read the types in all files again. Where it has to wait for
    history, it has to remove them itself: only then does it create a checkpoint, without which
    history can't be truncated later.
    """
    if before.has_copied_changes:
        return True
    if not before.changes or not table.files.rewrites_single_files:
        return False
    protects = before.snapshot.engine.can(Capability.PROTECT_HISTORY)
    return protects and history is not History.TRUNCATED


def _check(table: MaintainedTable, before: FeatureState, after: FeatureState, work: _Drop) -> None:
    """Check that the table is in the state that a drop promises."""
    found = []
    if after.features and not work.waits_for:
        found.append(f"it still has the table feature {', '.join(after.features)}")
    if TYPE_WIDENING_PROPERTY in after.snapshot.properties:
        found.append(f"it still has the table property {TYPE_WIDENING_PROPERTY}")
    if after.changes:
        found.append(f"type changes are still recorded: {after.changes[0].text}")
    if after.stale:
        found.append(f"{after.stale_text} still hold older types, such as {_example(after)}")
    if after.rows != before.rows and not table.others_since(before.version):
        found.append(f"it had {before.rows} rows and has {after.rows}")
    if found:
        raise unexpected_state("drop", found, before.version)


def _example(state: FeatureState) -> str:
    first = state.stale[0]
    return f"{'.'.join(first.leaves[0].path)} in {first.file.path}"


def _planned(before: FeatureState, history: History, statements: Sequence[str]) -> OperationResult:
    left = []
    if history is History.PROTECTED:
        left.append(
            f"the writer feature {CHECKPOINT_PROTECTION_FEATURE}; with Delta 3, the "
            "table feature, until its history has expired"
        )
    return OperationResult(
        before.snapshot.name,
        shown={
            "result": steps_text(statements, dry_run=True),
            "stale": before.stale_text,
            "history": history.text(before),
            "left": "; ".join(left) or "-",
        },
        values={
            "state": "dry_run",
            "statements": statements,
            **before.counts,
            "history_truncated": history is History.TRUNCATED,
            "left": left,
        },
    )


def _done(
    table: MaintainedTable, before: FeatureState, after: FeatureState, work: _Drop, seconds: float
) -> OperationResult:
    left, again = [], None
    if work.waits_for:
        again = _again(table, before, work.waits_for)
        left.append(f"the table feature, which history still has: call this again after {again}")
    if CHECKPOINT_PROTECTION_FEATURE in after.snapshot.features:
        left.append(
            f"the writer feature {CHECKPOINT_PROTECTION_FEATURE}: old readers can read the table, "
            "writers must know the feature. To remove it, when the drop is 24 hours old: "
            + drop_feature(
                after.snapshot.name, CHECKPOINT_PROTECTION_FEATURE, truncate_history=True
            )
        )
    result = _result(before, work)
    return OperationResult(
        before.snapshot.name,
        shown={
            "result": f"{result}, {seconds:.1f} s",
            "stale": before.stale_text,
            "history": (History.TRUNCATED if work.truncated else History.CLEAN).text(before),
            "left": "; ".join(left) or "-",
        },
        values={
            "state": "waiting" if work.waits_for else "dropped" if work.statements else "absent",
            "statements": work.statements,
            **before.counts,
            "seconds": round(seconds, 1),
            "history_truncated": work.truncated,
            "call_again_after": again,
            "left": left,
            "written_by_others": list(table.others_since(before.version)),
        },
    )


def _result(before: FeatureState, work: _Drop) -> str:
    if work.waits_for:
        return "rewritten, waiting"
    if before.features:
        return "dropped" + (", history truncated" if work.truncated else "")
    return "repaired" if work.statements else "does not have the feature"


def _again(table: MaintainedTable, before: FeatureState, waits_for: tuple[str, str]) -> str:
    table_property, default = waits_for
    retention = before.snapshot.properties.get(table_property, default)
    # Delta compares times rounded to a whole minute or day.
    more = "2 minutes" if waits_for == TRUNCATING else "1 day"
    return table.history_expires_at(f"{retention} {more}")
