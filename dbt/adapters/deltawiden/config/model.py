"""The model configuration of this adapter for dbt, and the file format of a node."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark.impl import SparkConfig
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.delta.relations import UNKNOWN_FORMAT, provider

DELTA = "delta"


def file_format_of(config: Mapping[str, Any]) -> str:
    """Return the file format of a node, in lower case: Spark ignores the case of such a name."""
    return str(config.get("file_format") or DELTA).lower()


def use_format_of(config: MutableMapping[str, Any], table: SparkRelation) -> str:
    """Let a model have the format of the table that it has, if that is known, and return it."""
    # Before its description, in which a comment can have a line like the one with its format.
    flags = {DELTA: table.is_delta, "iceberg": table.is_iceberg, "hudi": table.is_hudi}
    found = next((name for name, is_it in flags.items() if is_it), provider(table))
    if found != UNKNOWN_FORMAT:
        config["file_format"] = found
    return file_format_of(config)


@dataclass
class DeltaWidenConfig(SparkConfig):
    """The model configuration of this adapter, in addition to dbt-spark's."""

    file_format: str = DELTA
    type_widening: bool | None = None
    type_widening_compatible_with: list[str] | None = None
    on_lossy_write: str | None = None
    rewrite_widened_files: bool | str | None = None
    store_assignment_policy: str | None = None
    liquid_clustered_by: str | list[str] | None = None
    renamed_columns: dict[str, str] | None = None
    backfill_new_columns: bool | None = None
    include_full_name_in_path: bool | None = None
    owns_location: bool | None = None
    # The clauses of a MERGE, with the names of dbt-databricks.
    target_alias: str | None = None
    source_alias: str | None = None
    matched_condition: str | None = None
    not_matched_condition: str | None = None
    skip_matched_step: bool | str | None = None
    skip_not_matched_step: bool | str | None = None
    not_matched_by_source_action: str | None = None
    not_matched_by_source_condition: str | None = None
    merge_with_schema_evolution: bool | str | None = None
    optimize: str | None = None
    zorder: list[str] | str | None = None
    zorder_by: list[str] | str | None = None
    skip_optimize: bool | None = None
