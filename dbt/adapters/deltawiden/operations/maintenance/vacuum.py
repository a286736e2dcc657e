"""``vacuum``: delete the files that tables no longer need, and say which time travel this ends."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from dbt_common.events.format import pluralize
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows, log_files
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from dbt.adapters.deltawiden.operations.result import OperationResult, log_progress, steps_text
from dbt.adapters.deltawiden.sql import statements

PROPERTY = "delta.deletedFileRetentionDuration"
"""How long VACUUM keeps files, https://docs.delta.io/latest/table-properties.html."""
CHECK_SETTING = "spark.databricks.delta.retentionDurationCheck.enabled"
"""Whether Delta refuses a VACUUM under the table's retention,
https://docs.delta.io/latest/delta-utility.html#remove-files-no-longer-referenced-by-a-delta-table."""
IGNORE_SETTING = "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled"
"""Whether VACUUM uses the table's retention instead of the statement's, unless that is 0 hours. It
is true by default since Delta 4.1: ``DeltaSQLConf``. Older versions ignore the setting."""

_DEFAULT = "interval 1 week"
_UNITS = ("microsecond", "millisecond", "second", "minute", "hour", "day", "week")
_PART = re.compile(rf"([+-]?\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)})s?")


def retention(properties: Mapping[str, str]) -> timedelta:
    """Return how long a table keeps the files that its newest version does not need.

    Raises:
        DbtRuntimeError: the property has a value that is not an interval of days or shorter units.
    """
    found = {key.lower(): value for key, value in properties.items()}.get(PROPERTY.lower())
    text = found or _DEFAULT
    parsed = parse_interval(text)
    if parsed is None:
        raise DbtRuntimeError(
            f"The table property {PROPERTY} is {text!r}, which is not an interval such as "
            "'interval 7 days'. Set it to one."
        )
    return parsed


def parse_interval(text: str) -> timedelta | None:
    """Parse an interval as Delta's table properties have it: ``interval 1 week 12 hours``.

    None if it is not one of weeks, days (of 24 hours) or shorter units.

    Source:
        Delta's ``DeltaConfigs.parseCalendarInterval``, which refuses months and years
    """
    rest = text.strip().lower().removeprefix("interval").strip()
    parts = _PART.findall(rest)
    if not parts or _PART.sub("", rest).strip():
        return None
    with suppress(OverflowError):  # It is more than 2.7 million years.
        return sum(
            (timedelta(**{f"{unit}s": float(number)}) for number, unit in parts), start=timedelta()
        )
    return None


def oldest_readable_version(location: str, kept: timedelta, fetch_rows: FetchRows) -> int | None:
    """Return the version from which on time travel still works after a VACUUM now. None for any.

    A version can be read as long as every file that it needs is there. VACUUM deletes the files
    that were removed from the table before the retention began. The newest commit that removed such
    a file made a version that does not need it. All older versions may need a deleted file.

    Source:
        Delta's protocol, "Add File and Remove File" (``deletionTimestamp``)
    """
    milliseconds = round(kept.total_seconds() * 1000)
    removed_at = "coalesce(cast(get_json_object(value, '$.remove.deletionTimestamp') as bigint), 0)"
    rows = fetch_rows(
        "select max(cast(substring(_metadata.file_name, 1, 20) as bigint)) "
        f"from {log_files(location)} where _metadata.file_name rlike '^[0-9]{{20}}[.]json$' "
        "and ltrim(value) like '{\"remove\"%' "
        f"and {removed_at} <= unix_millis(current_timestamp()) - {milliseconds}"
    )
    return None if rows[0][0] is None else int(rows[0][0])


@dataclass(frozen=True)
class Vacuum:
    """What a user asks of the operation.

    Attributes:
        retention_hours: how long files are kept after they were removed from the table. None for
            the table's own retention, which is also the maximum.
        force: whether it may be less than the table's own retention.
    """

    retention_hours: int | None
    force: bool
    dry_run: bool


def vacuum_table(table: MaintainedTable, request: Vacuum) -> OperationResult:
    """Delete the files that a table no longer needs, and say which versions stay readable.

    Raises:
        DbtRuntimeError: ``retention_hours`` is more than the table's retention, or less without
            ``force``.
        DbtDatabaseError: Delta refused the statement.

    Source:
        https://docs.delta.io/latest/delta-utility.html#remove-files-no-longer-referenced-by-a-delta-table
    """
    snapshot = table.snapshot()
    of_table = retention(snapshot.properties)
    hours = request.retention_hours
    kept = of_table if hours is None else timedelta(hours=hours)
    if kept > of_table:
        raise DbtRuntimeError(_too_long_text(table.name, kept, of_table))
    is_less = kept < of_table
    if is_less and not request.force:
        raise DbtRuntimeError(_too_short_text(kept, of_table))
    statement = statements.vacuum(table.name, hours, request.dry_run)
    oldest = oldest_readable_version(snapshot.location, kept, table.backend.fetch_rows)
    log_progress(f"{statement}: {_time_travel_text(oldest)}")
    with _accepting(table.backend, less_than_the_tables=is_less):
        files = _run(table, statement, request.dry_run)
    return _result(table, statement, request.dry_run, kept, files, oldest)


@contextmanager
def _accepting(backend: SqlBackend, less_than_the_tables: bool) -> Iterator[None]:
    """Let Delta accept a retention that is less than the table's, in the block.

    A retention that is the table's own needs no setting: Delta uses it in any case.
    """
    with ExitStack() as settings:
        if less_than_the_tables:
            for setting in (CHECK_SETTING, IGNORE_SETTING):
                settings.enter_context(backend.with_setting(setting, "false"))
        yield


def _run(table: MaintainedTable, statement: str, dry_run: bool) -> int | None:
    """Run VACUUM, and return the number of files. None if Delta did not record it."""
    if dry_run:
        return len(table.backend.fetch_rows(statement))
    before = table.files.version()
    table.run(statement)
    ended = [
        commit for commit in table.own_commits_since(before) if commit.operation == "VACUUM END"
    ]
    count = ended[0].metrics.get("numDeletedFiles") if ended else None
    return None if count is None else int(count)


def _too_short_text(kept: timedelta, of_table: timedelta) -> str:
    return (
        f"retention_hours: {_hours_text(kept)} is less than the table's retention of "
        f"{_hours_text(of_table)} ({PROPERTY}). Queries and writers that run now may still need "
        "the files, and older versions could no longer be read. Leave `retention_hours` out. If "
        "nothing else uses the table, give `force: true`."
    )


def _too_long_text(table: str, kept: timedelta, of_table: timedelta) -> str:
    hours = _hours_text(kept)
    return (
        f"retention_hours: {hours} is more than the table's retention of {_hours_text(of_table)} "
        f"({PROPERTY}). Delta does not keep files longer than the table's retention: it no longer "
        "knows when they were removed. To keep them longer from now on, run: alter table "
        f"{table} set tblproperties ('{PROPERTY}' = 'interval {hours}'). Then leave "
        "`retention_hours` out."
    )


def _hours_text(time: timedelta) -> str:
    return f"{time / timedelta(hours=1):g} hours"


def _time_travel_text(oldest: int | None) -> str:
    if oldest is None:
        return "every version that can be read now stays readable"
    # Delta does not record in a table which shallow clones read its files.
    return (
        f"version {oldest} and newer stay readable, time travel to older versions ends, and "
        "shallow clones of older versions lose files"
    )


def _result(
    table: MaintainedTable,
    statement: str,
    dry_run: bool,
    kept: timedelta,
    files: int | None,
    oldest: int | None,
) -> OperationResult:
    count = "files" if files is None else pluralize(files, "file")
    verb = "it would delete" if dry_run else "deleted"
    done = steps_text([f"{verb} {count}"], dry_run)
    readable = "as before" if oldest is None else f"version {oldest} and newer"
    return OperationResult(
        table.name,
        shown={"result": done, "kept": _hours_text(kept), "time travel": readable},
        values={
            "state": "dry_run" if dry_run else "vacuumed",
            "statements": [statement],
            "retention_hours": kept / timedelta(hours=1),
            "files": files,
            "oldest_readable_version": oldest,
        },
    )
