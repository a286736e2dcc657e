"""Render a condition on the values at every depth of a column."""

from collections.abc import Callable
from itertools import count

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path, quote

OfLeaf = Callable[[str, DataType, Path], str | None]
"""Renders the condition for a value, its type and its path. None if no value can meet it."""


def any_leaf_sql(value: str, data_type: DataType, path: Path, of_leaf: OfLeaf) -> str | None:
    """Render the condition that any value inside a value meets another condition.

    Returns:
        A condition that is false or null if there is no such value. None if there can be none.
    """
    names = (f"leaf{number}" for number in count(1))

    def inside(value: str, data_type: DataType, path: Path) -> str | None:
        if isinstance(data_type, StructType):
            found = [
                inside(f"{value}.{quote(field.name)}", field.dataType, (*path, field.name))
                for field in data_type.fields
            ]
            return " or ".join(condition for condition in found if condition) or None
        if isinstance(data_type, ArrayType):
            return of_items(value, data_type.elementType, (*path, "element"))
        if isinstance(data_type, MapType):
            keys = of_items(f"map_keys({value})", data_type.keyType, (*path, "key"))
            values = of_items(f"map_values({value})", data_type.valueType, (*path, "value"))
            return " or ".join(condition for condition in (keys, values) if condition) or None
        return of_leaf(value, data_type, path)

    def of_items(items: str, data_type: DataType, path: Path) -> str | None:
        name = next(names)
        condition = inside(name, data_type, path)
        return condition and f"exists({items}, {name} -> {condition})"

    return inside(value, data_type, path)
