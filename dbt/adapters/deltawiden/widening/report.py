"""Render a plan as messages for people."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.spark.settings import SAFE_READS
from dbt.adapters.deltawiden.sql.identifiers import Path, parse_path, path_text, quote
from dbt.adapters.deltawiden.sql.raised_errors import NEEDS_TYPE_WIDENING
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.writing.value_check import unchecked_columns_text

FILTER_SETTINGS = " and ".join(f"{key}={value}" for key, value in SAFE_READS.items())
"""The settings with which filters of Spark are right on every file."""

_END_FOR_ALL = "timestamp'9999-12-31 00:00:00+00:00'"
_OFFSET = re.compile(r"(?:[+-]\d\d:?\d\d|Z|UTC)\s*['\"]")


def changes_text(plan: Plan) -> str:
    """Render the changes of a plan in one line, which is empty if there are none."""
    made: dict[str, list[str]] = {}
    for step in plan.steps:
        if step.verb:
            made.setdefault(step.verb, []).extend(step.subjects)
    parts = [f"{verb} {', '.join(subjects)}" for verb, subjects in made.items()]
    return f"{plan.table}: {'; '.join(parts)}" if parts else ""


def enabled_text(plan: Plan) -> str:
    """Say that a plan turns on type widening, and what that does to others. Empty if not."""
    if plan.properties.get(TYPE_WIDENING_PROPERTY) != "true":
        return ""
    return f"{plan.table}: set {TYPE_WIDENING_PROPERTY} to true. {NEEDS_TYPE_WIDENING}"


def refusals_text(plan: Plan, wanted: str = "take the model's output") -> str:
    """Render the refusals of a plan: why it is refused, and what to do about each refusal."""
    head = f"{plan.table} can't {wanted}; nothing was changed or written."
    return f"{head}\n\n{reasons_text(plan)}"


def reasons_text(plan: Plan) -> str:
    """Render the reasons for the refusals of a plan. Those with the same cause are in one block."""
    commands = by_hand_command(plan), _table_command("enable_type_widening", plan.table)
    blocks: dict[tuple[str, str], list[str]] = {}
    for refusal in plan.refusals:
        blocks.setdefault(refusal.words(plan.table, *commands), []).append(refusal.subject)
    return "\n\n".join(
        "\n".join([*(f"  {s}" for s in subjects), f"    Why: {meaning}.", f"    Do:  {remedy}"])
        for (meaning, remedy), subjects in blocks.items()
    )


def by_hand_command(plan: Plan) -> str:
    """Return the command, for a POSIX shell, that does what a refused plan leaves to a person.

    Empty if it refuses no such type change.
    """
    by_hand = (Reason.MANUAL, Reason.FLOAT_STATISTICS, Reason.FLOAT_IN_CHECKPOINTS)
    manual = [refusal for refusal in plan.refusals if refusal.reason in by_hand]
    if not manual:
        return ""
    columns = {path_text(r.path): type_text(r.to_type) if r.to_type else "" for r in manual}
    return widen_command(plan.table, columns)


def widen_command(table: str, columns: Mapping[str, str]) -> str:
    """Return the command that gives columns of a table, which is quoted, other types."""
    arguments = yaml_safe_json({"relations": [_plain(table)], "columns": columns})
    return f"dbt run-operation widen_columns --args {shlex.quote(arguments)}"


def rewrite_command(table: str) -> str:
    """Return the command that rewrites the older files of a table, which is quoted."""
    return _table_command("rewrite_widened_files", table)


def _table_command(operation: str, table: str) -> str:
    arguments = yaml_safe_json({"relations": [_plain(table)]})
    return f"dbt run-operation {operation} --args {shlex.quote(arguments)}"


def backfill_command(model: str, columns: Sequence[str]) -> str:
    """Return the command that gives a model's columns values in the rows where they are null."""
    where = " or ".join(f"{quote(name)} is null" for name in columns)
    arguments = yaml_safe_json({"models": [model], "columns": list(columns), "where": where})
    return f"dbt run-operation backfill_columns --args {shlex.quote(arguments)}"


def misread_text(table: str, columns: Iterable[Path]) -> str:
    """Render what filters without dbt's settings can miss in a table, and what to do."""
    names = ", ".join(map(path_text, columns))
    return (
        f"In filters on {names}, a Spark without {FILTER_SETTINGS} can miss rows of files from "
        f"before the change. To rewrite these files: {rewrite_command(table)}"
    )


def yaml_safe_json(value: object) -> str:
    """Render JSON that dbt's YAML parser reads back without a change.

    YAML has no surrogate pairs, so most characters are not escaped. The escaped ones are those that
    YAML treats as the end of a line or does not accept.
    """
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff]", lambda c: f"\\u{ord(c.group()):04x}", text)


def _plain(quoted: str) -> str:
    return path_text(parse_path(quoted))


def lossy_text(plan: Plan, action: OnLossyWrite) -> str:
    """Render the warning about columns that do not store every value, and the remedies."""
    subjects = _lossy_columns(plan)
    if action is OnLossyWrite.ERROR:
        result = "The write checks each value, and stops before the first one that would change."
        other = "set on_lossy_write: warn to write such values all the same"
    else:
        result = "Values can be rounded, truncated or refused."
        other = "set on_lossy_write: error to stop at such a value; ignore hides this warning"
    return (
        f"{plan.table} does not store every value of the model's output exactly: {subjects}. "
        f"{result} Set on_schema_change to append_new_columns or sync_all_columns to widen the "
        f"table, cast in the model, or {other}."
    )


def not_castable_text(plan: Plan) -> str:
    """Render the error about a value, whose loss is accepted, that can't be cast at all."""
    return (
        f"{plan.table} has other types than the model for: {_lossy_columns(plan)}. on_lossy_write "
        "accepts that a value is changed, but this one can't be cast at all. Nothing was written. "
        "Cast the column in the model: try_cast makes null of a value that can't be cast."
    )


def _lossy_columns(plan: Plan) -> str:
    return ", ".join(
        f"{path_text(leaf.path)} ({type_text(leaf.source)} into {type_text(leaf.table)})"
        for leaf in plan.lossy
    )


def ignored_columns_text(plan: Plan) -> str:
    """Render the warning about columns that a write ignores (``on_schema_change: ignore``)."""
    columns = ", ".join(path_text(column.path) for column in plan.ignored_columns)
    return (
        f"{plan.table} lacks these columns of the model, and on_schema_change is ignore: "
        f"{columns}. They are not stored. Set on_schema_change to append_new_columns or "
        "sync_all_columns to add them, or remove them from the model."
    )


def perhaps_renamed_text(plan: Plan) -> str:
    """Render the warning that the one new column can be the one that the model no longer has.

    Empty unless both have one type: only a person can say that they are the same.
    """
    missing = {c.name: c.type for c in plan.write.columns if not c.in_source}
    missing |= {c.path[0]: c.field.dataType for c in plan.dropped if len(c.path) == 1}
    new = [column for column in plan.new if len(column.path) == 1]
    if not len(missing) == len(new) == 1 or new[0].field.dataType not in missing.values():
        return ""
    old, name = path_text(tuple(missing)), path_text(new[0].path)
    fate = "dropped, with its values" if plan.dropped else "kept, and null in new rows"
    return (
        f"{plan.table}: {name} is new, and the model no longer has {old}, which has the same type. "
        f"{old} is {fate}. If they are one column, set renamed_columns in the model before this "
        f"run: {{{name}: {old}}}"
    )


def warning_texts(plan: Plan, action: OnLossyWrite) -> list[str]:
    """Return what a run warns of before its first change."""
    texts = [*plan.warnings, perhaps_renamed_text(plan)]
    texts += [ignored_columns_text(plan)] if plan.ignored_columns else []
    if plan.lossy and action is OnLossyWrite.WARN:
        texts.append(lossy_text(plan, action))
    named = {leaf.path[0] for leaf in plan.lossy}
    texts.append(unchecked_columns_text(plan.table, [c for c in plan.unchecked if c not in named]))
    return list(filter(None, texts))


def shifted_times_text(snapshot: str, zoneless: Sequence[str], with_zone: Sequence[str]) -> str:
    """Render the error that the times of a snapshot's versions are of two types."""
    return (
        f"The snapshot {snapshot} has times without time zone ({', '.join(zoneless)}) and times "
        f"with one ({', '.join(with_zone)}). Spark would make one type of them, which changes "
        "times in an hour that the session's time zone skips. Nothing was written.\n"
        "Set dbt_valid_to_current to to_timestamp_ntz('9999-12-31') or to_date('9999-12-31'); or "
        "set on_lossy_write: ignore to store the changed times."
    )


def text_times_text(snapshot: str, texts: Sequence[str], others: Sequence[str]) -> str:
    """Render the error that some times of a snapshot's versions are texts."""
    return (
        f"The snapshot {snapshot} has times that are texts ({', '.join(texts)}) and times that are "
        f"not ({', '.join(others)}). Spark would make texts without an offset of times, and a time "
        "in an hour that the session's time zone repeats would become another one. Nothing was "
        "written.\n"
        "Set dbt_valid_to_current to a value of the type of updated_at (of a timestamp, or without "
        f"updated_at: {_END_FOR_ALL}); or set on_lossy_write: ignore to store the changed times."
    )


def other_end_text(table: str, column: str, current: str, stored: str, end: str, zone: str) -> str:
    """Render the error that dbt would not find current versions, because they end otherwise.

    Args:
        stored, end: the end of these versions, and ``current`` in this session, both in UTC.
    """
    fixed = current if _OFFSET.search(current) else _END_FOR_ALL
    setting = "A time with an offset is the same in each session: set dbt_valid_to_current to "
    first = "" if fixed == current else f"{setting}{fixed}. "
    near = " and ".join(f"timestamp'{end}+00:00' {sign} interval 26 hours" for sign in "-+")
    return (
        f"{table} has versions whose {column} is {stored} in UTC, and dbt_valid_to_current "
        f"({current}) is {end} in UTC in this session, whose time zone is {zone}. dbt would not "
        "find these versions: it would store their rows again, and end none. Nothing was written.\n"
        f"{first}Run: update {table} set {column} = {fixed} where {column} between {near}"
    )


def unknown_deletions_text(
    table: str, column: str, end: str, hard_deletes: str, versions: str
) -> str:
    """Render the error that dbt would not see whether the rows of versions were deleted.

    Args:
        versions: the condition for these versions.
    """
    if hard_deletes == "new_record":
        return (
            f"{table} has current versions with a null in {column}. hard_deletes is new_record, "
            "and dbt would never record that their rows were deleted. Nothing was written.\n"
            f"Run: update {table} set {column} = 'False' where {column} is null"
        )
    return (
        f"{table} has current versions of deleted rows ({column} is 'True'). hard_deletes is "
        f"{hard_deletes}, and a row that came back as it was would stay deleted. Nothing was "
        "written.\n"
        "Set hard_deletes: new_record; or end these versions, so that a row that comes back gets "
        f"a new one: update {table} set {end} = current_timestamp() where {versions}"
    )


def dates_text(table: str, hard_deletes: str, dates: Sequence[str]) -> str:
    """Render the error that a snapshot's table can't store the time at which a row was deleted."""
    command = widen_command(table, {path_text((name,)): "timestamp_ntz" for name in dates})
    return (
        f"{table} can't store when a row was deleted: hard_deletes is {hard_deletes}, and "
        f"{', '.join(dates)} is a date, which does not store the time of day. Nothing was "
        "changed or written.\n"
        f"Make it a timestamp_ntz: {command}; or set on_lossy_write: ignore to store the day."
    )
