"""What a Spark that dbt starts is started with, read once from the profile and the environment."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt.adapters.deltawiden.spark.java import Java, default_options, find_java, given_java_options
from dbt.adapters.deltawiden.spark.settings import choose_settings, is_local, outside_settings

_PACKAGES = "spark.jars.packages"


@dataclass(frozen=True)
class JavaStart:
    """The Java of a start of Spark on one machine, if it is known, and the options of its JVM."""

    java: Java | None = None
    given: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class SparkStart:
    """One start of Spark: its settings, its jars and its Java. Settings can have secrets.

    Attributes:
        profile: ``server_side_parameters``.
        outside: the user's settings that are not in the profile.
        settings: the settings that Spark is given: those of the profile, and those that dbt
            chooses. Spark finds the other settings of the user by itself.
    """

    profile: Mapping[str, str]
    outside: Mapping[str, str]
    settings: Mapping[str, str]
    java: JavaStart
    environment: Mapping[str, str] = field(compare=False)

    @classmethod
    def read(
        cls, profile: Mapping[str, str], environment: Mapping[str, str] = os.environ
    ) -> "SparkStart":
        """Read what a Spark of this profile starts with in an environment."""
        outside = outside_settings(environment)
        settings = choose_settings(profile, outside, environment)
        java = _read_java({**outside, **settings}, environment)
        return cls(dict(profile), outside, settings, java, dict(environment))

    @property
    def given(self) -> dict[str, str]:
        """The settings that the user gives to Spark, each with the value that takes precedence."""
        return {**self.outside, **self.profile}

    @property
    def every(self) -> dict[str, str]:
        """All settings that Spark has."""
        return {**self.outside, **self.settings}

    @property
    def is_on_one_machine(self) -> bool:
        """Whether Spark runs on this machine alone."""
        return is_local(self.every["spark.master"])

    @property
    def is_submitted(self) -> bool:
        """Whether spark-submit has started a Spark for this process."""
        return "PYSPARK_GATEWAY_PORT" in self.environment

    @property
    def python(self) -> str | None:
        """The Python that functions run with. None on a cluster if the user names none.

        Source:
            https://spark.apache.org/docs/latest/configuration.html#environment-variables: the
            setting takes precedence over the variable
        """
        own = sys.executable if self.is_on_one_machine else None
        named = self.environment.get("PYSPARK_PYTHON", own)
        return self.given.get("spark.pyspark.python", named)

    @property
    def own_packages(self) -> str | None:
        """The packages of Spark if only dbt chooses the jars that Spark adds.

        None if the user sets anything about jars, and on a cluster, because its executors need the
        jars.
        """
        if not self.is_on_one_machine or self.has_own_jars:
            return None
        return self.settings.get(_PACKAGES)

    @property
    def has_own_jars(self) -> bool:
        """Whether the user sets anything about jars, except where downloads are stored."""
        return any(key.startswith("spark.jars") for key in self.given.keys() - {"spark.jars.ivy"})

    @property
    def resolves_packages(self) -> bool:
        """Whether Spark asks a repository for its jars."""
        return _PACKAGES in self.settings

    def with_jars(self, jars: str) -> "SparkStart":
        """Return the start with files in place of the packages."""
        others = {key: value for key, value in self.settings.items() if key != _PACKAGES}
        return replace(self, settings={**others, "spark.jars": jars})


def _read_java(every: Mapping[str, str], environment: Mapping[str, str]) -> JavaStart:
    if not is_local(every["spark.master"]):
        return JavaStart()
    java = find_java(environment)
    options = given_java_options(every, environment)
    return JavaStart(java, tuple(options), default_options(java, options))
