"""Declare the model configuration of this adapter for dbt."""

from dataclasses import dataclass

from dbt.adapters.spark.impl import SparkConfig


@dataclass
class DeltaWidenConfig(SparkConfig):
    """The model configuration of this adapter, in addition to dbt-spark's."""

    file_format: str = "delta"
    type_widening: bool | None = None
    type_widening_compatible_with: list[str] | None = None
    on_lossy_write: str | None = None
    optimize: str | None = None
    zorder: list[str] | str | None = None
    zorder_by: list[str] | str | None = None
    skip_optimize: bool | None = None
