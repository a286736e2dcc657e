"""The model configuration that dbt knows of this adapter."""

from dataclasses import dataclass

from dbt.adapters.spark.impl import SparkConfig


@dataclass
class DeltaWidenConfig(SparkConfig):
    """The model configuration that this adapter reads besides dbt-spark's."""

    file_format: str = "delta"
    type_widening: bool | None = None
    type_widening_compatible_with: list[str] | None = None
    on_lossy_write: str | None = None
