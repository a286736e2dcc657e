"""``report_type_widening``: show a table's type changes, and what dropping the feature needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.events.format import pluralize

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.change_history import DatedChange, read_dated_changes
from dbt.adapters.deltawiden.delta.float_statistics import (
    SAVED_SETTINGS_PROPERTY,
    is_float_to_double,
    widened_floats,
)
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.delta.relations import provider, relation_sql
from dbt.adapters.deltawiden.delta.stale_types import misread_by_filters
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.delta.widened_files import has_misread_files, misread_columns
from dbt.adapters.deltawiden.operations.maintenance.repair_statistics import (
    find_wrong,
    partition_text,
    partitioned_by_float,
)
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    run_on_each,
    text_table,
)
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.types import schema_from_json, type_text


@dataclass(frozen=True)
class ReportResults(OperationResults):
    """The results of ``report_type_widening`` for all tables."""

    OUTPUTS = ("text", "json", "html")

    changes: Mapping[str, Sequence[DatedChange]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        rows = [_row(table, change) for table, made in self.changes.items() for change in made]
        return "\n\n".join(filter(None, [super().text, text_table(rows) if rows else ""]))


def _row(table: str, dated: DatedChange) -> dict[str, str]:
    return {
        "table": table,
        "when": dated.time_text,
        "column": path_text(dated.change.path),
        "from": type_text(dated.change.from_type),
        "to": type_text(dated.change.to_type),
        "by": dated.maker,
        "invocation": dated.invocation_id or "-",
    }


def report_type_widening(backend: SqlBackend, tables: Iterable[SparkRelation]) -> ReportResults:
    """Report what type widening has done to tables, and which relations are not Delta tables."""
    changes: dict[str, tuple[DatedChange, ...]] = {}
    results = run_on_each(
        "report_type_widening", tables, relation_sql, partial(_report_table, backend, changes)
    )
    return ReportResults(results.operation, results.each, changes=changes)


def _report_table(
    backend: SqlBackend, changes: dict[str, tuple[DatedChange, ...]], table: SparkRelation
) -> OperationResult:
    if not table.is_delta:
        return _not_delta(relation_sql(table), provider(table))
    snapshot = backend.snapshot(table)
    statistics = _read_statistics(backend, table, snapshot)
    filters = _read_filters(backend, table, snapshot)
    dated = read_dated_changes(backend, snapshot)
    if dated:
        changes[relation_sql(table)] = dated
    return _report(snapshot, statistics, filters, dated)


@dataclass(frozen=True)
class _Statistics:
    """The errors in the statistics of a table's files. With SQL alone, ``files`` is None."""

    columns: tuple[Path, ...]
    files: int | None
    has_saved_settings: bool
    partition_columns: tuple[str, ...]

    @property
    def text(self) -> str:
        """The errors as a text for people."""
        found = []
        names = ", ".join(path_text(path) for path in self.columns)
        if self.columns and self.files is None:
            found.append(f"may be wrong for {names}; SQL can't tell; run {_REPAIR} to find out")
        elif self.files:
            found.append(f"wrong for {names} in {pluralize(self.files, 'file')}; run {_REPAIR}")
        if self.has_saved_settings:
            found.append(f"not collected for all columns since a widening stopped; run {_REPAIR}")
        return "; ".join([*found, *filter(None, [partition_text(self.partition_columns)])])


_REPAIR = "dbt run-operation repair_statistics"


def _read_statistics(
    backend: SqlBackend, table: SparkRelation, snapshot: TableSnapshot
) -> _Statistics:
    columns: tuple[Path, ...] = ()
    files: int | None = 0
    if any(map(is_float_to_double, snapshot.changes)):
        columns, files = widened_floats(snapshot.changes, backend.schema(table)), None
        if backend.corrects_statistics:
            data_files = backend.data_files(table, writes_rows=False)
            schema = schema_from_json(data_files.log_schema())
            files = len(find_wrong(data_files, schema, columns))
    partition_columns = partitioned_by_float(snapshot, snapshot.changes)
    return _Statistics(
        columns, files, SAVED_SETTINGS_PROPERTY in snapshot.properties, partition_columns
    )


@dataclass(frozen=True)
class _Filters:
    """What Spark can miss without dbt's settings. ``are_wrong`` is None if it is not known."""

    columns: tuple[Path, ...] = ()
    are_wrong: bool | None = False

    @property
    def text(self) -> str:
        """What they can miss as a text for people."""
        names = ", ".join(map(path_text, self.columns))
        if self.are_wrong:
            return f"without dbt's two settings, Spark can miss rows by {names}; run {_REWRITE}"
        if self.are_wrong is None:
            return (
                f"without dbt's two settings, Spark may miss rows by {names}; SQL can't tell; run "
                f"{_REWRITE} with dry_run to find out"
            )
        return ""


_REWRITE = "dbt run-operation rewrite_widened_files"


def _read_filters(backend: SqlBackend, table: SparkRelation, snapshot: TableSnapshot) -> _Filters:
    if not any(misread_by_filters(c.from_type, c.to_type) for c in snapshot.changes):
        return _Filters()
    columns = misread_columns(snapshot.changes, backend.schema(table), snapshot.partition_columns)
    if not columns:
        return _Filters()
    files = backend.data_files(table, writes_rows=False)
    if not files.rewrites_single_files:
        return _Filters(columns, None)
    schema = schema_from_json(files.log_schema())
    return _Filters(columns, has_misread_files(files, schema, columns))


def _report(
    snapshot: TableSnapshot,
    statistics: _Statistics,
    filters: _Filters,
    changes: tuple[DatedChange, ...],
) -> OperationResult:
    features = snapshot.widening_features
    protocol = (
        snapshot.properties.get("delta.minReaderVersion", ""),
        snapshot.properties.get("delta.minWriterVersion", ""),
    )
    compatible = sorted(format.value for format in snapshot.compatible_with)
    needed = _needed_to_drop(features, snapshot.changes)
    return OperationResult(
        snapshot.name,
        shown={
            "enabled": "yes" if snapshot.has(TYPE_WIDENING_PROPERTY) else "no",
            "feature": ", ".join(features) or "-",
            "reader, writer": ", ".join(protocol),
            "type changes": "; ".join(change.text for change in snapshot.changes) or "-",
            "compatible with": ", ".join(compatible) or "-",
            "statistics": statistics.text or "-",
            "filters": filters.text or "-",
            "to drop the feature": needed,
        },
        values={
            "enabled": snapshot.has(TYPE_WIDENING_PROPERTY),
            "features": features,
            "reader_version": int(protocol[0] or 0),
            "writer_version": int(protocol[1] or 0),
            "type_changes": [change.value for change in changes],
            "compatible_with": compatible,
            "files_with_wrong_statistics": statistics.files,
            "statistics": statistics.text,
            "filters_miss_rows": filters.are_wrong,
            "filters": filters.text,
            "to_drop": needed,
        },
    )


_COLUMNS = (
    *("enabled", "feature", "reader, writer", "type changes"),
    *("compatible with", "statistics", "filters"),
)


def _not_delta(name: str, format: str) -> OperationResult:
    shown = dict.fromkeys(_COLUMNS, "-")
    text = f"no Delta table ({format})"
    return OperationResult(name, {**shown, "to drop the feature": text}, {"format": format})


_DROP = "dbt run-operation drop_type_widening"


def _needed_to_drop(features: list[str], changes: tuple[TypeChange, ...]) -> str:
    """Return what a drop needs, as far as the properties and the schema of a table show it."""
    if features and changes:
        return "a rewrite of the data files that are older than the changes"
    if features:
        needs = "no type change is recorded now; files and history can still have one"
    elif changes:
        return f"the table does not have it, but has recorded type changes; {_DROP} removes them"
    else:
        # Delta's own DROP FEATURE leaves them.
        needs = "the table does not have it; files can still have older types"
    return f"{needs}: run {_DROP} with dry_run to find out"
