"""``report_type_widening``: what type widening has done to a table, and what dropping it needs."""

import json
from dataclasses import dataclass

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.events.format import pluralize
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.float_statistics import (
    BEFORE,
    is_float_to_double,
    widened_floats,
)
from dbt.adapters.deltawiden.delta.protocol import ENABLED
from dbt.adapters.deltawiden.delta.reader import Reader
from dbt.adapters.deltawiden.delta.relations import provider, quoted
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.repair_statistics import (
    find_wrong,
    partition_text,
    partitioned_by_float,
)
from dbt.adapters.deltawiden.operations.result import OperationResult
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text


def report_table(reader: Reader, table: SparkRelation) -> OperationResult:
    """Tell what is known of a table's type widening.

    Args:
        reader: reads it.
        table: the table.

    Returns:
        The report; that a relation is no Delta table is no failure.
    """
    if not table.is_delta:
        return _not_delta(quoted(table), provider(table))
    facts = reader.facts(table, layout=True, changes=True)
    return _report(facts, _read_statistics(reader, table, facts))


@dataclass(frozen=True)
class _Statistics:
    """What is wrong with the statistics of a table's files.

    Attributes:
        columns: the columns that were float, and are double now.
        files: how many files have wrong statistics; None where SQL alone can be asked.
        is_set_aside: whether a widening has left behind that columns get no statistics.
        partition_columns: those whose values are other numbers since the change.
    """

    columns: tuple[Path, ...]
    files: int | None
    is_set_aside: bool
    partition_columns: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it for people."""
        found = []
        names = ", ".join(path_text(path) for path in self.columns)
        if self.columns and self.files is None:
            found.append(
                f"of {names} perhaps wrong, which SQL alone can't see: {_REPAIR} finds out"
            )
        elif self.files:
            found.append(f"of {names} wrong in {pluralize(self.files, 'file')}: {_REPAIR}")
        if self.is_set_aside:
            found.append(f"not kept of all columns since a widening stopped: {_REPAIR}")
        return "; ".join([*found, *filter(None, [partition_text(self.partition_columns)])])


_REPAIR = "dbt run-operation repair_statistics"


def _read_statistics(reader: Reader, table: SparkRelation, facts: TableSnapshot) -> _Statistics:
    columns: tuple[Path, ...] = ()
    files: int | None = 0
    if any(map(is_float_to_double, facts.changes)):
        columns, files = widened_floats(facts.changes, reader.schema(table)), None
        if reader.has_jvm:
            data_files = reader.data_files(table, writes_rows=False)
            schema = StructType.fromJson(json.loads(data_files.log_schema()))
            files = len(find_wrong(data_files, schema, columns))
    partition_columns = partitioned_by_float(facts, facts.changes)
    return _Statistics(columns, files, BEFORE in facts.properties, partition_columns)


def _report(facts: TableSnapshot, statistics: _Statistics) -> OperationResult:
    features = facts.widening_features
    protocol = (
        facts.properties.get("delta.minReaderVersion", ""),
        facts.properties.get("delta.minWriterVersion", ""),
    )
    compatible = sorted(each.value for each in facts.compatible_with)
    needed = _needed_to_drop(features, facts.changes)
    return OperationResult(
        facts.name,
        shown={
            "enabled": "yes" if facts.has(ENABLED) else "no",
            "feature": ", ".join(features) or "-",
            "reader, writer": ", ".join(protocol),
            "type changes": "; ".join(each.text for each in facts.changes) or "-",
            "keeps to": ", ".join(compatible) or "-",
            "statistics": statistics.text or "-",
            "to drop the feature": needed,
        },
        values={
            "enabled": facts.has(ENABLED),
            "features": features,
            "reader_version": int(protocol[0] or 0),
            "writer_version": int(protocol[1] or 0),
            "type_changes": [each.value for each in facts.changes],
            "compatible_with": compatible,
            "files_with_wrong_statistics": statistics.files,
            "statistics": statistics.text,
            "to_drop": needed,
        },
    )


_COLUMNS = ("enabled", "feature", "reader, writer", "type changes", "keeps to", "statistics")


def _not_delta(name: str, format: str) -> OperationResult:
    shown = dict.fromkeys(_COLUMNS, "-")
    text = f"no Delta table ({format})"
    return OperationResult(name, {**shown, "to drop the feature": text}, {"format": format})


def _needed_to_drop(features: list[str], changes: tuple[TypeChange, ...]) -> str:
    if not features:
        return "nothing: the table does not have it"
    if not changes:
        return "no rewrite: no type was ever changed"
    return "a rewrite of the data files that are older than the changes"
