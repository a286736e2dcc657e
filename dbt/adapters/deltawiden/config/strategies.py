"""Check the configuration of strategies and backfills: keys that need or exclude each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.deltawiden.config.declared_columns import is_contract_enforced
from dbt.adapters.deltawiden.config.materializations import KEEP_ROWS
from dbt.adapters.deltawiden.config.merge_clauses import (
    CLAUSE_KEYS,
    MergeClauses,
    read_merge_clauses,
)
from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.policy import problem
from dbt.adapters.deltawiden.config.project_macros import MERGE_MACROS

MERGE = "merge"
INSERT_OVERWRITE = "insert_overwrite"
MICROBATCH = "microbatch"
REPLACE_WHERE = "replace_where"
DELETE_INSERT = "delete+insert"

STRATEGIES = ("append", MERGE, INSERT_OVERWRITE, MICROBATCH, REPLACE_WHERE, DELETE_INSERT)
"""The incremental strategies whose statements the adapter makes."""

NO_MERGE = (
    "incremental_strategy: Invalid incremental strategy provided: merge. You can only "
    "choose this strategy when file_format is set to 'delta' or 'iceberg' or 'hudi'"
)

_MERGED_FORMATS = (DELTA, "iceberg", "hudi")
_FORMATS = (
    *("text", "csv", "json", "jdbc", "parquet", "orc", "hive", "delta", "iceberg", "libsvm"),
    "hudi",
)
"""The file formats of dbt-spark's incremental models."""
NOT_MERGED = frozenset(_FORMATS).difference(_MERGED_FORMATS)
"""The formats whose tables can't have a MERGE. A project's own format can."""


def strategy_of(config: Mapping[str, Any]) -> str:
    """Return the strategy of an incremental model."""
    return str(config.get("incremental_strategy") or "append")


def strategy_problems(config: Mapping[str, Any], is_own: Callable[[str], bool]) -> list[str]:
    """Find the configuration of an incremental model that its strategy can't follow.

    One line for each problem: the key, what is wrong and what to do.

    Args:
        is_own: returns whether a macro is the project's: ``writes_with_own``. What such a macro
            needs is not known.
    """
    if config.get("materialized") != "incremental":
        return []
    strategy = strategy_of(config)
    is_of_project = is_own_strategy(is_own, strategy)
    if strategy not in STRATEGIES and not is_of_project:
        return [
            f"incremental_strategy: Invalid incremental strategy provided: {strategy}. Expected "
            f"one of: {', '.join(STRATEGIES)}"
        ]
    problems = [*_merge_problems(config, strategy), *_format_problems(config, strategy, is_own)]
    if not is_of_project:
        problems += _statement_problems(config, strategy)
    return problems


def strategy_macro(strategy: str) -> str:
    """Return the name of the macro that makes the statement of a strategy.

    Source:
        https://docs.getdbt.com/docs/build/incremental-strategy#custom-strategies
    """
    return f"get_incremental_{strategy.replace('+', '_')}_sql"


def is_own_strategy(is_own: Callable[[str], bool], strategy: str) -> bool:
    """Return whether one of the macros that are called for a strategy is the project's."""
    names = MERGE_MACROS if strategy == MERGE else [strategy_macro(strategy)]
    return strategy not in ("append", INSERT_OVERWRITE) and any(map(is_own, names))


def _format_problems(
    config: Mapping[str, Any], strategy: str, is_own: Callable[[str], bool]
) -> Iterator[str]:
    """Find a file format that dbt-spark's incremental models or MERGE statements can't have."""
    file_format = file_format_of(config)
    can_merge = strategy != MERGE or file_format in _MERGED_FORMATS
    if file_format not in _FORMATS and not is_own("dbt_spark_validate_get_file_format"):
        yield (
            f"file_format: Invalid file format provided: {file_format}. Expected one of: "
            f"{', '.join(_FORMATS)}"
        )
    elif not (can_merge or is_own("dbt_spark_validate_get_incremental_strategy")):
        yield NO_MERGE


def _merge_problems(config: Mapping[str, Any], strategy: str) -> Iterator[str]:
    if str(config.get("merge_with_schema_evolution") or "").lower() == "true":
        yield (
            "merge_with_schema_evolution: not supported, because Delta would turn an integer into "
            "a decimal or a double by itself. Use on_schema_change: append_new_columns or "
            "sync_all_columns instead: the table then gets new columns and wider types before the "
            "MERGE."
        )
    configured = [key for key in CLAUSE_KEYS if config.get(key)]
    if strategy == MERGE:
        yield from _clause_problems(config, read_merge_clauses(config))
    elif configured and strategy in STRATEGIES:
        yield (
            f"{', '.join(configured)}: for incremental_strategy: merge only; got {strategy!r}. "
            "Remove the configuration, or set incremental_strategy: merge."
        )


def _clause_problems(config: Mapping[str, Any], clauses: MergeClauses) -> Iterator[str]:
    target, source = clauses.target_alias, clauses.source_alias
    if target.lower() == source.lower():
        yield f"target_alias, source_alias: both are {target!r}. Use two different names."
    if clauses.not_matched_by_source_condition and not clauses.not_matched_by_source_action:
        yield (
            "not_matched_by_source_condition: there is no not_matched_by_source_action. Add one: "
            "delete, or update set and its assignments."
        )
    if clauses.not_matched_by_source_action and not config.get("unique_key"):
        yield (
            "not_matched_by_source_action: without a unique_key no row of the table matches, and "
            "the action would change every row. Set unique_key."
        )
    writes = not (clauses.skip_matched_step and clauses.skip_not_matched_step)
    if not writes and not clauses.not_matched_by_source_action:
        yield (
            "skip_matched_step, skip_not_matched_step: with both, the MERGE does nothing. Remove "
            "one of them."
        )


def configured_predicates(config: Mapping[str, Any]) -> str | Sequence[str] | None:
    """Return the conditions of an incremental model, under either of dbt's two names for them."""
    return config.get("predicates") or config.get("incremental_predicates")


def _statement_problems(config: Mapping[str, Any], strategy: str) -> Iterator[str]:
    columns = ("merge_update_columns", "merge_exclude_columns")
    if strategy == MERGE and all(map(config.get, columns)):
        yield f"{', '.join(columns)}: {BOTH_COLUMNS}"
    file_format = file_format_of(config)
    if strategy in (REPLACE_WHERE, DELETE_INSERT) and file_format != DELTA:
        yield only_of_delta(strategy, file_format)
    if strategy == DELETE_INSERT and not config.get("unique_key"):
        yield "unique_key: delete+insert needs the columns by which it finds the rows to replace."
    if strategy == REPLACE_WHERE and not configured_predicates(config):
        yield (
            "incremental_predicates: replace_where needs the condition for the rows to replace. "
            "To add rows only, use incremental_strategy: append."
        )
    if strategy == MICROBATCH and file_format == "iceberg" and configured_predicates(config):
        yield (
            "incremental_predicates: Iceberg replaces whole files, so a microbatch model replaces "
            "all rows of a batch. Remove the conditions, or set file_format: delta."
        )


def only_of_delta(strategy: str, file_format: str) -> str:
    """Render the error that only a Delta table can have a strategy."""
    return (
        f"incremental_strategy: {strategy} replaces rows in one commit of a Delta table; got "
        f"file_format {file_format!r}. Set file_format: delta, or use insert_overwrite."
    )


BOTH_COLUMNS = (
    "Model cannot specify merge_update_columns and merge_exclude_columns. Please update model to "
    "use only one config"
)

BACKFILL = "backfill_new_columns"


def backfill_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Find what keeps a model's new columns from getting values: one line for each problem."""
    kind = config.get("materialized")
    if not config.get(BACKFILL) or kind not in KEEP_ROWS:
        return
    if kind == "snapshot":
        yield problem(BACKFILL, True, "false for a snapshot: no query returns its old versions")
        return
    if not config.get("unique_key") and not is_contract_enforced(config):
        # A contract can have defaults, which need no key.
        yield problem(BACKFILL, True, "true for a model with a unique_key, by which rows are found")
    if strategy_of(config) == MICROBATCH:
        yield problem(BACKFILL, True, "false for a microbatch, whose query has one batch")
    file_format = file_format_of(config)
    if file_format != DELTA:
        yield problem(
            BACKFILL,
            True,
            f"true for Delta (this model has {file_format}): a run that was "
            "ended would leave no trace. Use the operation backfill_columns",
        )
