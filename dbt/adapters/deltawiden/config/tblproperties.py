"""Compare the table properties in a model's configuration with those of its table."""

import re
from collections.abc import Mapping
from typing import Any

from dbt.adapters.deltawiden.delta.protocol import (
    APPEND_ONLY,
    COLUMN_MAPPING,
    CONSTRAINT,
    FEATURE_PREFIX,
    TYPE_WIDENING_PROPERTY,
)
from dbt.adapters.deltawiden.sql.literals import property_text

COMMENT = "comment"
"""The property that is the table's comment, which SHOW TBLPROPERTIES does not list."""

_PROTOCOL_VERSIONS = ("delta.minreaderversion", "delta.minwriterversion")
_MODE = COLUMN_MAPPING.lower()
# A plan looks for these in the properties that it sets, in Delta's spelling.
_READ_BY_PLANS = {key.lower(): key for key in (APPEND_ONLY, COLUMN_MAPPING, TYPE_WIDENING_PROPERTY)}

# Nor does it list these, which change nothing in a table that exists.
_OF_NEW_TABLES = ("path", "delta.ignoreprotocoldefaults")
# Delta's protocol, "Valid Feature Names in Table Features": the first writer version that has a
# feature. The versions up to 6 have it without listing it.
_FIRST_WRITERS = {
    f"{FEATURE_PREFIX}{feature}": version
    for version, features in {
        2: ("appendonly", "invariants"),
        3: ("checkconstraints",),
        4: ("changedatafeed", "generatedcolumns"),
        5: ("columnmapping",),
        6: ("identitycolumns",),
    }.items()
    for feature in features
}


def configured_properties(config: Mapping[str, Any]) -> dict[str, Any]:
    """Read ``tblproperties``. A description that ``persist_docs`` stores is the comment instead.

    Source:
        measured on Spark 4.1: the COMMENT of a CREATE TABLE has precedence over the property
    """
    persisted = config.get("persist_docs")
    is_described = isinstance(persisted, Mapping) and persisted.get("relation")
    properties = config.get("tblproperties") or {}
    return {k: text for k, text in properties.items() if k != COMMENT or not is_described}


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
        if not _is_met(_key(key), property_text(value), has)
    }


def _key(key: str) -> str:
    # Delta lists its own properties in its own spelling, whatever the spelling in the statement.
    return key.lower() if key.lower().startswith("delta.") else key


def _is_met(key: str, wanted: str, has: Mapping[str, str]) -> bool:
    found = has.get(key)
    if found is None:
        return key in _OF_NEW_TABLES or _is_implied(key, has)
    if key in _PROTOCOL_VERSIONS and wanted.isdigit() and found.isdigit():
        return int(found) >= int(wanted)
    if key.startswith(CONSTRAINT):
        return _without_spaces(found) == _without_spaces(wanted)
    ignores_case = key == _MODE or wanted.lower() in ("true", "false")
    return found == wanted or (ignores_case and found.lower() == wanted.lower())


def _is_implied(key: str, has: Mapping[str, str]) -> bool:
    writer, first = has.get("delta.minwriterversion", ""), _FIRST_WRITERS.get(key)
    return first is not None and writer.isdigit() and first <= int(writer) <= 6


def _without_spaces(expression: str) -> str:
    # ADD CONSTRAINT stores the tokens of an expression, with a space between any two of them.
    return re.sub(r"('[^']*'|\"[^\"]*\"|`[^`]*`)|\s+", r"\1", expression)
