"""Render the MERGE of a snapshot."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbt.adapters.deltawiden.config.merge_clauses import SOURCE_ALIAS, TARGET_ALIAS
from dbt.adapters.deltawiden.sql.identifiers import as_list, unquoted
from dbt.adapters.deltawiden.sql.statements import set_to_themselves

# As JSON, maps can be compared.
_AS_JSON = (
    "map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'ignoreNullFields', 'false')"
)


def snapshot_merge_sql(
    config: Any,
    own: Mapping[str, str],
    target: object,
    source: str,
    inserted: Sequence[str],
    hard_deletes: str,
    kept: Iterable[str] = (),
) -> str:
    """Render the MERGE of the staged rows of a snapshot into its table.

    Args:
        config: the configuration of the snapshot.
        own: the names of the columns that dbt adds, by the names of dbt.
        inserted: the quoted columns of a new row.
        kept: as for ``merge_sql``.
    """
    valid_to, scd_id = f"{TARGET_ALIAS}.{own['dbt_valid_to']}", own["dbt_scd_id"]
    changed = f"{SOURCE_ALIAS}.dbt_change_type in ('update', 'delete')"
    matching = changed
    if hard_deletes == "ignore":
        matching += f" or ({_has_no_key(config)}){_has_the_values(config, own, inserted)}"
    current = config.get("dbt_valid_to_current")
    is_current = f"{valid_to} is null" + (f" or {valid_to} = {current}" if current else "")
    values = ", ".join(f"{SOURCE_ALIAS}.{column}" for column in inserted)
    end = f"{own['dbt_valid_to']} = {SOURCE_ALIAS}.{own['dbt_valid_to']}"
    updated = ", ".join([end, *set_to_themselves(kept, TARGET_ALIAS)])
    return f"""
  merge into {target} as {TARGET_ALIAS}
      using {source} as {SOURCE_ALIAS}
      on {SOURCE_ALIAS}.{scd_id} = {TARGET_ALIAS}.{scd_id}
        and ({matching})

      when matched and {changed}
        and ({is_current})
        then update set {updated}

      when not matched and {SOURCE_ALIAS}.dbt_change_type = 'insert'
        then insert ({", ".join(inserted)}) values ({values})
"""


def _has_no_key(config: Any) -> str:
    key = config.get("unique_key")
    numbers = [""] if isinstance(key, str) else [f"_{n}" for n, _ in enumerate(key or (), 1)]
    return " or ".join(f"{SOURCE_ALIAS}.dbt_unique_key{number} is null" for number in numbers)


def _has_the_values(config: Any, own: Mapping[str, str], inserted: Sequence[str]) -> str:
    """Render the comparison of a row's values: it can change although its time does not.

    With the strategy ``timestamp``, a row changes with its time.
    """
    if config.get("strategy") == "timestamp" or not config.get("updated_at"):
        return ""
    checked = config.get("check_cols", "all")
    names = None if isinstance(checked, str) else {unquoted(name) for name in as_list(checked)}
    added = {name.lower() for name in own.values()}
    columns = [
        column
        for column in inserted
        if unquoted(column) not in added and (names is None or unquoted(column) in names)
    ]
    sides = (
        ", ".join(f"{side}.{column}" for column in columns) for side in (SOURCE_ALIAS, TARGET_ALIAS)
    )
    return " and " + " = ".join(f"to_json(struct({side}), {_AS_JSON})" for side in sides)
