"""Correct the statistics of data files when a float column becomes double.

Delta stores the minimum and maximum of a column in each file as text. For a float, this is the
shortest text that parses as the float, such as ``0.7``. As a double, the text is another number:
the stored value is 0.699999988079071. So once the column is double, a filter on it skips files
that contain matching rows. The text ``0.699999988079071`` is right for both types.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.delta.stale_types import physical_name
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, parse_path, path_sql
from dbt.adapters.deltawiden.sql.types import nearest_float, walk

BOUNDS = ("minValues", "maxValues")
"""The fields of a file's statistics that contain values of columns."""

INDEXED_COLUMNS = "delta.dataSkippingNumIndexedCols"
STATISTICS_COLUMNS = "delta.dataSkippingStatsColumns"
SAVED_SETTINGS_PROPERTY = "dbt_deltawiden.statisticsBefore"
"""The table property that keeps, as JSON, the values of the other two from before a widening."""

_DEFAULT_INDEXED_COLUMNS = "32"
# Delta's SkippingEligibleDataType. For other types, Delta keeps only the number of nulls.
_WITH_BOUNDS = (
    spark.NumericType,
    spark.StringType,
    spark.DateType,
    spark.TimestampType,
    spark.TimestampNTZType,
)


def is_float_to_double(change: TypeChange) -> bool:
    """Return whether a type change is from float to double, which needs other statistics."""
    return isinstance(change.from_type, spark.FloatType) and isinstance(
        change.to_type, spark.DoubleType
    )


def leaves_with_statistics(schema: StructType) -> dict[Path, DataType]:
    """List the leaves that can have statistics, columns and fields of structs, with their types.

    Source:
        Delta's protocol, "Per-file Statistics"
    """
    every = walk(schema, into=StructType)
    return {path: leaf for path, leaf in every if not isinstance(leaf, StructType)}


def widened_floats(changes: Iterable[TypeChange], schema: StructType) -> tuple[Path, ...]:
    """Find the leaves with statistics that were widened from float to double."""
    doubles = {
        path
        for path, data_type in leaves_with_statistics(schema).items()
        if isinstance(data_type, spark.DoubleType)
    }
    widened = (change.path for change in changes if is_float_to_double(change))
    return tuple(dict.fromkeys(path for path in widened if path in doubles))


def physical_path(path: Path, schema: StructType) -> Path:
    """Translate the path of a column or struct field into the names in data files and statistics.

    The schema is the table's from the log, with the metadata that Delta keeps in it.
    """
    field = schema[path[0]]
    inside = physical_path(path[1:], field.dataType) if len(path) > 1 else ()  # type: ignore[arg-type]
    return (physical_name(field), *inside)


@dataclass(frozen=True)
class _Number:
    """A number in a JSON document, with its original text."""

    text: str


def corrected(statistics: str, leaves: Iterable[Path]) -> str:
    """Change the bounds of float leaves to texts that are the same number as float and as double.

    The statistics of a file are JSON, and the leaves in it have physical names.

    Source:
        https://docs.python.org/3/library/functions.html#repr: the repr of a Python float is the
        shortest text that parses as the same double
    """
    values = json.loads(statistics, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    for leaf in leaves:
        for bound in BOUNDS:
            _correct(values.get(bound), leaf)
    return _json(values)


def _correct(bounds: Any, leaf: Path) -> None:
    for name in leaf[:-1]:
        bounds = bounds.get(name) if isinstance(bounds, dict) else None
    # NaN and Infinity are strings. They mean the same as float and as double.
    found = bounds.get(leaf[-1]) if isinstance(bounds, dict) else None
    if isinstance(found, _Number):
        value = _float_statistic(found.text)
        if math.isfinite(value) and value != float(found.text):
            bounds[leaf[-1]] = _Number(repr(value))


def _float_statistic(text: str) -> float:
    try:
        return nearest_float(text)
    except OverflowError:  # The text is too large for a float, so it is not from a float.
        return float(text)


def _json(value: Any) -> str:
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, dict):
        members = (f"{_json(key)}:{_json(member)}" for key, member in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def schema_with_doubles(schema_json: str, leaves: Iterable[Path]) -> str:
    """Change the float leaves among some leaves of a table's schema, as JSON, to double."""
    schema = json.loads(schema_json)
    for leaf in leaves:
        fields, found = schema["fields"], None
        for name in leaf:
            found = next((field for field in fields if field["name"] == name), None)
            inside = found["type"] if found else None
            fields = inside.get("fields", ()) if isinstance(inside, dict) else ()
        if found is not None and found["type"] == "float":
            found["type"] = "double"
    return json.dumps(schema, ensure_ascii=False)


def guarding_settings(
    snapshot: TableSnapshot, leaves: Iterable[Path]
) -> tuple[dict[str, str], list[str]]:
    """Return the properties with which no writer collects statistics for some leaves.

    Returns:
        The properties to set, and those to unset after them. One of them saves the settings that
        ``restored_settings`` needs.

    Source:
        https://docs.delta.io/latest/optimizations-oss.html#data-skipping;
        ``delta.dataSkippingStatsColumns`` has precedence over ``delta.dataSkippingNumIndexedCols``
    """
    saved = {SAVED_SETTINGS_PROPERTY: settings_before(snapshot)}
    if others := _others_with_statistics(snapshot, frozenset(leaves)):
        return {**saved, STATISTICS_COLUMNS: ",".join(path_sql(path) for path in others)}, []
    is_named = STATISTICS_COLUMNS in snapshot.properties
    return {**saved, INDEXED_COLUMNS: "0"}, [STATISTICS_COLUMNS] if is_named else []


def _others_with_statistics(snapshot: TableSnapshot, leaves: frozenset[Path]) -> list[Path]:
    partitioned_by = {name.lower() for name in snapshot.partition_columns}
    all_leaves = {
        path: data_type
        for path, data_type in leaves_with_statistics(snapshot.schema).items()
        if path[0].lower() not in partitioned_by
    }
    return [
        path
        for path in _with_statistics(list(all_leaves), snapshot.properties)
        if path not in leaves and isinstance(all_leaves[path], _WITH_BOUNDS)
    ]


def _with_statistics(leaves: list[Path], properties: Mapping[str, str]) -> list[Path]:
    settings = (
        json.loads(properties[SAVED_SETTINGS_PROPERTY])
        if SAVED_SETTINGS_PROPERTY in properties
        else properties
    )
    named = settings.get(STATISTICS_COLUMNS)
    if named is not None:
        return _named(leaves, *statistics_names(named))
    first = int(settings.get(INDEXED_COLUMNS) or _DEFAULT_INDEXED_COLUMNS)
    return leaves if first < 0 else leaves[:first]


def _named(leaves: Iterable[Path], *names: str) -> list[Path]:
    """Return the leaves that have one of some names, or are in a struct that has one."""
    prefixes = [folded(parse_path(name)) for name in names]
    return [leaf for leaf in leaves if any(folded(leaf)[: len(p)] == p for p in prefixes)]


def statistics_names(text: str) -> list[str]:
    """Split the names in ``delta.dataSkippingStatsColumns`` at the commas outside backticks."""
    names = map(str.strip, re.findall(r"(?:`[^`]*`?|[^`,])+", text))
    return [name for name in names if name]


def restored_settings(before: str, schema: StructType) -> tuple[dict[str, str], list[str]]:
    """Read what was set before ``guarding_settings``, from ``SAVED_SETTINGS_PROPERTY``.

    It has the properties to set, and those to unset after them, ``SAVED_SETTINGS_PROPERTY`` too.
    Delta refuses a name that the schema lacks: another run can have renamed or dropped the column.
    """
    values = json.loads(before)
    if names := values.get(STATISTICS_COLUMNS):
        leaves = list(leaves_with_statistics(schema))
        kept = [name for name in statistics_names(names) if _named(leaves, name)]
        values[STATISTICS_COLUMNS] = ",".join(kept) or None
    were_set = {key: text for key, text in values.items() if text is not None}
    were_unset = [key for key, text in values.items() if text is None]
    return were_set, [*were_unset, SAVED_SETTINGS_PROPERTY]


def renamed_settings(
    properties: Mapping[str, str], rename: Callable[[Path], Path]
) -> dict[str, str]:
    """Return the settings that have names of columns, after a rename.

    Source:
        Delta's RENAME COLUMN does the same, but not in what is saved
    """

    def renamed(names: str) -> str:
        return ",".join(path_sql(rename(parse_path(name))) for name in statistics_names(names))

    changed = {}
    if STATISTICS_COLUMNS in properties:
        changed[STATISTICS_COLUMNS] = renamed(properties[STATISTICS_COLUMNS])
    if SAVED_SETTINGS_PROPERTY in properties:
        saved = json.loads(properties[SAVED_SETTINGS_PROPERTY])
        if saved.get(STATISTICS_COLUMNS):
            saved[STATISTICS_COLUMNS] = renamed(saved[STATISTICS_COLUMNS])
        changed[SAVED_SETTINGS_PROPERTY] = json.dumps(saved)
    return changed


def settings_before(snapshot: TableSnapshot) -> str:
    """Return the saved settings, or in the same form the current ones if none are saved."""
    before = {key: snapshot.properties.get(key) for key in (INDEXED_COLUMNS, STATISTICS_COLUMNS)}
    return snapshot.properties.get(SAVED_SETTINGS_PROPERTY) or json.dumps(before)
