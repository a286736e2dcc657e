"""Check the promise after a step: every value is stored exactly, or nothing is written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from tests.walk.drift import OWN
from tests.walk.exact import always_exact, same
from tests.walk.model import NOON, REPLACES_PARTS, Output, Settings
from tests.walk.stored import Contents

# Texts that no user should have to read.
UNCLEAR = (
    "[INTERNAL_ERROR",
    "CAST_WITHOUT_SUGGESTION",
    "[TASK_WRITE_FAILED",
    "Cannot find main error class",
    "\tat ",
    "\n    at ",
    "java.lang.",
    "NullPointerException",
    "Traceback",
)
METADATA = frozenset(
    {"SET TBLPROPERTIES", "CHANGE COLUMNS", "CHANGE COLUMN", "ADD COLUMNS", "COMPUTE STATS"}
)
OWN_NAMES = frozenset(field.name for field in OWN)


@dataclass(frozen=True)
class Expected:
    """A value that a row must have.

    Attributes:
        value, type: the value of the model, or the previous value of the table.
        is_written: whether this step wrote it.
    """

    value: Any
    type: DataType
    is_written: bool


@dataclass(frozen=True)
class Step:
    """One run of one model.

    Attributes:
        before, after: the contents of the table before and after.
        operations: the commits that were made.
        message: the error's text, or None if the run succeeded.
        printed: the output of the dbt invocation.
    """

    name: str
    settings: Settings
    output: Output
    before: Contents
    after: Contents
    operations: list[str]
    message: str | None
    printed: str


@dataclass(frozen=True)
class Violation:
    """A broken promise.

    Attributes:
        kind: what is wrong.
        column: where, if it is about a column.
        details: the observed values.
    """

    kind: str
    column: str
    details: str


def judge(step: Step) -> Iterator[Violation]:
    """Yield the violations of a step."""
    if step.message is None:
        yield from _judge_rows(step)
        yield from _judge_columns(step)
        return
    finds_value = step.settings.changes_columns and "Nothing was written." in step.message
    if finds_value and step.after.count == step.before.count and not _are_written(step):
        return  # The table follows the plan before the write, which alone sees the values.
    if step.after.rows != step.before.rows and repr(step.after.rows) != repr(step.before.rows):
        yield Violation("failed, and rows changed", "", step.message)
    elif set(step.operations) - METADATA:
        yield Violation("failed, and wrote", "", f"{step.operations}: {step.message}")
    elif step.operations:
        yield Violation("altered, then failed", "", f"{step.operations}: {step.message}")
    yield from _judge_message(step, step.message)


def _are_written(step: Step) -> bool:
    return bool(set(step.operations) - METADATA)


def _judge_message(step: Step, message: str) -> Iterator[Violation]:
    differing = differing_columns(step.output.schema, step.before.schema)
    unclear = [text for text in UNCLEAR if text in message]
    if unclear:
        yield Violation("unclear error", ", ".join(sorted(differing)), f"{unclear}: {message}")
    if not differing:
        yield Violation("failed without a difference", "", message)
    elif not any(re.search(rf"\b{name}\b", message) for name in differing):
        yield Violation("error names no column", ", ".join(sorted(differing)), message)


def differing_columns(source: StructType, table: StructType) -> set[str]:
    """Name the columns that the types alone don't make exact, or that one side lacks."""
    given = {field.name: field.dataType for field in source.fields}
    kept = {field.name: field.dataType for field in table.fields}
    return {
        name
        for name in given.keys() | kept.keys()
        if name not in given or name not in kept or not always_exact(given[name], kept[name])
    }


def _judge_columns(step: Step) -> Iterator[Violation]:
    for name in step.output.schema.names:
        if name not in step.after.schema.names and step.settings.mode != "ignore":
            yield Violation("column not written", name, f"{step.after.schema.simpleString()}")
        left_out = name not in step.after.schema.names and step.settings.mode == "ignore"
        if left_out and not re.search(rf"{step.name}.*\b{name}\b", step.printed):
            yield Violation("left out in silence", name, "no warning names the column")
    for name in step.before.schema.names:
        if name not in step.after.schema.names and step.settings.mode != "sync_all_columns":
            yield Violation("column lost", name, f"{step.after.schema.simpleString()}")


def _judge_rows(step: Step) -> Iterator[Violation]:
    expected = expected_rows(step)
    after = step.after
    if after.count != len(after.rows) or set(after.rows) != set(expected):
        details = f"ids {sorted(after.rows)} ({after.count} rows), not {sorted(expected)}"
        yield Violation("wrong rows", "", details)
    for number in sorted(set(after.rows) & set(expected)):
        for field in after.schema.fields:
            stored = after.rows[number][field.name]
            wanted = expected[number].get(field.name, Expected(None, field.dataType, False))
            if not _is_kept(step, wanted, stored, field.dataType):
                details = (
                    f"id {number}: {wanted.value!r} ({wanted.type.simpleString()}) is stored as "
                    f"{stored!r} ({field.dataType.simpleString()})"
                )
                yield Violation("value changed", field.name, details)


def _is_kept(step: Step, wanted: Expected, stored: Any, column: DataType) -> bool:
    lossy = step.settings.accepts_loss and wanted.is_written
    value, source = wanted.value, wanted.type
    if step.settings.mode == "sync_all_columns" and not wanted.is_written:
        value, source = without_dropped(value, source, column)
    return same(value, source, stored, column, lossy)


def expected_rows(step: Step) -> dict[int, dict[str, Expected]]:
    """Return the rows that the table must have: the oracle."""
    types = {field.name: field.dataType for field in step.before.schema.fields}
    rows = {
        number: {name: Expected(value, types[name], False) for name, value in row.items()}
        for number, row in step.before.rows.items()
    }
    if step.settings.strategy in REPLACES_PARTS:
        replaced = {row["part"] for row in step.output.rows}
        rows = {number: row for number, row in rows.items() if row["part"].value not in replaced}
    elif step.settings.strategy == "microbatch":
        rows = {number: row for number, row in rows.items() if row["at"].value != NOON}
    given = {field.name: field.dataType for field in step.output.schema.fields}
    for row in step.output.rows:
        written = {name: Expected(value, given[name], True) for name, value in row.items()}
        old = rows.get(row["id"])
        if old is not None and step.output.update_columns:
            written = {name: written[name] for name in step.output.update_columns}
        rows[row["id"]] = {**(old or {}), **written}
    return rows


def without_dropped(value: Any, source: DataType, column: DataType) -> tuple[Any, DataType]:
    """Remove nested fields from a value that the table no longer has."""
    if isinstance(source, StructType) and isinstance(column, StructType):
        kept = {field.name: field.dataType for field in column.fields}
        fields = [field for field in source.fields if field.name in kept]
        inner = {
            f.name: without_dropped(value and value[f.name], f.dataType, kept[f.name])
            for f in fields
        }
        made = StructType(
            [StructField(name, nested_type) for name, (_, nested_type) in inner.items()]
        )
        return value and {name: nested_value for name, (nested_value, _) in inner.items()}, made
    if isinstance(source, ArrayType) and isinstance(column, ArrayType):
        types = source.elementType, column.elementType
        elements = [without_dropped(element, *types)[0] for element in value or []]
        made = ArrayType(without_dropped(None, *types)[1])
        return (None if value is None else elements), made
    if isinstance(source, MapType) and isinstance(column, MapType):
        types = source.valueType, column.valueType
        entries = [(key, without_dropped(item, *types)[0]) for key, item in value or []]
        made = MapType(source.keyType, without_dropped(None, *types)[1])
        return (None if value is None else entries), made
    return value, source


def reproduction(step: Step, columns: list[str]) -> str:
    """Write the text that reproduces a violation: the table's columns and rows, and the model."""
    shown = [c for c in columns if c in {*step.before.schema.names, *step.output.schema.names}]
    own = {"microbatch": ["at"], **{strategy: ["part"] for strategy in REPLACES_PARTS}}
    wanted = {"id", *own.get(step.settings.strategy, ()), *shown}
    table = ", ".join(
        f"{f.name} {f.dataType.simpleString()}"
        for f in step.before.schema.fields
        if f.name in wanted
    )
    rows = [
        {name: value for name, value in row.items() if name in wanted}
        for row in step.before.rows.values()
    ]
    return (
        f"  table ({table}), with rows {rows}\n"
        f"  model {{{{ config({step.output.config(step.settings)}) }}}}\n"
        + "\n".join(f"    {line}" for line in step.output.select(sorted(wanted)).splitlines())
    )
