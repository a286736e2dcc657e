"""The profile: how Spark is reached, and with which settings."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, ClassVar

from dbt.adapters.spark.connections import SparkCredentials
from dbt.flags import get_flags
from dbt_common.dataclass_schema import StrEnum
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.spark.connect import DEFAULT_PORT
from dbt.adapters.deltawiden.spark.keep_alive.status import kept_text
from dbt.adapters.deltawiden.spark.log_errors import report_log_errors_once
from dbt.adapters.deltawiden.spark.redaction import find_secrets, hide
from dbt.adapters.deltawiden.spark.settings import SAFE_SETTINGS, outside_settings
from dbt.adapters.deltawiden.spark.start import SparkStart
from dbt.adapters.deltawiden.spark.storage_folder import settings_of_folder

TARGET_TYPES = ("deltawiden", "spark")


def apply_target_type(target_type: str) -> None:
    """Let ``target.type`` be the ``target_type`` of a profile, in every context of dbt.

    Many packages compare ``target.type`` with a list of adapters. dbt takes it from the type of the
    credentials, which also finds the adapter and its macros, and so has to stay as it is.
    """
    if target_type not in TARGET_TYPES:
        raise DbtConfigError(
            f"The profile's target_type is {target_type!r}; accepted are "
            f"{' and '.join(TARGET_TYPES)}. It is what `target.type` says to the Jinja of the "
            "project and its packages"
        )
    # Imported here, because only dbt-core has it loaded already.
    from dbt.config.profile import Profile

    whole_target = Profile.to_target_dict
    if hasattr(whole_target, "__wrapped__"):
        return

    # All of dbt's renderers and contexts make their `target` by this method.
    @wraps(whole_target)
    def to_target_dict(profile: Profile) -> dict[str, Any]:
        target: dict[str, Any] = whole_target(profile)
        return {**target, "type": target.get("target_type") or target["type"]}

    Profile.to_target_dict = to_target_dict  # type: ignore[method-assign, assignment]


_DURATION = re.compile(r"([1-9]\d*)\s*([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def read_duration(value: Any) -> int:
    """Read ``keep_alive`` in seconds. A DbtConfigError says what is accepted."""
    match = _DURATION.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if match is None:
        raise DbtConfigError(
            f"The profile's keep_alive is {value!r}; accepted is a whole number greater than zero "
            "with a unit: 900s, 15m or 1h. Without keep_alive, Spark ends with dbt"
        )
    return int(match[1]) * _SECONDS[match[2]]


ANSI = "spark.sql.ansi.enabled"


# A Thrift server gives its sessions only the settings with this prefix, of those that are in the
# request for a session: HiveSessionImpl.configureSession and SparkSQLSessionManager.openSession.
FOR_SESSION = "set:hiveconf:"

_VERSION = re.compile(r"\d+(\.\d+)+")


def project_dir() -> str:
    """Return the folder of the project that dbt runs."""
    return getattr(get_flags(), "PROJECT_DIR", None) or os.getcwd()


class ConnectionMethod(StrEnum):
    """How dbt connects to Spark: the methods of dbt-spark, and Spark Connect."""

    SESSION = "session"
    CONNECT = "connect"
    THRIFT = "thrift"
    HTTP = "http"
    ODBC = "odbc"


@dataclass
class DeltaWidenCredentials(SparkCredentials):
    """A dbt-spark profile in which only ``schema`` is required.

    Without ``method``, Spark runs in dbt's own process (``session``). Without ``database``, which
    can also be written as ``catalog``, names have two parts, and Spark's current catalog has the
    schemas.

    Attributes:
        delta_version: the version of Delta, for a server that does not report it.
        keep_alive: how long the Spark of ``method: session`` lives after its last use. Without it,
            Spark ends with dbt.
        spark_dir: the folder of the tables and the metastore of the Spark that dbt starts. Without
            it, it is the working folder.
        target_type: what ``target.type`` says to the Jinja of the project and its packages.
    """

    # dbt translates the aliases in the profile, in the configuration of nodes, and in sources.
    _ALIASES: ClassVar[dict[str, str]] = {"catalog": "database"}

    method: ConnectionMethod = ConnectionMethod.SESSION  # type: ignore[assignment]
    delta_version: str | None = None
    keep_alive: Any = None
    spark_dir: str | None = None
    target_type: str | None = None

    @classmethod
    def __pre_deserialize__(cls, data: Any) -> Any:
        data = super().__pre_deserialize__(data)
        if data.get("method") == ConnectionMethod.CONNECT:
            data.setdefault("port", DEFAULT_PORT)
        return data

    def __post_init__(self) -> None:
        if self.method == ConnectionMethod.SESSION and self.host is None:
            self.host = "localhost"
        if self.delta_version is not None and not _VERSION.fullmatch(self.delta_version):
            raise DbtConfigError(
                f"The profile's delta_version is {self.delta_version!r}; accepted is a version in "
                "quotes, such as '4.0.1'"
            )
        if self.target_type is not None:
            apply_target_type(self.target_type)
        if self.keep_alive is not None:
            self._check_keep_alive()
        if self.spark_dir is not None:
            self._use_spark_dir(self.spark_dir)
        given_ansi = self.server_side_parameters.get(ANSI)
        database, self.database = self.database, None  # dbt-spark refuses it.
        super().__post_init__()
        # As with dbt-spark, the name of the schema in both means that there is no catalog.
        self.database = database if database != self.schema else None
        # dbt-spark turns ANSI mode off, whatever the profile says. Here, the profile decides.
        if given_ansi is not None:
            self.server_side_parameters[ANSI] = str(given_ansi)
        self._add_safe_settings()
        given = {"token": self.token, "password": self.password}
        hide(find_secrets(self.server_side_parameters, given, self.connection_string_suffix))
        report_log_errors_once()

    def _add_safe_settings(self) -> None:
        if self.endpoint is not None:
            return  # A SQL warehouse refuses a session with settings that it does not know.
        is_session = self.method == ConnectionMethod.SESSION
        outside = outside_settings(os.environ) if is_session else {}
        given = {**outside, **self._session_settings}
        missing = {
            self._prefix + key: SAFE_SETTINGS[key] for key in SAFE_SETTINGS if key not in given
        }
        self.server_side_parameters.update(missing)

    @property
    def given_settings(self) -> Mapping[str, str]:
        """The settings that the user gives to Spark, as far as this process can see them."""
        is_session = self.method == ConnectionMethod.SESSION
        return self.spark_start.given if is_session else self._session_settings

    @property
    def _session_settings(self) -> Mapping[str, str]:
        prefix, given = self._prefix, self.server_side_parameters
        return {key.removeprefix(prefix): given[key] for key in given if key.startswith(prefix)}

    @property
    def _prefix(self) -> str:
        is_thrift = self.method in (ConnectionMethod.THRIFT, ConnectionMethod.HTTP)
        return FOR_SESSION if is_thrift else ""

    @cached_property
    def spark_start(self) -> SparkStart:
        """What the Spark of ``method: session`` starts with."""
        return SparkStart.read(self.server_side_parameters, os.environ)

    @property
    def type(self) -> str:
        """The name of the adapter."""
        return "deltawiden"

    @property
    def unique_field(self) -> str:
        """The text that identifies an installation in dbt's anonymous usage statistics."""
        return self.host or "localhost"

    def _check_keep_alive(self) -> None:
        read_duration(self.keep_alive)
        if self.method != ConnectionMethod.SESSION:
            raise DbtConfigError(
                f"The profile has keep_alive and method: {self.method}. Only the Spark that dbt "
                "itself starts can be kept alive: use method: session, or remove keep_alive"
            )

    def _use_spark_dir(self, folder: str) -> None:
        if self.method != ConnectionMethod.SESSION or not folder.strip():
            raise DbtConfigError(
                f"The profile has spark_dir: {folder!r} and method: {self.method}. Accepted is a "
                "folder, for the Spark that dbt itself starts: use method: session, or remove "
                "spark_dir"
            )
        given = self.server_side_parameters
        self.server_side_parameters = {**given, **settings_of_folder(folder, project_dir(), given)}

    @property
    def kept_seconds(self) -> int | None:
        """How many seconds Spark lives after its last use, or None if it ends with dbt."""
        return None if self.keep_alive is None else read_duration(self.keep_alive)

    @property
    def session_method(self) -> ConnectionMethod:
        """How dbt uses its session: a Spark that is kept alive is a Spark Connect server."""
        return self.method if self.keep_alive is None else ConnectionMethod.CONNECT

    def connection_info(self, *, with_aliases: bool = False) -> Iterable[tuple[str, Any]]:
        """Return what ``dbt debug`` shows of the profile, and of a Spark that is kept alive.

        Other commands call this hundreds of times, for ``target`` in macros. They also compare it
        with that of the last command: if it is not the same, dbt parses the whole project again. So
        only ``dbt debug`` gets what changes from command to command.
        """
        yield from super().connection_info(with_aliases=with_aliases)
        if with_aliases and self.database is None:
            # It is for `target`, in which packages read the database. Undefined would be an error.
            yield from (("database", None), ("catalog", None))
        if self.target_type is not None:
            yield "target_type", self.target_type
        if self.keep_alive is not None:
            yield "keep_alive", self.keep_alive
            if getattr(get_flags(), "WHICH", None) == "debug":
                yield "spark", kept_text(self.spark_start)

    @property
    def has_session(self) -> bool:
        """Whether dbt has a SparkSession, for data frames, exact schemas and Python models."""
        return self.method in (ConnectionMethod.SESSION, ConnectionMethod.CONNECT)

    def _connection_keys(self) -> tuple[str, ...]:
        catalog = ("database",) if self.database else ()
        if self.method == ConnectionMethod.SESSION:
            return "method", *catalog, "schema"
        return "method", *catalog, *super()._connection_keys()
