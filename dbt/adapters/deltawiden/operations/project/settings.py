"""Find the settings in a profile that change stored values, or that dbt-spark overrides."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbt.flags import get_flags

from dbt.adapters.deltawiden.credentials import ANSI
from dbt.adapters.deltawiden.operations.project.files import ProjectFiles, line_with
from dbt.adapters.deltawiden.operations.project.finding import NOWHERE, FileLine, Finding, Severity
from dbt.adapters.deltawiden.spark.settings import AUTO_MERGE
from dbt.adapters.deltawiden.spark.unsafe_settings import (
    refused_settings,
    unsafe_settings,
    unsafe_text,
)

_OVERRIDDEN = {
    ANSI: (
        "dbt-spark turns ANSI mode off, whatever the profile says. Here the profile decides, and a "
        "cast of a value that is not valid is an error instead of null",
        f'remove it, or set {ANSI}: "false"',
    ),
    AUTO_MERGE: (
        "dbt-spark's statements add columns to tables because of it. Here on_schema_change decides",
        "set on_schema_change: append_new_columns where tables have to get columns",
    ),
}
_COMMENT = re.compile(r"(?:--|#|\bdescription:).*")
_SET = re.compile(r"\bset\s+`?((?:spark|mapred(?:uce)?)\.[\w.]+)`?\s*=\s*`?(\w+)", re.IGNORECASE)


def find_statements(files: ProjectFiles) -> Iterator[Finding]:
    """Find the statements in hooks, macros and models that set a refused setting."""
    for file in files.each():
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            set_here = {found[1]: found[2] for found in _SET.finditer(_COMMENT.sub("", line))}
            for setting, value in refused_settings(set_here.get):
                text = f"a statement sets {setting.name} to {value}: {setting.why}"
                do = f"remove the statement, or use {setting.remedy}"
                place = files.place(file, number)
                yield Finding("a setting of Spark", Severity.STOPS, place, text, do)


def find_settings(credentials: Any) -> Iterator[Finding]:
    """Find such settings, wherever they are set."""
    given = credentials.given_settings
    for setting, value in refused_settings(given.get):
        text = f"{setting.name} is {value}: {setting.why}"
        yield _finding(setting.name, Severity.STOPS, text, f"use {setting.remedy}")
    for name, value in unsafe_settings(given).items():
        text, _ = unsafe_text({name: value})
        yield _finding(name, Severity.CHANGES, text, "remove the setting")
    for name, (why, do) in _OVERRIDDEN.items():
        if str(given.get(name, "")).strip().lower() == "true":
            yield _finding(name, Severity.CHANGES, f"{name} is true: {why}", do)


def _finding(name: str, severity: Severity, text: str, do: str) -> Finding:
    profiles = Path(get_flags().PROFILES_DIR, "profiles.yml")
    line = line_with(profiles, name)
    # It can also be in PYSPARK_SUBMIT_ARGS or spark-defaults.conf.
    place = FileLine(str(profiles), line) if line else NOWHERE
    return Finding("a setting of Spark", severity, place, text, do)
