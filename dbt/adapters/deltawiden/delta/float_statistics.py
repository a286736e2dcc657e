"""The statistics of data files, where a float column becomes double.

Delta keeps the least and the greatest value of a column in each file as text. For a float that is
the shortest text that reads as this float: ``0.7``. As a double it is another number, since the
value that is stored is 0.699999988079071. So a filter on the column, once it is double, leaves out
files that hold rows it should find. The text ``0.699999988079071`` is right for both types.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.delta.stale_types import physical_name
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path, parse_path, path_sql
from dbt.adapters.deltawiden.sql.statements import rewrite_rows, set_properties, unset_properties
from dbt.adapters.deltawiden.sql.types import nearest_float

BOUNDS = ("minValues", "maxValues")
"""The fields of a file's statistics that hold values of columns."""

INDEXED_COLUMNS = "delta.dataSkippingNumIndexedCols"
STATISTICS_COLUMNS = "delta.dataSkippingStatsColumns"
BEFORE = "dbt_deltawiden.statisticsBefore"
"""The table property that says, as JSON, what the other two were before a widening set them."""

_DEFAULT_INDEXED_COLUMNS = "32"
# Delta's SkippingEligibleDataType. Of other types it keeps only how often they are null.
_WITH_BOUNDS = (
    spark.NumericType,
    spark.StringType,
    spark.DateType,
    spark.TimestampType,
    spark.TimestampNTZType,
)


def is_float_to_double(change: TypeChange) -> bool:
    """Tell whether a type change is the one whose statistics have to be corrected."""
    return isinstance(change.from_type, spark.FloatType) and isinstance(
        change.to_type, spark.DoubleType
    )


def leaves_with_statistics(schema: StructType) -> dict[Path, DataType]:
    """List the leaves of which Delta can keep statistics: columns, and fields of structs.

    Args:
        schema: a table's schema.

    Returns:
        Their types by path. Elements of arrays, and keys and values of maps, have no statistics.

    Source:
        Delta's protocol, "Per-file Statistics"
    """
    return dict(_leaves(schema, ()))


def _leaves(schema: StructType, parent: Path) -> Iterator[tuple[Path, DataType]]:
    for field in schema.fields:
        path = (*parent, field.name)
        if isinstance(field.dataType, StructType):
            yield from _leaves(field.dataType, path)
        else:
            yield path, field.dataType


def widened_floats(changes: Iterable[TypeChange], schema: StructType) -> tuple[Path, ...]:
    """Find the leaves with statistics that were float, and are double now.

    Args:
        changes: a table's recorded type changes.
        schema: the table's schema.

    Returns:
        Their paths.
    """
    doubles = {
        path
        for path, data_type in leaves_with_statistics(schema).items()
        if isinstance(data_type, spark.DoubleType)
    }
    widened = (change.path for change in changes if is_float_to_double(change))
    return tuple(dict.fromkeys(path for path in widened if path in doubles))


def physical_path(path: Path, schema: StructType) -> Path:
    """Translate the path of a column or of a struct's field into the names that files have.

    Args:
        path: the path, in the schema's spelling.
        schema: the table's schema with the metadata that Delta keeps in it, as the log has it.

    Returns:
        The path in physical names, which the statistics have too.
    """
    field = schema[path[0]]
    inside = physical_path(path[1:], field.dataType) if len(path) > 1 else ()  # type: ignore[arg-type]
    return (physical_name(field), *inside)


@dataclass(frozen=True)
class _Number:
    """A number of a JSON document, as it is written there."""

    text: str


def corrected(statistics: str, leaves: Iterable[Path]) -> str:
    """Write the bounds of float leaves so that they read as the same number as float and as double.

    Args:
        statistics: the statistics of a file, as JSON.
        leaves: the float leaves, in physical names.

    Returns:
        The statistics; all else in them has the text that it had.

    Source:
        https://docs.python.org/3/library/functions.html#repr: of a float, the shortest text that
        reads as the same double
    """
    values = json.loads(statistics, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    for leaf in leaves:
        for bound in BOUNDS:
            _correct(values.get(bound), leaf)
    return _json(values)


def _correct(bounds: Any, leaf: Path) -> None:
    for name in leaf[:-1]:
        bounds = bounds.get(name) if isinstance(bounds, dict) else None
    # NaN and Infinity are strings, and read the same as either type.
    found = bounds.get(leaf[-1]) if isinstance(bounds, dict) else None
    if isinstance(found, _Number):
        value = _float_statistic(found.text)
        if math.isfinite(value) and value != float(found.text):
            bounds[leaf[-1]] = _Number(repr(value))


def _float_statistic(text: str) -> float:
    try:
        return nearest_float(text)
    except OverflowError:  # no float, so no float's statistics
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
    """Change float leaves of a table's schema to double.

    Args:
        schema_json: the schema as the log has it.
        leaves: columns and fields of structs, in the schema's spelling.

    Returns:
        The schema with ``double`` where these are ``float``.
    """
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


def guard_statements(facts: TableSnapshot, leaves: Iterable[Path]) -> tuple[str, ...]:
    """Keep every writer from giving new files statistics of some leaves.

    Args:
        facts: the table, with its schema.
        leaves: the leaves.

    Returns:
        Statements. The first is one commit, which also keeps what ``restore_statements`` needs.

    Source:
        https://docs.delta.io/latest/optimizations-oss.html#data-skipping;
        ``delta.dataSkippingStatsColumns`` comes before ``delta.dataSkippingNumIndexedCols``
    """
    remembered = settings_before(facts)
    others = _others_with_statistics(facts, frozenset(leaves))
    if others:
        names = ",".join(path_sql(path) for path in others)
        return (set_properties(facts.name, {BEFORE: remembered, STATISTICS_COLUMNS: names}),)
    is_named = STATISTICS_COLUMNS in facts.properties
    unset = (unset_properties(facts.name, [STATISTICS_COLUMNS]),) if is_named else ()
    return (set_properties(facts.name, {BEFORE: remembered, INDEXED_COLUMNS: "0"}), *unset)


def _others_with_statistics(facts: TableSnapshot, leaves: frozenset[Path]) -> list[Path]:
    """List the leaves that keep their statistics."""
    partitioned_by = {name.lower() for name in facts.partition_columns}
    all_leaves = {
        path: data_type
        for path, data_type in leaves_with_statistics(facts.schema).items()
        if path[0].lower() not in partitioned_by
    }
    return [
        path
        for path in _with_statistics(list(all_leaves), facts.properties)
        if path not in leaves and isinstance(all_leaves[path], _WITH_BOUNDS)
    ]


def _with_statistics(leaves: list[Path], properties: Mapping[str, str]) -> list[Path]:
    remembered = json.loads(properties[BEFORE]) if BEFORE in properties else properties
    named = remembered.get(STATISTICS_COLUMNS)
    if named is not None:
        starts = [_folded(parse_path(name)) for name in _names(named)]
        return [leaf for leaf in leaves if any(_folded(leaf)[: len(s)] == s for s in starts)]
    first = int(remembered.get(INDEXED_COLUMNS) or _DEFAULT_INDEXED_COLUMNS)
    return leaves if first < 0 else leaves[:first]


def _names(text: str) -> Iterator[str]:
    """Split a list of names at the commas that are not in backticks."""
    name, is_quoted = "", False
    for character in text:
        is_quoted ^= character == "`"
        if character == "," and not is_quoted:
            yield name.strip()
            name = ""
        else:
            name += character
    if name.strip():
        yield name.strip()


def _folded(path: Path) -> Path:
    return tuple(name.lower() for name in path)


def restore_statements(name: str, before: str) -> tuple[str, ...]:
    """Let writers keep statistics as they did before ``guard_statements``.

    Args:
        name: the table's name, quoted for a statement.
        before: the value of the property ``BEFORE``.

    Returns:
        Statements, of which the last forgets what was before.
    """
    values = json.loads(before)
    had = {key: text for key, text in values.items() if text is not None}
    lacked = [key for key, text in values.items() if text is None]
    return (
        *([set_properties(name, had)] if had else []),
        unset_properties(name, [*lacked, BEFORE]),
    )


def settings_before(facts: TableSnapshot) -> str:
    """Say which columns have statistics, as ``BEFORE`` keeps it, if a widening has not said it."""
    before = {key: facts.properties.get(key) for key in (INDEXED_COLUMNS, STATISTICS_COLUMNS)}
    return facts.properties.get(BEFORE) or json.dumps(before)


def rewrite_statement(name: str, leaf: Path) -> str:
    """Write every row of a table anew, into files with the statistics that writers keep now.

    Args:
        name: the table's name, quoted for a statement.
        leaf: any leaf; its column is set to itself.

    Returns:
        The statement. To whoever reads the table's changes, it changes every row.
    """
    return rewrite_rows(name, leaf[0])
