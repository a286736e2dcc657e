"""``drop_type_widening``: rewrite what is stale, remove the table feature, and check both.

Delta's own ``DROP FEATURE`` looks at columns and struct fields only. Where no more than an array
element, a map key or a map value was widened it rewrites nothing, and leaves files with the old
type in a table that no longer says so. So those files are rewritten first.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.events.format import pluralize
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.data_files import StaleFile
from dbt.adapters.deltawiden.delta.protocol import CHECKPOINT_PROTECTION_FEATURE, ENABLED
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.delta.stale_types import stale_leaves
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.maintained_table import MaintainedTable, opened
from dbt.adapters.deltawiden.operations.progress import size_text, tell
from dbt.adapters.deltawiden.operations.result import OperationResult, OperationResults, run_on_each
from dbt.adapters.deltawiden.spark.errors import condition
from dbt.adapters.deltawiden.sql.statements import drop_feature, unset_properties

_NAME = "drop_type_widening"

# Delta's conditions for "done as far as it can be; the rest when history is old enough".
_WAITING = frozenset(
    {
        "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD",
        "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST",
    }
)
_TRUNCATING = ("delta.dropFeatureTruncateHistory.retentionDuration", "interval 24 hours")
_EXPIRING = ("delta.logRetentionDuration", "interval 30 days")
_TELL_EVERY = 1_000

# Delta 4.4 looks for a session on the executors, which have one only where they are the driver:
# https://github.com/delta-io/delta/pull/5697.
_FAILS_ON_CLUSTERS = "No active or default Spark session found"


@dataclass(frozen=True)
class _State:
    """What a table is like, before or after."""

    facts: TableSnapshot
    version: int
    rows: int
    changes: tuple[TypeChange, ...]
    files: int
    size: int
    stale: Sequence[StaleFile]

    @property
    def features(self) -> list[str]:
        return self.facts.widening_features

    def truncates(self, wanted: bool | None) -> bool:
        """Whether to truncate history: where nobody says it, only a table never widened."""
        never_widened = not self.changes and not self.stale
        return never_widened if wanted is None else wanted

    @property
    def stale_size(self) -> int:
        return sum(each.file.size for each in self.stale)

    @property
    def ours(self) -> list[StaleFile]:
        """The stale files that Delta's own command leaves as they are."""
        if self.features and self.changes:
            return [f for f in self.stale if all(leaf.in_collection for leaf in f.leaves)]
        return list(self.stale)

    @property
    def stale_text(self) -> str:
        return (
            f"{len(self.stale)} of {pluralize(self.files, 'file')} "
            f"({size_text(self.stale_size)} of {size_text(self.size)})"
        )


@dataclass
class _Work:
    """What was done, as it is being done."""

    statements: list[str] = field(default_factory=list)
    waits_for: tuple[str, str] | None = None
    truncated: bool = False


def drop_type_widening(
    backend: SqlBackend,
    tables: Iterable[SparkRelation],
    truncate_history: bool | None,
    dry_run: bool,
) -> OperationResults:
    """Remove the table feature of type widening from tables.

    Args:
        backend: reads and changes the tables.
        tables: the tables.
        truncate_history: as for ``drop_from_table``.
        dry_run: as for ``drop_from_table``.

    Returns:
        What became of each table.
    """

    def drop(table: SparkRelation) -> OperationResult:
        with opened(backend, table, _NAME, writes_rows=True) as maintained:
            return drop_from_table(maintained, truncate_history, dry_run)

    return run_on_each(_NAME, tables, relation_sql, drop)


def drop_from_table(
    table: MaintainedTable, truncate_history: bool | None, dry_run: bool
) -> OperationResult:
    """Remove the table feature of type widening from a table. Calling it again is always safe.

    Args:
        table: the table.
        truncate_history: whether to remove the feature by truncating the table's history, which
            leaves nothing behind but has to wait for the retention of history. None: only where no
            type was ever changed, as there is nothing to wait for.
        dry_run: whether to change nothing, and tell what would be done.

    Returns:
        What was done, and what is left.

    Raises:
        DbtRuntimeError: the table is not as it should be afterwards.
        DbtDatabaseError: Delta refused a statement.

    Source:
        https://docs.delta.io/latest/delta-drop-feature.html and
        https://docs.delta.io/latest/delta-type-widening.html#remove-type-widening
    """
    started = time.monotonic()
    before = _look(table)
    if dry_run:
        return _planned(table, before, truncate_history)
    work = _Work()
    _run_all(table, before, truncate_history, work)
    after = _look(table)
    if after.stale:
        # Delta left them, or could not tell them.
        _rewrite(table, after.stale, work)
        after = _look(table)
    _check(table, before, after, work)
    return _done(table, before, after, work, time.monotonic() - started)


def _look(table: MaintainedTable) -> _State:
    facts = table.snapshot().read_now()
    version = table.files.version()
    schema, changes = table.schema()
    files = table.files.list()
    tell(f"{facts.name}: reading the types in {pluralize(len(files), 'file')}")
    stale: list[StaleFile] = []
    for number, (each, stored) in enumerate(table.files.schemas(files), start=1):
        leaves = stale_leaves(stored, schema)
        if leaves:
            stale.append(StaleFile(each, leaves))
        if number % _TELL_EVERY == 0:
            tell(f"{facts.name}: {number} of {len(files)} files read, {len(stale)} stale")
    size = sum(each.size for each in files)
    return _State(facts, version, table.count(version), changes, len(files), size, stale)


def _run_all(
    table: MaintainedTable, before: _State, truncate_history: bool | None, work: _Work
) -> None:
    if before.facts.has(ENABLED):
        # First, so that nobody widens a type behind the rewrite.
        _run(table, unset_properties(before.facts.name, [ENABLED]), work)
    if before.ours:
        _rewrite(table, before.ours, work)
    left_to_delta = len(before.stale) - len(before.ours)
    if left_to_delta:
        tell(f"{before.facts.name}: Delta rewrites {pluralize(left_to_delta, 'file')}")
    for feature in before.features:
        _drop(table, before, feature, truncate_history, work)


def _rewrite(table: MaintainedTable, stale: Sequence[StaleFile], work: _Work) -> None:
    text = _rewrite_text(table, stale)
    tell(f"{table.name}: {text}")
    table.files.rewrite(stale)
    work.statements.append(text)


def _rewrite_text(table: MaintainedTable, stale: Sequence[StaleFile]) -> str:
    size = size_text(sum(each.file.size for each in stale))
    return f"rewrite {pluralize(len(stale), 'file')} ({size}) {table.files.how}"


def _drop(
    table: MaintainedTable, before: _State, feature: str, truncate_history: bool | None, work: _Work
) -> None:
    truncate = before.truncates(truncate_history)
    try:
        _run(table, drop_feature(before.facts.name, feature, truncate), work)
        work.truncated |= truncate
    except DbtRuntimeError as error:
        if _FAILS_ON_CLUSTERS in str(error.msg):
            _do_what_delta_does(table, work)
            _drop(table, before, feature, truncate_history, work)
            return
        if condition(str(error.msg)) not in _WAITING:
            raise
        if truncate and truncate_history is None:
            # It was widened once, before its metadata was removed: history still has it.
            _drop(table, before, feature, False, work)
        else:
            work.waits_for = _TRUNCATING if truncate else _EXPIRING


def _do_what_delta_does(table: MaintainedTable, work: _Work) -> None:
    """Rewrite and clean up as DROP FEATURE does; it then finds nothing left to rewrite."""
    stale = _look(table).stale
    if stale:
        _rewrite(table, stale, work)
    table.remove_recorded_changes()
    work.statements.append("remove the recorded type changes from the schema")


def _run(table: MaintainedTable, statement: str, work: _Work) -> None:
    tell(statement)
    work.statements.append(statement)
    table.run(statement)


def _check(table: MaintainedTable, before: _State, after: _State, work: _Work) -> None:
    """Hold the table against what a drop promises.

    Raises:
        DbtRuntimeError: it is not so.
    """
    found = []
    if after.features and not work.waits_for:
        found.append(f"it still has the table feature {', '.join(after.features)}")
    if after.changes:
        found.append(f"type changes are still recorded: {after.changes[0].text}")
    if after.stale:
        found.append(f"{after.stale_text} still hold older types, such as {_example(after)}")
    if after.rows != before.rows and not table.others_since(before.version):
        found.append(f"it had {before.rows} rows and has {after.rows}")
    if found:
        raise DbtRuntimeError(
            f"After the drop, {'; '.join(found)}. Run the operation again; if nothing changes, "
            f"the table as it was can be read as version {before.version}."
        )


def _example(state: _State) -> str:
    first = state.stale[0]
    return f"{'.'.join(first.leaves[0].path)} in {first.file.path}"


def _planned(
    table: MaintainedTable, before: _State, truncate_history: bool | None
) -> OperationResult:
    statements = []
    if before.facts.has(ENABLED):
        statements.append(unset_properties(before.facts.name, [ENABLED]))
    if before.ours:
        statements.append(_rewrite_text(table, before.ours))
    truncate = before.truncates(truncate_history)
    statements += [drop_feature(before.facts.name, each, truncate) for each in before.features]
    return OperationResult(
        before.facts.name,
        shown={
            "result": "dry run: " + ("; ".join(statements) or "nothing to do"),
            "stale": before.stale_text,
            "left": "",
        },
        values={"state": "dry_run", "statements": statements, **_counts(before)},
    )


def _counts(before: _State) -> dict[str, Any]:
    return {
        "files": before.files,
        "bytes": before.size,
        "stale_files": len(before.stale),
        "stale_bytes": before.stale_size,
        "rows": before.rows,
    }


def _done(
    table: MaintainedTable, before: _State, after: _State, work: _Work, seconds: float
) -> OperationResult:
    left, again = [], None
    if work.waits_for:
        again = _again(table, before, work.waits_for)
        left.append(f"the table feature, which history still has: call this again after {again}")
    if CHECKPOINT_PROTECTION_FEATURE in after.facts.features:
        left.append(
            f"the writer feature {CHECKPOINT_PROTECTION_FEATURE}: old readers can read the table, "
            "writers must know the feature. To remove it, when the drop is 24 hours old: "
            + drop_feature(after.facts.name, CHECKPOINT_PROTECTION_FEATURE, truncate_history=True)
        )
    result = _result(before, work)
    return OperationResult(
        before.facts.name,
        shown={
            "result": f"{result}, {seconds:.1f} s",
            "stale": before.stale_text,
            "left": "; ".join(left) or "-",
        },
        values={
            "state": "waiting" if work.waits_for else "dropped" if work.statements else "absent",
            "statements": work.statements,
            **_counts(before),
            "seconds": round(seconds, 1),
            "history_truncated": work.truncated,
            "call_again_after": again,
            "left": left,
            "written_by_others": list(table.others_since(before.version)),
        },
    )


def _result(before: _State, work: _Work) -> str:
    if work.waits_for:
        return "rewritten, waiting"
    if before.features:
        return "dropped" + (", history truncated" if work.truncated else "")
    return "repaired" if before.stale else "does not have the feature"


def _again(table: MaintainedTable, before: _State, waits_for: tuple[str, str]) -> str:
    table_property, default = waits_for
    retention = before.facts.properties.get(table_property, default)
    # Delta compares with the whole minute or day.
    more = "2 minutes" if waits_for == _TRUNCATING else "1 day"
    return table.history_expires_at(f"{retention} {more}")
