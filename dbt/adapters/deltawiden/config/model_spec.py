"""What a model's configuration says about the writes to its table, read from it and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dbt.adapters.deltawiden.config.clustering import read_clustering
from dbt.adapters.deltawiden.config.declared_columns import declared_defaults
from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses, read_merge_clauses
from dbt.adapters.deltawiden.config.model import file_format_of
from dbt.adapters.deltawiden.config.policy import OnLossyWrite, Policy, invalid_configuration
from dbt.adapters.deltawiden.config.project_macros import is_replaced
from dbt.adapters.deltawiden.config.renamed_columns import (
    Columns,
    Renames,
    read_renames,
    rename_problems,
)
from dbt.adapters.deltawiden.config.strategies import (
    BACKFILL,
    configured_predicates,
    is_own_strategy,
    strategy_of,
)
from dbt.adapters.deltawiden.config.tblproperties import configured_properties
from dbt.adapters.deltawiden.config.validation import read_model_policy
from dbt.adapters.deltawiden.sql.identifiers import Path, as_list, columns_listed


@dataclass(frozen=True)
class ModelSpec:
    """What the configuration of an incremental model or a snapshot says about its writes.

    Attributes:
        name: the model's name, for messages.
        strategy: the incremental strategy. Empty for a node that is not an incremental model.
        unique_key: the columns or paths as the author wrote them.
        has_one_key: whether ``unique_key`` is a text and not a list.
        predicates: the conditions of ``predicates`` or ``incremental_predicates``.
        merge_update_columns, merge_exclude_columns: the names as the author wrote them.
        clustering: as ``read_clustering`` returns it.
        backfills: whether the rows that exist get values for new columns.
        defaults: the default values that an enforced contract declares, by column in lower case.
        event_time: the column by which a row of a microbatch model is in a batch.
        batch_size: what the batches of a microbatch model are, for example hours.
        valid_to_current: the end of a snapshot's current versions, in SQL. Empty if it is null.
        is_written_by_project: whether a macro of the project makes the statement, or the MERGE.
            What it needs is not known.
        is_empty: whether the run writes no row (``--empty``). Then it drops no column, either.
    """

    name: str
    policy: Policy = field(default_factory=Policy)
    file_format: str = "delta"
    strategy: str = "append"
    unique_key: tuple[str, ...] = ()
    has_one_key: bool = False
    predicates: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    merge_update_columns: tuple[str, ...] = ()
    merge_exclude_columns: tuple[str, ...] = ()
    merge_clauses: MergeClauses = field(default_factory=MergeClauses)
    tblproperties: Mapping[str, Any] = field(default_factory=dict)
    clustering: tuple[Path, ...] | None = None
    renames: Renames = field(default_factory=dict)
    backfills: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)
    event_time: str = ""
    batch_size: str = ""
    valid_to_current: str = ""
    is_written_by_project: bool = False
    is_empty: bool = False

    @property
    def checks_values(self) -> bool:
        """Whether a value that its column does not store exactly stops the write."""
        return self.policy.on_lossy_write is OnLossyWrite.ERROR

    @property
    def ignores_values(self) -> bool:
        """Whether nobody wants to know which values a column may not store exactly."""
        return self.policy.on_lossy_write is OnLossyWrite.IGNORE


def read_model_spec(
    config: Mapping[str, Any], name: str, columns: Columns | None = None
) -> ModelSpec:
    """Read what a model's configuration, as dbt has it, says about its writes.

    Raises:
        DbtConfigError: a value is not accepted.
    """
    unique_key = config.get("unique_key")
    problems = rename_problems(config, columns)
    if problems:
        raise invalid_configuration(name, problems)
    return ModelSpec(
        name=name,
        policy=read_model_policy(config, name),
        file_format=file_format_of(config),
        strategy=strategy_of(config) if config.get("materialized") == "incremental" else "",
        unique_key=_texts(unique_key),
        has_one_key=isinstance(unique_key, str) and bool(unique_key),
        predicates=_texts(configured_predicates(config)),
        partition_by=tuple(columns_listed(config.get("partition_by") or ())),
        merge_update_columns=_texts(config.get("merge_update_columns")),
        merge_exclude_columns=_texts(config.get("merge_exclude_columns")),
        merge_clauses=read_merge_clauses(config),
        tblproperties=configured_properties(config),
        clustering=read_clustering(config),
        renames=read_renames(config, columns or {}),
        backfills=bool(config.get(BACKFILL)),
        defaults=declared_defaults(config, columns or {}),
        event_time=str(config.get("event_time") or ""),
        batch_size=str(config.get("batch_size") or ""),
        valid_to_current=str(config.get("dbt_valid_to_current") or ""),
    )


def _texts(given: Any) -> tuple[str, ...]:
    return tuple(filter(None, as_list(given)))


def spec_of_run(context: Mapping[str, Any]) -> ModelSpec:
    """Return what the configuration says of the model that a context of dbt's macros is for."""
    config = context["config"]
    spec = read_model_spec(config, config.model.name, context["model"]["columns"])
    is_own = is_own_strategy(partial(is_replaced, context), spec.strategy)
    is_empty = bool(getattr(context["flags"], "EMPTY", False))
    return replace(spec, is_written_by_project=is_own, is_empty=is_empty)
