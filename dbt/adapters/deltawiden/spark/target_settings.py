"""Set the settings of one dbt target in a SparkSession that other targets and programs share."""

from collections.abc import Iterable, Iterator, Mapping

from dbt_common.exceptions import DbtConfigError
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.redaction import is_secret, scrubbed
from dbt.adapters.deltawiden.spark.settings import TIME_ZONE, items

# These settings decide where tables are and what is stored in them. The other settings that Spark
# reads only once are about memory, ports and the like.
_DECISIVE = ("spark.sql.", "spark.hadoop.", "spark.hive.", "spark.databricks.")
# Spark accepts a new value for these settings, but it has no effect.
_READ_ONCE = ("spark.hadoop.", "spark.hive.", "spark.sql.catalog.")
_LISTS = ("spark.sql.extensions", "spark.jars")


class TargetSettings:
    """Sets the settings of a target, and restores the previous ones.

    Args:
        started_with: the settings of the target that started Spark; empty if another program
            started it.
        without_target: the values of these settings without a target. A setting that is not in it
            has Spark's default.
    """

    def __init__(
        self,
        session: SparkSession,
        started_with: Mapping[str, str],
        without_target: Mapping[str, str],
    ) -> None:
        self._session = session
        self._started_with = started_with
        self._before: dict[str, str | None] = {key: without_target.get(key) for key in started_with}
        self._warned: set[str] = set()

    def apply(self, settings: Mapping[str, str]) -> None:
        """Set the settings of a target, and remove those of the previous one.

        Raises:
            DbtConfigError: the target needs a Spark that was started with other settings.
        """
        self.undo()
        differing = {key for key, value in settings.items() if not self._set(key, str(value))}
        differing |= set(self._started_for_another(settings))
        decisive = {key for key in differing if key.startswith(_DECISIVE)}
        if decisive:
            self.undo()
            raise DbtConfigError(scrubbed(self._conflict_text(decisive, settings)))
        self._warn(differing - self._warned, settings)

    def undo(self) -> None:
        """Restore the settings from before the last target."""
        for key, value in self._before.items():
            self._change(key, value)
        self._before = {}

    def _set(self, key: str, value: str) -> bool:
        """Set a value in the session, and return whether the session has it afterwards."""
        running = self._session.conf.get(key, None)
        is_read = key.startswith(_READ_ONCE) and running is not None
        if running != value and not is_read and self._change(key, value):
            self._before[key] = running
            return True
        # Spark stores some of its start settings under another key, or as a different text.
        return _is_same(key, self._started_with.get(key, running), value)

    def _change(self, key: str, value: str | None) -> bool:
        if key.startswith(_READ_ONCE) and key in self._started_with:
            return False
        try:
            if value is None:
                self._session.conf.unset(key)
            else:
                self._session.conf.set(key, value)
        except SPARK_ERRORS:  # CANNOT_MODIFY_STATIC_CONFIG, CANNOT_MODIFY_CONFIG
            return False
        return True

    def _started_for_another(self, settings: Mapping[str, str]) -> Iterator[str]:
        """Yield the settings that only the target that started Spark has, and that stay set."""
        for key in self._started_with.keys() - settings.keys():
            # Java's time zone was set to it, and a session without a time zone uses Java's.
            if key == TIME_ZONE or self._session.conf.get(key, None) is not None:
                yield key

    def _conflict_text(self, keys: Iterable[str], settings: Mapping[str, str]) -> str:
        whose = "for another target" if self._started_with else "by another program"
        return (
            f"This process already has a Spark, which was started {whose}. What this target sets "
            f"differs, and can't be changed while Spark runs: {self._listed(keys, settings)}. Run "
            "this target in a process of its own, or give both the same settings."
        )

    def _warn(self, keys: Iterable[str], settings: Mapping[str, str]) -> None:
        listed = self._listed(keys, settings)
        self._warned.update(keys)
        if listed:
            logger.warning(
                "The Spark of this process goes on with the settings that it was started with: "
                f"{scrubbed(listed)}."
            )

    def _listed(self, keys: Iterable[str], settings: Mapping[str, str]) -> str:
        return "; ".join(self._difference_text(key, settings.get(key)) for key in sorted(keys))

    def _difference_text(self, key: str, asked: str | None) -> str:
        running = self._started_with.get(key, self._session.conf.get(key, None))
        if is_secret(key, running) or is_secret(key, asked):
            return key
        return f"{key} is {running or 'not set'}, the target has {asked or 'none'}"


def _is_same(key: str, running: str | None, asked: str) -> bool:
    if running is None:
        return False
    if key.startswith(_LISTS):
        return set(items(asked)) <= set(items(running))
    return _folded(running) == _folded(asked)


def _folded(value: str) -> str:
    """Remove what Spark adds to the path of a folder, and the case of true and false."""
    path = value.removeprefix("file:").rstrip("/")
    return f"/{path.lstrip('/')}" if path.startswith("/") else value.lower()
