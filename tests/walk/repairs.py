"""The oracle of renames, additions, widenings, backfills and restores: what a table must have."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructField, StructType

from tests.walk.casts import (
    Path,
    alike,
    children,
    converted,
    is_cast,
    leaves,
    moved,
    type_at,
    value_with_name,
    widened,
    with_name,
)
from tests.walk.exact import same
from tests.walk.model import Row

ID, PART = "id", "part"
OWN = (StructField(ID, spark.LongType()), StructField(PART, spark.IntegerType()))
"""The columns that no step changes: the key, and the partition."""


@dataclass(frozen=True)
class Model:
    """A model: the settings that stay, and what it produces now.

    Attributes:
        strategy: its incremental_strategy.
        mode: its on_schema_change.
        has_mapping: whether its table has column mapping, without which nothing is renamed.
        rewrites: its rewrite_widened_files. None leaves it unset.
        schema, rows: the output of its full query; the rows by ``id``.
        repeated: the key of a row that the full query has twice.
    """

    name: str
    strategy: str
    mode: str
    has_mapping: bool
    rewrites: bool | None
    schema: StructType
    rows: Mapping[int, Row]
    repeated: int | None = None


@dataclass(frozen=True)
class Stored:
    """A table.

    Attributes:
        earlier: the types that its leaves had before, as Delta records them.
    """

    schema: StructType
    rows: Mapping[int, Row]
    earlier: Mapping[Path, tuple[DataType, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Edit:
    """Values that a statement of plain SQL writes to a column, as another adapter would.

    Attributes:
        type: the type of the values, which the statement casts to the column's.
        values: the values by ``id``.
    """

    column: str
    type: DataType
    values: Mapping[int, Any]

    def made(self, table: Stored) -> Stored:
        (column,) = [f.dataType for f in table.schema.fields if f.name == self.column]
        cut = {n: converted(value, self.type, column) for n, value in self.values.items()}
        rows = {
            number: {**row, self.column: cut[number]} if number in cut else row
            for number, row in table.rows.items()
        }
        return replace(table, rows=rows)


@dataclass(frozen=True)
class Run:
    """A run of the model.

    Attributes:
        written: the keys of the rows that the incremental query has.
        renamed: renamed_columns, as paths with the new names, each with the old name.
        backfills: backfill_new_columns.
        defaults: the defaults of an enforced contract, by column.
        is_full: whether it is a full refresh.
    """

    written: Sequence[int] = ()
    renamed: Mapping[Path, str] = field(default_factory=dict)
    backfills: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)
    is_full: bool = False


@dataclass(frozen=True)
class Operation:
    """An operation on the table.

    Attributes:
        columns: the argument ``columns``. Empty if it is left out.
        above: the rows with a greater ``id`` are meant. None means all.
    """

    name: str
    columns: Sequence[str] = ()
    above: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What a step must lead to.

    Attributes:
        table: the table after it.
        refused: why it must be refused before it changes anything, as text that the error has.
            None if it must not.
        failure: text that the error of an operation must have although it has changed the table.
        counts: the numbers that the operation's document must have.
        backfilled: the columns that existing rows get values for, and the number of these rows.
        renamed: the renames that the table needs, as new paths with the old ones.
        changed: the leaves whose types change.
        added: the new columns and fields.
        filled: how many rows that existed get a default.
    """

    table: Stored
    refused: str | None = None
    failure: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    backfilled: Mapping[str, int] = field(default_factory=dict)
    renamed: Mapping[Path, Path] = field(default_factory=dict)
    changed: frozenset[Path] = frozenset()
    added: frozenset[Path] = frozenset()
    filled: int = 0


def after_run(model: Model, run: Run, table: Stored) -> Outcome:
    """Return what a run must lead to."""
    if run.is_full:
        return Outcome(Stored(model.schema, dict(model.rows)))
    reason = _rename_problem(model, run.renamed, table)
    if reason:
        return Outcome(table, refused=reason)
    renamed, steps = after_renames(run.renamed, table)
    schema = widened(renamed.schema, model.schema)
    if schema is None:
        return Outcome(table, refused="can't take the model's output")
    assert isinstance(schema, StructType)
    new = [name for name in schema.names if name not in renamed.schema.names]
    from_query = [name for name in new if name not in run.defaults]
    if run.backfills and from_query and model.repeated is not None:
        return Outcome(table, refused="keys have several rows in the model's full query")
    changed = with_schema(renamed, schema)
    filled = {
        number: {**row, **run.defaults} if run.backfills else row
        for number, row in changed.rows.items()
    }
    rows = _written(model, run.written, schema, filled)
    backfilled: dict[str, int] = {}
    if run.backfills and from_query:
        rows, backfilled = _backfilled(model, from_query, schema, rows)
    if model.mode == "sync_all_columns":
        rows, changed = _without_dropped(model, rows, changed)
    return Outcome(
        replace(changed, rows=rows),
        backfilled=backfilled,
        renamed=steps,
        changed=_changed_leaves(renamed.schema, schema),
        added=frozenset(_new_fields(renamed.schema, schema)),
        filled=len(filled) if run.backfills and run.defaults else 0,
    )


def _rename_problem(model: Model, renamed: Mapping[Path, str], table: Stored) -> str:
    """Return what the error says if the lines are refused: the table in docs/renames.md."""
    old = {(*new[:-1], name) for new, name in renamed.items()}
    if old & renamed.keys():
        return "which is also a new name"
    now = table
    for new, name in _outer_first(renamed):
        before = (*new[:-1], name)
        has_new, has_old = (type_at(now.schema, path) is not None for path in (new, before))
        gives_old = type_at(model.schema, before) is not None
        if type_at(model.schema, new) is None:
            return "the model has no such column"
        if not has_new and not has_old:
            return "the table has neither"
        if gives_old and not has_new:
            return "the model still has the old name"
        if has_new and has_old and not gives_old:
            return "the table has both"
        if not has_new and not model.has_mapping:
            return "column mapping"
        now, _ = after_renames({new: name}, now)
    return ""


def _outer_first(renamed: Mapping[Path, str]) -> list[tuple[Path, str]]:
    """Return the lines in the order of the renames: an old name is one in the renamed struct."""
    return sorted(renamed.items(), key=lambda line: len(line[0]))


def after_renames(renamed: Mapping[Path, str], table: Stored) -> tuple[Stored, dict[Path, Path]]:
    """Make the renames that have not been made. Return them, as new paths with the old ones."""
    steps: dict[Path, Path] = {}
    for new, name in _outer_first(renamed):
        before = (*new[:-1], name)
        if type_at(table.schema, new) is not None:
            continue
        steps[new] = before
        schema = with_name(table.schema, before, new[-1])
        assert isinstance(schema, StructType)
        rows = {
            number: value_with_name(row, table.schema, before, new[-1])
            for number, row in table.rows.items()
        }
        earlier = {moved(path, before, new[-1]): kept for path, kept in table.earlier.items()}
        table = Stored(schema, rows, earlier)
    return table, steps


def with_schema(table: Stored, schema: StructType) -> Stored:
    """Give a table wider types and new columns, as ALTER TABLE does."""
    rows = {n: converted(row, table.schema, schema) for n, row in table.rows.items()}
    earlier = dict(table.earlier)
    for path in _changed_leaves(table.schema, schema):
        before = type_at(table.schema, path)
        assert before is not None
        earlier[path] = (*earlier.get(path, ()), before)
    return Stored(schema, rows, earlier)


def _changed_leaves(before: StructType, after: StructType) -> frozenset[Path]:
    types = dict(leaves(after))
    return frozenset(path for path, kind in leaves(before) if types[path] != kind)


def _new_fields(before: DataType, after: DataType, path: Path = ()) -> Iterator[Path]:
    had = children(before)
    for name, inner in children(after).items():
        if name in had:
            yield from _new_fields(had[name], inner, (*path, name))
        else:
            yield (*path, name)


def _written(
    model: Model, keys: Sequence[int], schema: StructType, rows: Mapping[int, Row]
) -> dict[int, Row]:
    """Return the rows of a table after the write, by the strategy."""
    given = {key: converted(model.rows[key], model.schema, schema) for key in keys}
    if model.strategy == "insert_overwrite":
        parts = {row[PART] for row in given.values()}
        rows = {number: row for number, row in rows.items() if row[PART] not in parts}
    if model.strategy == "merge":
        # A column that the model lacks keeps its value in a row that exists.
        names = model.schema.names
        given = {
            key: {**rows[key], **{name: row[name] for name in names}} if key in rows else row
            for key, row in given.items()
        }
    return {**rows, **given}


def _backfilled(
    model: Model, names: Sequence[str], schema: StructType, rows: Mapping[int, Row]
) -> tuple[dict[int, Row], dict[str, int]]:
    """Give rows the values of the full query in new columns, where they have null."""
    found, count = dict(rows), 0
    for key in rows.keys() & model.rows.keys():
        full = converted(model.rows[key], model.schema, schema)
        missing = {n: full[n] for n in names if rows[key][n] is None and full[n] is not None}
        found[key] = {**rows[key], **missing}
        count += bool(missing)
    return found, dict.fromkeys(names, count)


def _without_dropped(
    model: Model, rows: Mapping[int, Row], table: Stored
) -> tuple[dict[int, Row], Stored]:
    """Drop the columns that the model lacks."""
    names = [name for name in table.schema.names if name in model.schema.names]
    schema = StructType([f for f in table.schema.fields if f.name in names])
    kept = {number: {name: row[name] for name in names} for number, row in rows.items()}
    earlier = {path: types for path, types in table.earlier.items() if path[0] in names}
    return kept, Stored(schema, kept, earlier)


@dataclass(frozen=True)
class _Pair:
    """A column or a field of a struct that the model and the table have."""

    path: Path
    produced: DataType
    stored: DataType

    @property
    def is_struct(self) -> bool:
        return isinstance(self.produced, StructType) and isinstance(self.stored, StructType)

    def judge(self, produced: Row, stored: Row, table: Stored) -> tuple[bool, bool]:
        """Return whether the values of two rows differ, and whether a cast explains it."""
        value, kept = _at(produced, self.path), _at(stored, self.path)
        if self.is_struct:
            return (value is None) is not (kept is None), False
        if alike(value, self.produced, kept, self.stored):
            return False, False
        return True, is_cast(value, self.produced, kept, self.stored, table.earlier, self.path)


def _at(row: Row, path: Path) -> Any:
    value: Any = row
    for name in path:
        value = None if value is None else value[name]
    return value


def _pairs(model: StructType, table: StructType, path: Path = ()) -> Iterator[_Pair]:
    gives = children(model)
    for name, kept in children(table).items():
        if name in gives:
            yield _Pair((*path, name), gives[name], kept)
            given = gives[name]
            if isinstance(given, StructType) and isinstance(kept, StructType):
                yield from _pairs(given, kept, (*path, name))


@dataclass(frozen=True)
class _Compared:
    """The rows of a model and of its table.

    Attributes:
        found: for each key that both have, the places that differ, and whether a cast explains it.
        counts: the numbers of rows.
    """

    found: Mapping[int, Mapping[Path, bool]]
    counts: Mapping[str, int]

    def explained(self, key: int) -> bool:
        return all(self.found[key].values())

    def names(self, key: int) -> set[str]:
        return {path[0] for path in self.found[key]}


def _compare(model: Model, operation: Operation, table: Stored) -> _Compared:
    pairs = [
        pair
        for pair in _pairs(model.schema, table.schema)
        if pair.path[0] != ID and (not operation.columns or pair.path[0] in operation.columns)
    ]
    above = operation.above
    stored = {n: row for n, row in table.rows.items() if above is None or n > above}
    both = sorted(stored.keys() & model.rows.keys())
    found: dict[int, dict[Path, bool]] = {}
    for key in both:
        judged = {p.path: p.judge(model.rows[key], stored[key], table) for p in pairs}
        found[key] = {path: cast for path, (differs, cast) in judged.items() if differs}
    counts = {
        "produced": len(model.rows),
        "stored": len(stored),
        "compared": len(both),
        "only_produced": len(model.rows) - len(both),
        "only_stored": len(stored) - len(both),
    }
    return _Compared(found, counts)


def after_backfill(model: Model, operation: Operation, table: Stored) -> Outcome:
    """Return what backfill_columns must lead to."""
    problem = _column_problem(model, operation, table)
    if problem:
        return Outcome(table, refused=problem)
    compared = _compare(model, operation, table)
    if model.repeated is not None and model.repeated in compared.found:
        return Outcome(table, refused="several rows have")
    changed = [key for key, places in compared.found.items() if places]
    columns = {name for key in changed for name in compared.names(key)}
    wide = {f.name: f.dataType for f in model.schema.fields}
    for key in changed:
        for column in [f for f in table.schema.fields if f.name in columns]:
            value = model.rows[key][column.name]
            kept = converted(value, wide[column.name], column.dataType)
            if not same(value, wide[column.name], kept, column.dataType):
                return Outcome(table, refused="LOSSY_VALUE")
    counts = {**compared.counts, "to_change": len(changed)}
    return Outcome(_with_values(model, changed, columns, table), counts=counts)


def _column_problem(model: Model, operation: Operation, table: Stored) -> str:
    for name in operation.columns:
        if "." in name:
            return "it names what is inside a column"
        if name == ID:
            return "it is in unique_key, by which the rows are found"
        if name not in model.schema.names:
            return "the model's query has no such column"
        if name not in table.schema.names:
            return "the table has no such column"
    return ""


def after_restore(model: Model, operation: Operation, table: Stored) -> Outcome:
    """Return what restore_values must lead to."""
    problem = _column_problem(model, operation, table)
    if problem:
        return Outcome(table, refused=problem)
    compared = _compare(model, operation, table)
    if model.repeated is not None and model.repeated in compared.found:
        return Outcome(table, refused="several rows have")
    explained = [key for key in compared.found if compared.explained(key)]
    lost = {name for key in explained for name in compared.names(key)}
    gives, has = children(model.schema), children(table.schema)
    wide = {name: widened(has[name], gives[name]) for name in lost}
    types = {name: data_type for name, data_type in wide.items() if data_type is not None}
    changed = [key for key in explained if compared.names(key) & types.keys()]
    by_cast = [key for key, places in compared.found.items() if any(places.values())]
    counts = {
        **compared.counts,
        "to_change": len(changed),
        "not_explained": len([key for key in by_cast if not compared.explained(key)]),
    }
    schema = StructType(
        [StructField(f.name, types.get(f.name, f.dataType)) for f in table.schema.fields]
    )
    return Outcome(
        _with_values(model, changed, types.keys(), with_schema(table, schema)),
        failure="widen_columns --args" if len(types) < len(wide) else "",
        counts=counts,
        changed=_changed_leaves(table.schema, schema),
    )


def _with_values(
    model: Model, keys: Sequence[int], columns: set[str] | Any, table: Stored
) -> Stored:
    """Give columns of some rows the values of the model."""
    rows = dict(table.rows)
    for key in keys:
        full = converted(model.rows[key], model.schema, table.schema)
        rows[key] = {**rows[key], **{name: full[name] for name in columns}}
    return replace(table, rows=rows)
