"""Render table properties as SQL."""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.deltawiden.sql.literals import literal


def property_text(value: Any) -> str:
    """Return the text of a property's value, which can be a number or a boolean in YAML."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def properties_sql(properties: Mapping[str, Any]) -> str:
    """Render the list in TBLPROPERTIES (...), with literals, so that all texts can be in it."""
    return ", ".join(
        f"{literal(key)} = {literal(property_text(value))}" for key, value in properties.items()
    )
