"""The settings of Spark and Delta that are refused or warned of.

With a refused one, another value would be stored than a model produced.
``tests/functional/test_every_setting.py`` tries all settings. With one that is warned of, a filter
can miss rows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.spark.settings import ORC_FILTERS, SAFE_READS, SAFE_SETTINGS
from dbt.adapters.deltawiden.warnings import warn_once

Read = Callable[[str], str | None]
"""Returns the value of a setting, or None if it is not set."""


@dataclass(frozen=True)
class RefusedSetting:
    """A setting and what is wrong with it.

    Attributes:
        values: the values that are refused. Empty if every value is.
        use: the value to use. Empty if the setting must not be set.
    """

    name: str
    values: tuple[str, ...]
    use: str
    why: str

    def is_refused(self, value: str | None) -> bool:
        """Return whether a value is refused."""
        return bool(value) and (
            not self.values or str(value).upper() in map(str.upper, self.values)
        )

    @property
    def remedy(self) -> str:
        """What to do in the profile."""
        return f'{self.name}: "{self.use}"' if self.use else f"no {self.name}"


def _rebase(name: str, why: str) -> RefusedSetting:
    return RefusedSetting(f"spark.sql.parquet.{name}", ("LEGACY",), "CORRECTED", why)


_DELTA = "spark.databricks.delta"
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
)


def refuse_settings(read: Read) -> None:
    """Stop before anything is written if a session has a setting with which values are lost.

    Raises:
        DbtConfigError: the session has at least one. The message names all of them.
    """
    found = list(refused_settings(read))
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


def refused_settings(read: Read) -> Iterator[tuple[RefusedSetting, str]]:
    """Yield the settings with which values are lost, each with its value."""
    for setting in REFUSED_SETTINGS:
        value = read(setting.name)
        if value is not None and setting.is_refused(value):
            yield setting, value


def warn_of_filters(given: Mapping[str, str]) -> None:
    """Warn once in an invocation if the user sets a setting of filters to another value.

    Raises:
        EventCompilationError: ``--warn-error`` makes errors of warnings.
    """
    unsafe = unsafe_settings(given)
    if unsafe:
        warn_once(unsafe_text(unsafe))


def unsafe_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of filters that the user sets to another value than the safe one."""
    return {
        key: given[key]
        for key in (*SAFE_READS, ORC_FILTERS)
        if key in given and given[key].strip().lower() != SAFE_SETTINGS[key]
    }


def unsafe_text(unsafe: Mapping[str, str]) -> str:
    """Say what such settings do, and what to do about them."""
    found = " and ".join(f"{key} is {value}" for key, value in unsafe.items())
    missed = ["on a column that was widened"] if unsafe.keys() & SAFE_READS.keys() else []
    missed += ["with microseconds on an ORC table"] if ORC_FILTERS in unsafe else []
    return (
        f"{found}, set in the profile's server_side_parameters, PYSPARK_SUBMIT_ARGS or "
        f"spark-defaults.conf. With this setting, a filter {' or '.join(missed)} can miss rows "
        "without an error: in models, tests, snapshots, and in the statements that delete, update "
        "or replace rows. Remove the setting. dbt-deltawiden then uses "
        f"{' and '.join(f'{key}={SAFE_SETTINGS[key]}' for key in unsafe)}"
    )
