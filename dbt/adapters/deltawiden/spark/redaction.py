"""Hide the secrets of a profile in logs, errors and artifacts."""

import contextlib
import html
import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from dbt_common.constants import SECRET_ENV_PREFIX
from dbt_common.events.event_manager_client import get_event_manager
from dbt_common.exceptions import scrub_secrets

from dbt.adapters.deltawiden.spark.java import OPTION_VARIABLES

_SECRET_SETTING = re.compile(
    "secret|password|token|access[.]?key"
    "|(account|encryption|private)[.]key|fs[.]azure[.]sas[.]|keystore[.]pass$|credential$"
    "|passphrase|api[._-]?key|pwd$",
    re.IGNORECASE,
)
"""The first line is the rule of Spark's setting ``spark.redaction.regex``. The second line has what
Hadoop's ``hadoop.security.sensitive-config-keys`` adds, and further keys of Azure and Google Cloud:
https://spark.apache.org/docs/latest/configuration.html#runtime-environment,
https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-common/core-default.xml,
https://hadoop.apache.org/docs/stable/hadoop-azure/index.html and
https://github.com/GoogleCloudDataproc/hadoop-connectors/blob/master/gcs/CONFIGURATION.md. The third
line has usual names."""

_SECRET_IN_URL = re.compile(
    r"(?:password|passphrase|pwd|api_?key)=([^&;,)\s]+)"
    r"|://[^/?#@\s:]*:([^/?#@\s]+)@"
    r"|jdbc:oracle:\w+:[^/@\s]+/([^@\s]+)@",
    re.IGNORECASE,
)
"""A password in the URL of a JDBC database or a repository: a parameter, or before ``@``. Oracle's
URLs have it after the user's name:
https://docs.oracle.com/en/database/oracle/oracle-database/23/jjdbc/data-sources-and-URLs.html"""

_SECRET_ATTRIBUTE = re.compile(r"(?:PWD|Password|Auth_AccessToken)\s*=\s*([^;]+)", re.I)
"""The attributes of an ODBC connection string that contain a secret."""

_SHORTEST = 3
"""The minimum length of a hidden secret: hiding one or two characters would change many words."""


def is_secret(setting: str, value: str | None) -> bool:
    """Return whether a setting contains a secret. Its value can be a URL with a password."""
    return bool(_SECRET_SETTING.search(setting) or _SECRET_IN_URL.search(value or ""))


def find_secrets(
    settings: Mapping[str, str], given: Mapping[str, str | None], connection_string: str | None
) -> frozenset[str]:
    """Collect the secrets of a profile, and of dbt's variables ``DBT_ENV_SECRET...``.

    Args:
        settings: ``server_side_parameters``.
        given: the profile's own secrets by key, such as its token.
        connection_string: the text that an ODBC profile adds to the connection string.
    """
    found = _values(settings, given, connection_string)
    return frozenset(value for value in found if _can_be_hidden(value))


def _values(
    settings: Mapping[str, str], given: Mapping[str, str | None], connection_string: str | None
) -> Iterator[str]:
    yield from (value for value in given.values() if value)
    # A profile can use such a variable in any of its keys.
    yield from (os.environ[key] for key in os.environ if key.startswith(SECRET_ENV_PREFIX))
    for key, value in settings.items():
        if is_secret(key, None):
            yield value
        yield from _in_options(value) if "-D" in value else _in_urls(value)
    # The JVM prints some of them.
    for variable in (*OPTION_VARIABLES, "PYSPARK_SUBMIT_ARGS"):
        yield from _in_options(os.environ.get(variable, ""))
    yield from (value.strip() for value in _SECRET_ATTRIBUTE.findall(connection_string or ""))


def has_secret(options: str) -> bool:
    """Return whether options of Java have a hidden secret, or one that is known by its name."""
    return scrubbed(options) != options or any(map(_can_be_hidden, _in_options(options)))


def _in_urls(text: str) -> Iterator[str]:
    for found in _SECRET_IN_URL.finditer(text):
        yield from {found[found.lastindex or 0], unquote(found[found.lastindex or 0])}


def _in_options(text: str) -> Iterator[str]:
    """Yield the secrets in options of Java or spark-submit. One of them can have others in it."""
    yield from _in_urls(text)
    try:
        words = shlex.split(text)
    except ValueError:  # a quote without end
        words = text.split()
    for word in words:
        name, _, value = word.partition("=")
        if value and is_secret(name, None):
            yield value
        inside = word if word != text and len(word.split()) > 1 else value
        yield from _in_options(inside) if value else ()


def _can_be_hidden(value: str) -> bool:
    # `spark.hadoop.fs.s3a.aws.credentials.provider.token.enabled: "true"` is not a secret.
    return len(value) >= _SHORTEST and value.lower() not in ("true", "false", "none")


_hidden: tuple[str, ...] = ()


def hide(secrets: Iterable[str]) -> None:
    """Replace secrets with stars in dbt's log and on its terminal until the process ends."""
    global _hidden
    shown = {text for secret in secrets for text in _spellings(secret)}
    # The longest come first, so that a secret that is part of another one does not split it.
    _hidden = tuple(sorted({*_hidden, *shown}, key=len, reverse=True))
    for event_logger in get_event_manager().loggers:
        if not isinstance(event_logger.scrubber, _Scrubber):
            event_logger.scrubber = _Scrubber(event_logger.scrubber)


def _spellings(secret: str) -> tuple[str, ...]:
    """Return how a secret is written in a text, in JSON, on a page and in a URL."""
    return secret, json.dumps(secret)[1:-1], html.escape(secret), quote(secret, safe="")


@dataclass(frozen=True)
class _Scrubber:
    """Scrubs a line as dbt's logger does, and then hides the secrets of the profile."""

    own: Callable[[str], str]

    def __call__(self, line: str) -> str:
        return scrubbed(self.own(line))


def scrubbed(text: str) -> str:
    """Replace the hidden secrets in a text with stars. dbt does not scrub its artifacts."""
    return str(scrub_secrets(text, list(_hidden)))


def hide_in_file(file: Path, opened: os.stat_result | None = None) -> None:
    """Replace the hidden secrets in a log, which can be in use, with as many stars.

    Args:
        opened: what the log was when it was opened. Another file in its place is left as it is.
    """
    with contextlib.suppress(OSError), open(file, "r+b", opener=open_no_link) as stream:
        if opened is not None and not os.path.samestat(os.fstat(stream.fileno()), opened):
            return
        text = stream.read()
        for secret in map(str.encode, _hidden):
            for found in re.finditer(re.escape(secret), text):
                stream.seek(found.start())
                stream.write(b"*" * len(secret))


def open_no_link(path: str, flags: int) -> int:
    """Open a file, as an ``opener`` of ``open``, unless its path is a symbolic link."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
