"""Plan the table properties of a model: which ones its existing table gets, and which refuse it."""

from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.strategies import INSERT_OVERWRITE, MICROBATCH
from dbt.adapters.deltawiden.config.tblproperties import COMMENT, changed_properties
from dbt.adapters.deltawiden.delta.float_statistics import STATISTICS_COLUMNS, statistics_names
from dbt.adapters.deltawiden.delta.protocol import (
    APPEND_ONLY,
    COLUMN_MAPPING,
    CONSTRAINT,
    FEATURE_PREFIX,
)
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, path_text, quote, read_name
from dbt.adapters.deltawiden.sql.literals import property_text
from dbt.adapters.deltawiden.sql.statements import set_properties
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import REBUILD, Reason, Refusal
from dbt.adapters.deltawiden.widening.steps import RewriteRows

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
        DELTA_CANNOT_MODIFY_APPEND_ONLY, DELTA_COLUMN_NOT_FOUND_IN_SCHEMA
    """
    never = list(_never_append_only(plan, spec))
    if never and (spec.tblproperties or plan.steps) and snapshot.has(APPEND_ONLY):
        yield from never
    for dropped in plan.dropped:
        detail = _in_statistics(dropped.path, spec.tblproperties, snapshot)
        if detail:
            yield Refusal(
                Reason.GONE_AND_IN_STATISTICS, dropped.path, dropped.field.dataType, detail=detail
            )


def _never_append_only(plan: Plan, spec: ModelSpec) -> Iterator[Refusal]:
    """Refuse what Delta always refuses in an append-only table: an overwrite, an UPDATE.

    It accepts a MERGE that finds only new keys. ``replace_where`` can be a MERGE, and so can a
    microbatch if the table computes columns. ``Backfill`` refuses a backfill itself.
    """
    overwrites = spec.strategy == INSERT_OVERWRITE or (
        spec.strategy == MICROBATCH and not plan.write.computed
    )
    if overwrites and not (spec.is_empty or spec.is_written_by_project):
        detail = f"incremental_strategy: {spec.strategy}"
        yield Refusal(Reason.APPEND_ONLY, read_name(APPEND_ONLY), detail=detail)
    if any(isinstance(step, RewriteRows) for step in plan.steps):
        yield Refusal(Reason.APPEND_ONLY_AND_FLOAT, read_name(APPEND_ONLY))


def _in_statistics(path: Path, configured: Mapping[str, Any], snapshot: TableSnapshot) -> str:
    """Say how the columns with statistics name a column to drop, if that prevents this or a run.

    Delta's DROP COLUMN removes the name from the property, if it has the column's spelling. The
    next run would set the configured property again, with the name of a column that is gone.
    """

    def names_it(text: str) -> list[Path]:
        names = map(read_name, statistics_names(text))
        return [name for name in names if folded(name[: len(path)]) == folded(path)]

    wanted = {key.lower(): property_text(text) for key, text in configured.items()}
    if names_it(wanted.get(STATISTICS_COLUMNS.lower(), "")):
        return "in the model's tblproperties names it"
    stored = names_it(snapshot.properties.get(STATISTICS_COLUMNS, ""))
    other = [path_text(name) for name in stored if name[: len(path)] != path]
    return f"of the table spells it {other[0]}, and Delta does not find it so" if other else ""
