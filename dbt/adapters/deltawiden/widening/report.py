"""A plan as text for people and as values for machines."""

import json
import re
import shlex

from dbt.adapters.deltawiden.widening.names import parse_path, path_text
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.policy import OnLossyWrite
from dbt.adapters.deltawiden.widening.refusals import Reason, Refusal
from dbt.adapters.deltawiden.widening.types import type_text


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
    """Give the command that makes the manual type changes of a refused plan.

    Args:
        plan: any plan.

    Returns:
        A command for a POSIX shell, empty where the plan refuses no manual change.
    """
    manual = [each for each in plan.refusals if each.reason is Reason.MANUAL]
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
    """Say which columns a write under ``on_schema_change: ignore`` would not store exactly.

    Args:
        plan: a plan from ``plan_no_change`` with lossy leaves.
        action: what is done about it.

    Returns:
        One text that names every such column and the ways out.
    """
    subjects = ", ".join(
        f"{path_text(each.path)} ({type_text(each.source)} into {type_text(each.table)})"
        for each in plan.lossy
    )
    if action is OnLossyWrite.ERROR:
        result = "Nothing was changed or written."
        other = "set on_lossy_write: warn to write all the same"
    else:
        result = "Values can be rounded, truncated or refused."
        other = "set on_lossy_write: error to stop such runs; ignore hides this warning"
    return (
        f"{plan.table} does not store every value of the model's output exactly: {subjects}. "
        f"{result} Set on_schema_change to append_new_columns or sync_all_columns to widen the "
        f"table, cast in the model, or {other}."
    )
