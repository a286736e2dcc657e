"""Render a condition on the values at every depth of a column."""

from collections.abc import Callable
from itertools import count

from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.sql.types import CONTAINERS, fields_in

OfLeaf = Callable[[str, DataType, Path], str | None]
"""Renders the condition for a value, its type and its path. None if no value can meet it."""


def any_leaf_sql(value: str, data_type: DataType, path: Path, of_leaf: OfLeaf) -> str | None:
    """Render the condition that any value inside a value meets another; None if none can."""
    names = (f"leaf{number}" for number in count(1))

    def inside(value: str, data_type: DataType, path: Path) -> str | None:
        if not isinstance(data_type, CONTAINERS):
            return of_leaf(value, data_type, path)
        found = [of_field(value, data_type, field, path) for field in fields_in(data_type)]
        return " or ".join(filter(None, found)) or None

    def of_field(value: str, parent: DataType, field: StructField, path: Path) -> str | None:
        place = (*path, field.name)
        if isinstance(parent, StructType):
            return inside(f"{value}.{quote(field.name)}", field.dataType, place)
        items = value if isinstance(parent, ArrayType) else f"map_{field.name}s({value})"
        name = next(names)
        condition = inside(name, field.dataType, place)
        return condition and f"exists({items}, {name} -> {condition})"

    return inside(value, data_type, path)
