"""The settings of Spark and Delta that are refused or warned of.

With a refused one, another value would be stored than a model produced.
``tests/functional/test_every_setting.py`` tries all settings. With one that is warned of, a filter
can miss rows.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.spark.settings import ORC_FILTERS, SAFE_READS, SAFE_SETTINGS
from dbt.adapters.deltawiden.sql.queries import GAP
from dbt.adapters.deltawiden.warnings import warn_once

Read = Callable[[str], str | None]
"""Returns the value of a setting, or None if it is not set."""


@dataclass(frozen=True)
class RefusedSetting:
    """A setting and what is wrong with it.

    Attributes:
        values: the values that are refused. Empty if every value but ``use`` is.
        use: the value to use. Empty if the setting must not be set.
        other_names: the names under which Spark reads it, if the first one is not set.
    """

    name: str
    values: tuple[str, ...]
    use: str
    why: str
    other_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which Spark reads it. The first one that is set counts."""
        return (self.name, *self.other_names)

    def is_refused(self, value: str | None) -> bool:
        """Return whether a value is refused. Spark ignores the blanks around it."""
        given = str(value or "").strip().upper()
        if not self.values:
            return bool(given) and given != self.use
        return given in map(str.upper, self.values)

    @property
    def remedy(self) -> str:
        """What to do in the profile."""
        # On a server, the session's own value of Hadoop's setting counts, under Hadoop's name.
        name = self.name.removeprefix(_HADOOP) if self.use else self.name
        return f'{name}: "{self.use}"' if self.use else f"no {name}"


def _rebase(name: str, why: str, file_format: str = "parquet") -> RefusedSetting:
    names = f"spark.sql.{file_format}.{name}", f"spark.sql.legacy.{file_format}.{name}"
    return RefusedSetting(names[0], ("LEGACY",), "CORRECTED", why, names[1:])


_DELTA = "spark.databricks.delta"
# Hadoop's settings are those of the session, or else those of Spark whose names begin with this.
_HADOOP = "spark.hadoop."
_UTC_PARTITIONS = f"{_DELTA}.write.utcTimestampPartitionValues"
_LINE_LENGTH = "mapreduce.input.linerecordreader.line.maxlength"
_OLD_LINE_LENGTH = "mapred.linerecordreader.maxlength"
_COMMITTER = "mapreduce.fileoutputcommitter.algorithm.version"
_OTHER_CALENDAR = "other programs read dates and timestamps before 1900 as other values"
_SHIFTED = (
    "dates and timestamps before 1900 in files of other programs are read as other values, which a "
    "MERGE writes back to the table"
)
_MISSING_ROWS = "a run goes on without the rows of a file that can't be read"

REFUSED_SETTINGS = (
    RefusedSetting(
        "spark.sql.parquet.outputTimestampType",
        ("TIMESTAMP_MILLIS",),
        "TIMESTAMP_MICROS",
        "timestamps are stored without their microseconds",
    ),
    RefusedSetting(
        "spark.sql.parser.escapedStringLiterals",
        ("true",),
        "false",
        "texts of seeds, descriptions and properties get backslashes that they do not have",
    ),
    RefusedSetting(
        "spark.sql.caseSensitive",
        ("true",),
        "false",
        "Delta ignores case in the names of columns, and Spark would not find a column that the "
        "model spells in another way than the table",
    ),
    _rebase("datetimeRebaseModeInWrite", _OTHER_CALENDAR),
    _rebase("int96RebaseModeInWrite", _OTHER_CALENDAR),
    # The older calendar has no 1582-10-10: a file of Avro gets 1582-10-15.
    _rebase("datetimeRebaseModeInWrite", _OTHER_CALENDAR, file_format="avro"),
    _rebase("datetimeRebaseModeInRead", _SHIFTED),
    _rebase("int96RebaseModeInRead", _SHIFTED),
    RefusedSetting("spark.sql.files.ignoreCorruptFiles", ("true",), "false", _MISSING_ROWS),
    RefusedSetting("spark.sql.files.ignoreMissingFiles", ("true",), "false", _MISSING_ROWS),
    RefusedSetting(
        f"{_DELTA}.write.txnAppId",
        (),
        "",
        "Delta leaves out each write with a version that it has seen before, without an error",
    ),
    RefusedSetting(
        f"{_DELTA}.merge.materializeSource",
        ("none",),
        "auto",
        "a MERGE reads its model twice, and a model that is not deterministic differs",
    ),
    RefusedSetting(
        f"{_DELTA}.typeWidening.removeSchemaMetadata",
        ("false",),
        "true",
        "a new table records the type changes of the tables that its model reads as its own",
    ),
    RefusedSetting(
        _UTC_PARTITIONS,
        ("false",),
        "true",
        "a session in another time zone reads another timestamp from a column that partitions a "
        "table",
        (f"{_HADOOP}{_UTC_PARTITIONS}",),
    ),
    RefusedSetting(
        "spark.sql.jsonGenerator.writeNullIfWithDefaultValue",
        ("false",),
        "true",
        "a null in a column of a JSON table with a default value is read as the default value",
    ),
    RefusedSetting(
        _LINE_LENGTH,
        (),
        "2147483647",
        "a run goes on without the longer lines of CSV, JSON and text files",
        (_OLD_LINE_LENGTH, f"{_HADOOP}{_LINE_LENGTH}", f"{_HADOOP}{_OLD_LINE_LENGTH}"),
    ),
)

REFUSED_FOR_FILES = (
    RefusedSetting(
        _COMMITTER,
        ("2",),
        "1",
        "a write that stops leaves the rows of the tasks that have ended, and the next run stores "
        "them a second time",
        (f"{_HADOOP}{_COMMITTER}",),
    ),
)
"""Settings that are refused for a table of files alone: not of Delta, Iceberg or Hudi."""


def refuse_settings(read: Read, refused: Iterable[RefusedSetting] = REFUSED_SETTINGS) -> None:
    """Stop before anything is written if a session has settings with which values are lost."""
    found = list(refused_settings(read, refused))
    if not found:
        return
    lines = (
        f"  {setting.name} is {value}: {setting.why}.\n    Use {setting.remedy}"
        for setting, value in found
    )
    raise DbtConfigError(
        "With these settings of Spark, tables would not have the values that models produce. "
        "Nothing was written. Change them in server_side_parameters of the profile, or where "
        "they are set for Spark (spark-defaults.conf, PYSPARK_SUBMIT_ARGS, or the server's "
        "configuration).\n" + "\n".join(lines)
    )


def refused_settings(
    read: Read, refused: Iterable[RefusedSetting] = REFUSED_SETTINGS
) -> Iterator[tuple[RefusedSetting, str]]:
    """Yield the settings with which values are lost, with the name that is set, and its value."""
    for setting in refused:
        found = ((name, read(name)) for name in setting.names)
        name, value = next(((n, v) for n, v in found if v is not None), ("", None))
        if value is not None and setting.is_refused(value):
            yield replace(setting, name=name), value


# The dbt comment comes before the statement. Spark refuses a comment inside of it.
_SET = re.compile(rf"{GAP}*set\s+`?([\w.]+)`?\s*=\s*`?([^;`]*)", re.IGNORECASE | re.DOTALL)


def check_statement(sql: str) -> None:
    """Refuse a statement that sets a refused setting, or warn if it sets one of filters.

    A session is not checked again after its start, and every thread of dbt can use it.
    """
    found = _SET.match(sql)
    if found is None:
        return
    given = {found[1]: found[2].strip()}
    for setting, value in refused_settings(given.get):
        raise DbtConfigError(
            f"`set {setting.name}={value}` was not run, because tables would not have the values "
            f"that models produce: {setting.why}. Remove the statement, or use {setting.remedy}"
        )
    if unsafe := unsafe_settings(given):
        warn_once(". ".join(unsafe_text(unsafe, "by a statement")))


# dbt's comment can also come after the statement.
_RESET_ALL = re.compile(rf"{GAP}*reset{GAP}*;?{GAP}*(?:--[^\n]*)?", re.IGNORECASE | re.DOTALL)


def check_reset(sql: str) -> None:
    """Refuse a RESET of all settings in the session of a server: dbt has set some of them."""
    if _RESET_ALL.fullmatch(sql):
        raise DbtConfigError(
            "`reset` was not run, because it would also reset the settings with which Spark finds "
            "all rows of a widened table, and those of the profile. Reset each setting by its name."
        )


@contextmanager
def refused_settings_kept(session: Any) -> Iterator[None]:
    """Restore the refused settings of a session after the block. If it has set one, refuse that."""
    conf = session.conf
    names = [name for each in REFUSED_SETTINGS for name in each.names]
    before = {name: conf.get(name, None) for name in names}
    # Another thread has set them, and unsets them.
    others = {setting.name for setting, _ in refused_settings(before.get)}
    try:
        yield
    finally:
        after = {name: conf.get(name, None) for name in names}
        for name, value in before.items():
            if name in others:
                continue
            if value is None and after[name] is not None:
                conf.unset(name)
            elif value != after[name]:
                conf.set(name, value)
    refuse_settings(after.get)


def warn_of_filters(given: Mapping[str, str]) -> None:
    """Warn once in an invocation if the user sets a setting of filters to another value."""
    if unsafe := unsafe_settings(given):
        warn_once(". ".join(unsafe_text(unsafe)))


def unsafe_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of filters that the user sets to other values than the safe ones."""
    return {
        key: given[key]
        for key in (*SAFE_READS, ORC_FILTERS)
        if key in given and given[key].strip().lower() != SAFE_SETTINGS[key]
    }


def unsafe_text(
    unsafe: Mapping[str, str],
    where: str = "in the profile's server_side_parameters, PYSPARK_SUBMIT_ARGS or "
    "spark-defaults.conf",
) -> tuple[str, str]:
    """Say what such settings do, and what to do about them."""
    found = " and ".join(f"{key} is {value}" for key, value in unsafe.items())
    missed = ["on a column that was widened"] if unsafe.keys() & SAFE_READS.keys() else []
    missed += ["with microseconds on an ORC table"] if ORC_FILTERS in unsafe else []
    return (
        f"{found}, set {where}. With this setting, a filter {' or '.join(missed)} can miss rows "
        "without an error: in models, tests, snapshots, and in the statements that delete, update "
        "or replace rows",
        "Remove the setting. dbt-deltawiden then uses "
        f"{' and '.join(f'{key}={SAFE_SETTINGS[key]}' for key in unsafe)}",
    )
