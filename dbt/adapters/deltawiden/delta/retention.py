"""How long a Delta table keeps the files that older versions need, and what VACUUM ends."""

import re
from collections.abc import Mapping
from datetime import timedelta

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.transaction_log import FetchRows, log_files

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
    return sum(
        (timedelta(**{f"{unit}s": float(number)}) for number, unit in parts), start=timedelta()
    )


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
