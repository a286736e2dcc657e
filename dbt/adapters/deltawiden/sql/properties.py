"""Table properties as SQL."""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.deltawiden.sql.literals import literal


def property_text(value: Any) -> str:
    """Give the text of a property's value, which in YAML can be a number or a boolean."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def properties_sql(properties: Mapping[str, Any]) -> str:
    """Render properties as the list that stands in TBLPROPERTIES (...).

    Args:
        properties: values by property.

    Returns:
        The list, every key and value as a literal, whatever is in it.
    """
    return ", ".join(
        f"{literal(key)} = {literal(property_text(value))}" for key, value in properties.items()
    )
