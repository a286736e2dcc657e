"""Check the configuration that gives the rows that exist the values of new columns."""

from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.declared_columns import is_contract_enforced
from dbt.adapters.deltawiden.config.file_format import DELTA, file_format_of
from dbt.adapters.deltawiden.config.policy import problem
from dbt.adapters.deltawiden.config.strategies import MICROBATCH, strategy_of

BACKFILL = "backfill_new_columns"


def backfill_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Find what keeps a model's new columns from getting values: one line for each problem."""
    kind = config.get("materialized")
    if not config.get(BACKFILL) or kind not in ("incremental", "snapshot"):
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
