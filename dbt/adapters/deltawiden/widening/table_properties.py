"""Plan the table properties of a model: which ones its existing table gets, and which refuse it."""

from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.strategies import BACKFILL
from dbt.adapters.deltawiden.config.table_properties import COMMENT, changed_properties
from dbt.adapters.deltawiden.delta.protocol import (
    APPEND_ONLY,
    COLUMN_MAPPING,
    CONSTRAINT,
    FEATURE_PREFIX,
)
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import quote, read_name
from dbt.adapters.deltawiden.sql.statements import set_properties
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import REBUILD, Reason, Refusal

_CLUSTERING = f"{FEATURE_PREFIX}clustering"
_ICEBERG = ("delta.enableicebergcompatv", "delta.universalformat.enabledformats")


def plan_properties(
    configured: Mapping[str, Any], snapshot: TableSnapshot
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the properties that an existing table needs, and a warning for each one left out.

    Those that Delta can't set on an existing table, and the one that would rewrite it, are left
    out. dbt-spark sets properties of new tables alone, so its projects can have them.

    Source:
        measured on Delta 4.4: DELTA_ADD_CONSTRAINTS, DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE,
        DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED, DELTA_ICEBERG_COMPAT_VIOLATION
    """
    if not configured or not snapshot.is_delta:
        return {}, ()
    listed = snapshot.all_properties
    if COMMENT in configured:
        listed = {**listed, COMMENT: snapshot.description or ""}
    changed = changed_properties(configured, listed)
    why = {key: _why_left_out(key, text, changed, snapshot) for key, text in changed.items()}
    return {key: text for key, text in changed.items() if not why[key]}, tuple(
        f"{snapshot.name}: tblproperties: {key} is left out. {text}"
        for key, text in why.items()
        if text
    )


def _why_left_out(
    key: str, wanted: str, changed: Mapping[str, str], snapshot: TableSnapshot
) -> str:
    table, lowered = snapshot.name, key.lower()
    if lowered.startswith(CONSTRAINT):
        name = key[len(CONSTRAINT) :]
        has_one = name.lower() in map(str.lower, snapshot.constraints)
        drop = f"alter table {table} drop constraint {quote(name)}; " if has_one else ""
        return (
            "Delta adds a constraint to an existing table by another statement. Run: "
            f"{drop}alter table {table} add constraint {quote(name)} check ({wanted})"
        )
    if lowered == _CLUSTERING:
        return "No statement can set it. Remove it, and set liquid_clustered_by in the model"
    if key == COLUMN_MAPPING:
        return _why_mode_stays(wanted.lower(), snapshot)
    is_mapped = snapshot.column_mapping != "none" or changed.get(COLUMN_MAPPING) == "name"
    if lowered.startswith(_ICEBERG) and wanted.lower() not in ("", "false") and not is_mapped:
        return (
            "An existing table needs column mapping for it. Also set delta.columnMapping.mode: "
            f"name in tblproperties, or rebuild the table: {REBUILD}"
        )
    return ""


def _why_mode_stays(wanted: str, snapshot: TableSnapshot) -> str:
    """Say why another mode of column mapping is not set. Empty if it is, or if Delta says why."""
    now = snapshot.column_mapping
    if wanted not in ("none", "name", "id") or (now, wanted) == ("none", "name"):
        return ""
    if wanted == "none":
        by_hand = set_properties(snapshot.name, {COLUMN_MAPPING: wanted})
        return (
            f"The table has column mapping ({now}), and Delta would rewrite all of its files. Set "
            f"the property to {now} in tblproperties. Or, to have the files rewritten, run: "
            f"{by_hand}"
        )
    return (
        f"Delta can't change the mode of an existing table from {now} to {wanted}. Set it to "
        f"{now} in tblproperties, or rebuild the table: {REBUILD}"
    )


def refused_properties(plan: Plan, spec: ModelSpec, snapshot: TableSnapshot) -> Iterator[Refusal]:
    """Refuse what a property of the table would refuse after the statements before it.

    The properties are asked for only if the plan has read them.

    Source:
        DELTA_CANNOT_MODIFY_APPEND_ONLY
    """
    if (spec.tblproperties or plan.steps) and snapshot.has(APPEND_ONLY):
        if spec.changes_rows:
            what = f"incremental_strategy: {spec.strategy}" if spec.strategy else "a snapshot"
            yield Refusal(Reason.APPEND_ONLY, read_name(APPEND_ONLY), detail=what)
        elif plan.copies_rows:
            yield Refusal(Reason.APPEND_ONLY, read_name(APPEND_ONLY), detail=BACKFILL)
