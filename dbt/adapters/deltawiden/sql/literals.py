"""Render values and table properties as Spark SQL."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any


def literal(value: Any) -> str:
    """Render a value, such as one of a seed, as a literal that keeps it exactly.

    Source:
        https://spark.apache.org/docs/latest/sql-ref-literals.html
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, Decimal)):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    if isinstance(value, float):
        return f"double('{value!r}')"
    if isinstance(value, date):
        return f"'{castable_text(value)}'"
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    # Spark replaces ${...} with the value of a setting, even inside a literal.
    return "'" + escaped.replace("${", "\\u0024{") + "'"


def expression_in(rendered: str) -> str:
    """Return the text that ``literal`` has rendered, for a statement that it is a part of.

    So ``${`` stays as it is rendered. Other values are returned unchanged.
    """
    if len(rendered) < 2 or not rendered[0] == rendered[-1] == "'":
        return rendered
    return re.sub(r"\\(?!u0024\{)(.)", r"\1", rendered[1:-1], flags=re.DOTALL)


def castable_text(value: Any) -> str | None:
    """Return the text of a value that a cast to its type reads."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date) else str(value).lower()


def property_text(value: Any) -> str:
    """Return the text of a property's value, which can be a number or a boolean in YAML."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def properties_sql(properties: Mapping[str, Any]) -> str:
    """Render the list in TBLPROPERTIES (...), with literals, so that all texts can be in it."""
    return ", ".join(
        f"{literal(key)} = {literal(property_text(value))}" for key, value in properties.items()
    )
