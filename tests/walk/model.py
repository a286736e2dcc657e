"""A model of the walk: its configuration, the rows of a step, and its text."""

from dataclasses import dataclass
from datetime import datetime
from itertools import product
from random import Random
from typing import Any

from pyspark.sql.types import DataType, StructType

from tests.literals import literal
from tests.walk.exact import ZONE
from tests.walk.values import random_value

STRATEGIES = (
    *("append", "merge", "merge_update_columns", "insert_overwrite"),
    *("microbatch", "replace_where", "delete+insert"),
)
MODES = (
    *(("ignore", lossy) for lossy in ("error", "warn", "ignore")),
    *((mode, "error") for mode in ("append_new_columns", "sync_all_columns", "fail")),
)
PARTITIONED = ("insert_overwrite",)
REPLACES_PARTS = ("insert_overwrite", "replace_where", "delete+insert")
"""The strategies whose write replaces all rows with the values of ``part`` that the output has."""
NOON = int(datetime(2024, 1, 1, 12, tzinfo=ZONE).timestamp()) * 1_000_000

Row = dict[str, Any]
"""A row's values by column."""


@dataclass(frozen=True)
class Settings:
    """The configuration of a model.

    Attributes:
        strategy: one of STRATEGIES.
        mode: on_schema_change.
        lossy: on_lossy_write.
        type_widening: None leaves it unset.
        column_mapping: whether columns can be dropped.
        limited: whether the table is created by hand and has a char or varchar column.
    """

    strategy: str
    mode: str
    lossy: str
    type_widening: bool | None
    column_mapping: bool
    limited: bool

    @property
    def changes_columns(self) -> bool:
        return self.mode in ("append_new_columns", "sync_all_columns")

    @property
    def accepts_loss(self) -> bool:
        return self.mode == "ignore" and self.lossy != "error"

    @property
    def is_merge(self) -> bool:
        return self.strategy.startswith("merge")

    def config(self, update_columns: list[str], parts: set[int]) -> str:
        """Write the configuration of a model.

        Args:
            update_columns: the columns that a merge updates.
            parts: the values of ``part`` in the model's output.
        """
        values: dict[str, Any] = {
            "materialized": "incremental",
            "incremental_strategy": "merge" if self.is_merge else self.strategy,
            "on_schema_change": self.mode,
            "on_lossy_write": self.lossy,
        }
        if self.type_widening is not None:
            values["type_widening"] = self.type_widening
        if self.column_mapping:
            values["tblproperties"] = {"delta.columnMapping.mode": "name"}
        if self.is_merge:
            values["unique_key"] = "id"
        if update_columns:
            values["merge_update_columns"] = update_columns
        if self.strategy in PARTITIONED:
            values["partition_by"] = "part"
        if self.strategy == "replace_where":
            values["incremental_predicates"] = [f"part in ({str(sorted(parts))[1:-1]})"]
        if self.strategy == "delete+insert":
            values["unique_key"] = "part"
        if self.strategy == "microbatch":
            values |= {"event_time": "at", "batch_size": "day", "begin": "2024-01-01"}
        return ", ".join(f"{key}={value!r}" for key, value in values.items())


def all_settings(rng: Random) -> list[Settings]:
    """List every strategy in every mode, in random order."""
    cells = [
        Settings(
            strategy,
            mode,
            lossy,
            type_widening=rng.choice((True, True, True, None, False)),
            column_mapping=mode == "sync_all_columns" and rng.random() < 0.7,
            limited=rng.random() < 0.15,
        )
        for strategy, (mode, lossy) in product(STRATEGIES, MODES)
    ]
    rng.shuffle(cells)
    return cells


@dataclass(frozen=True)
class Output:
    """The output of a model in one step.

    Attributes:
        schema: its columns.
        rows: its rows; ``id`` is distinct.
        update_columns: the columns that a merge updates; none means all.
    """

    schema: StructType
    rows: list[Row]
    update_columns: list[str]

    def config(self, settings: Settings) -> str:
        """Write the configuration of the model that has this output."""
        return settings.config(self.update_columns, {row["part"] for row in self.rows})

    def select(self, columns: list[str] | None = None) -> str:
        """Write the output as a query, of some columns only if they are named."""
        fields = [f for f in self.schema.fields if columns is None or f.name in columns]
        return "\nunion all ".join(
            "select " + ", ".join(f"{_value(row[f.name], f.dataType)} as {f.name}" for f in fields)
            for row in self.rows
        )


def _value(value: Any, data_type: DataType) -> str:
    return literal(value, data_type)


def random_output(
    rng: Random, settings: Settings, schema: StructType, table: StructType, ids: list[int]
) -> Output:
    """Draw rows; those of a merge have some of the table's keys.

    Args:
        table: the columns that the table has.
        ids: the keys of its rows.
    """
    count = rng.choice((1, 2, 3))
    old = rng.sample(ids, min(len(ids), rng.choice((0, 1, 2)))) if settings.is_merge else []
    new = range(max(ids, default=0) + 1, max(ids, default=0) + 1 + count)
    rows = [
        {f.name: random_value(rng, f.dataType) for f in schema.fields}
        | {"id": number, "part": rng.choice((1, 2, 3)), "at": NOON}
        for number in (*old, *new)
    ]
    update_columns: list[str] = []
    if settings.strategy == "merge_update_columns":
        both = [name for name in schema.names if name in table.names and name != "id"]
        update_columns = rng.sample(both, rng.randint(1, len(both)))
    return Output(schema, rows, update_columns)


def model_text(settings: Settings, output: Output) -> str:
    return f"{{{{ config({output.config(settings)}) }}}}\n{output.select()}\n"
