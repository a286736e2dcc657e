"""Compare the table properties in a model's configuration with those of its table."""

import re
from collections.abc import Mapping
from typing import Any

from dbt.adapters.deltawiden.delta.protocol import (
    APPEND_ONLY,
    COLUMN_MAPPING,
    CONSTRAINT,
    TYPE_WIDENING_PROPERTY,
)
from dbt.adapters.deltawiden.sql.literals import property_text

_PROTOCOL_VERSIONS = ("delta.minreaderversion", "delta.minwriterversion")
_MODE = COLUMN_MAPPING.lower()
# A plan looks for these in the properties that it sets, in Delta's spelling.
_READ_BY_PLANS = {key.lower(): key for key in (APPEND_ONLY, COLUMN_MAPPING, TYPE_WIDENING_PROPERTY)}


def changed_properties(configured: Mapping[str, Any], listed: Mapping[str, str]) -> dict[str, str]:
    """Return the configured ``tblproperties`` that an existing table lacks, or has otherwise.

    Properties that the model no longer configures keep their value.

    Source:
        https://docs.delta.io/latest/table-properties.html. Protocol versions are never lowered:
        Delta's protocol, "Protocol Evolution".
    """
    has = {_MODE: "none", **{_key(key): value for key, value in listed.items()}}
    return {
        _READ_BY_PLANS.get(key.lower(), key): property_text(value)
        for key, value in configured.items()
        if not _is_met(_key(key), property_text(value), has.get(_key(key)))
    }


def _key(key: str) -> str:
    # Delta lists its own properties in its own spelling, whatever the spelling in the statement.
    return key.lower() if key.lower().startswith("delta.") else key


def _is_met(key: str, wanted: str, found: str | None) -> bool:
    if found is None:
        return False
    if key in _PROTOCOL_VERSIONS and wanted.isdigit() and found.isdigit():
        return int(found) >= int(wanted)
    if key.startswith(CONSTRAINT):
        return _without_spaces(found) == _without_spaces(wanted)
    ignores_case = key == _MODE or wanted.lower() in ("true", "false")
    return found == wanted or (ignores_case and found.lower() == wanted.lower())


def _without_spaces(expression: str) -> str:
    # ADD CONSTRAINT stores the tokens of an expression, with a space between any two of them.
    return re.sub(r"('[^']*'|\"[^\"]*\"|`[^`]*`)|\s+", r"\1", expression)
