"""What of a profile nobody may read in a log, an error or an artifact."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from dbt_common.events.event_manager_client import get_event_manager
from dbt_common.exceptions import scrub_secrets

_SECRET_SETTING = re.compile("secret|password|token|access[.]?key", re.IGNORECASE)
"""Spark's own rule, ``spark.redaction.regex``:
https://spark.apache.org/docs/latest/configuration.html#runtime-environment"""

_SECRET_ATTRIBUTE = re.compile(r"(?:PWD|Password|Auth_AccessToken)\s*=\s*([^;]+)", re.I)
"""Attributes of an ODBC connection string that hold one."""

_SHORTEST = 3
"""A secret of one or two characters would take them out of every word."""


def is_secret(setting: str) -> bool:
    """Tell whether a setting's value is a secret, as Spark decides it by the setting's name."""
    return bool(_SECRET_SETTING.search(setting))


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Leave out the settings whose values are secrets."""
    return {key: value for key, value in settings.items() if not is_secret(key)}


def find_secrets(
    settings: Mapping[str, str], given: Mapping[str, str | None], connection_string: str | None
) -> frozenset[str]:
    """Collect the secrets of a profile.

    Args:
        settings: ``server_side_parameters``.
        given: the profile's own secrets by key, such as its token.
        connection_string: what an ODBC profile adds to the connection string.

    Returns:
        The secrets.
    """
    found = _values(settings, given, connection_string)
    return frozenset(each for each in found if _can_be_hidden(each))


def _values(
    settings: Mapping[str, str], given: Mapping[str, str | None], connection_string: str | None
) -> Iterator[str]:
    yield from (value for value in given.values() if value)
    yield from (value for key, value in settings.items() if is_secret(key))
    yield from (each.strip() for each in _SECRET_ATTRIBUTE.findall(connection_string or ""))


def _can_be_hidden(value: str) -> bool:
    # `spark.hadoop.fs.s3a.aws.credentials.provider.token.enabled: "true"` is no secret.
    return len(value) >= _SHORTEST and value.lower() not in ("true", "false", "none")


_hidden: tuple[str, ...] = ()


def hide(secrets: Iterable[str]) -> None:
    """Let dbt's log and terminal show stars in place of secrets, as dbt does for its own.

    Args:
        secrets: as ``find_secrets`` gives them. They stay hidden as long as the process lives.
    """
    global _hidden
    # In a log of JSON they stand as JSON.
    shown = {each for secret in secrets for each in (secret, json.dumps(secret)[1:-1])}
    # The longest first, so that none is cut by one that is part of it.
    _hidden = tuple(sorted({*_hidden, *shown}, key=len, reverse=True))
    for each in get_event_manager().loggers:
        if not isinstance(each.scrubber, _Scrubber):
            each.scrubber = _Scrubber(each.scrubber)


@dataclass(frozen=True)
class _Scrubber:
    """What a logger of dbt's does to a line, and ours after it."""

    own: Callable[[str], str]

    def __call__(self, line: str) -> str:
        return scrubbed(self.own(line))


def scrubbed(text: str) -> str:
    """Put stars in place of the secrets that are hidden.

    Args:
        text: an error's text, which dbt also writes where it does not scrub: in artifacts.

    Returns:
        The text without them.
    """
    return str(scrub_secrets(text, list(_hidden)))
