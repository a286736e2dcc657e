"""A plan as text for people and as values for machines."""

import json
import re
import shlex
from collections.abc import Sequence

from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.sql.identifiers import parse_path, path_text
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Reason, Refusal


def changes_text(plan: Plan) -> str:
    """Say in one line what a plan changes in its table.

    Args:
        plan: a plan that is not refused.

    Returns:
        The line, empty where the plan changes nothing.
    """
    parts = []
    if plan.changes:
        parts.append("widened " + ", ".join(each.text for each in plan.changes))
    if plan.new:
        parts.append("added " + ", ".join(path_text(each.path) for each in plan.new))
    if plan.dropped:
        parts.append("dropped " + ", ".join(path_text(each.path) for each in plan.dropped))
    return f"{plan.table}: {'; '.join(parts)}" if parts else ""


def refusals_text(plan: Plan) -> str:
    """Say why a plan is refused, and what to do about each refusal.

    Args:
        plan: a plan with refusals.

    Returns:
        One text with all refusals. Those that have the same cause stand together.
    """
    by_hand = by_hand_command(plan)
    blocks: dict[tuple[str, str], list[str]] = {}
    for refusal in plan.refusals:
        blocks.setdefault(refusal.words(plan.table, by_hand), []).append(refusal.subject)
    lines = [f"{plan.table} can't take the model's output; nothing was changed or written."]
    for (meaning, remedy), subjects in blocks.items():
        lines += ["", *(f"  {subject}" for subject in subjects)]
        lines += [f"    Why: {meaning}.", f"    Do:  {remedy}"]
    return "\n".join(lines)


def by_hand_command(plan: Plan) -> str:
    """Give the command that makes the type changes that a refused plan leaves to a person.

    Args:
        plan: any plan.

    Returns:
        A command for a POSIX shell, empty where the plan refuses no such change.
    """
    by_hand = (Reason.MANUAL, Reason.FLOAT_STATISTICS)
    manual = [each for each in plan.refusals if each.reason in by_hand]
    if not manual:
        return ""
    columns = {path_text(each.path): _wanted(each) for each in manual}
    arguments = _yaml_safe_json({"relations": [_plain(plan.table)], "columns": columns})
    return f"dbt run-operation widen_columns --args {shlex.quote(arguments)}"


def _yaml_safe_json(value: object) -> str:
    """Render JSON that dbt's YAML reader reads back as it is.

    YAML knows no surrogate pairs, so characters stand for themselves, but for those that YAML takes
    for the end of a line or does not accept.
    """
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff]", lambda c: f"\\u{ord(c.group()):04x}", text)


def _wanted(refusal: Refusal) -> str:
    return type_text(refusal.to_type) if refusal.to_type else ""


def _plain(quoted: str) -> str:
    return path_text(parse_path(quoted))


def lossy_text(plan: Plan, action: OnLossyWrite) -> str:
    """Say which columns do not store every value of the model's types exactly.

    Args:
        plan: a plan from ``plan_no_change`` with lossy leaves.
        action: what is done about a value that is not stored exactly.

    Returns:
        One text that names every such column and the ways out.
    """
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
    """Say which columns can have the value that the engine could not cast at all.

    Args:
        plan: a plan from ``plan_no_change`` with lossy leaves, whose loss is accepted.
    """
    return (
        f"{plan.table} has other types than the model for: {_lossy_columns(plan)}. on_lossy_write "
        "accepts that a value is changed, but this one can't be cast at all. Nothing was written. "
        "Cast the column in the model: try_cast makes null of a value that can't be cast."
    )


def _lossy_columns(plan: Plan) -> str:
    return ", ".join(
        f"{path_text(each.path)} ({type_text(each.source)} into {type_text(each.table)})"
        for each in plan.lossy
    )


def left_out_text(plan: Plan) -> str:
    """Say which columns of the model a write leaves out under ``on_schema_change: ignore``.

    Args:
        plan: a plan that leaves columns out.

    Returns:
        One text that names the columns and the ways out.
    """
    columns = ", ".join(path_text(each.path) for each in plan.left_out)
    return (
        f"{plan.table} lacks these columns of the model, and on_schema_change is ignore: "
        f"{columns}. They are not stored. Set on_schema_change to append_new_columns or "
        "sync_all_columns to add them, or remove them from the model."
    )


def dates_text(table: str, hard_deletes: str, dates: Sequence[str]) -> str:
    """Say why a snapshot's table can't store at which moment a row was found deleted.

    Args:
        table: the table's name, quoted for a statement.
        hard_deletes: the snapshot's configuration.
        dates: the columns that are dates.
    """
    arguments = {
        "relations": [table.replace("`", "")],
        "columns": dict.fromkeys(dates, "timestamp_ntz"),
    }
    return (
        f"{table} can't store when a row was deleted: hard_deletes is {hard_deletes}, and "
        f"{', '.join(dates)} is a date, of which the time of day would be lost. Nothing was "
        "changed or written.\n"
        f"Make it a timestamp_ntz: dbt run-operation widen_columns --args '{json.dumps(arguments)}'"
        "; or set on_lossy_write: ignore to store the day."
    )
