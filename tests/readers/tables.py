"""A Delta table of Spark in each state of type widening."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.operations.delta_clients import State
from tests.readers.programs import Content, Row

# The largest int, and a bigint that no double can store.
NARROW: list[Row] = [(1, [1, 2]), (2**31 - 1, [-(2**31)])]
WIDE: list[Row] = [*NARROW, (2**53 + 1, [-(2**53) - 1, 3])]

_A_DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Table:
    """The table in one state.

    Attributes:
        path: the folder of the table.
        content: the rows of the table.
        protocol: its reader and writer version.
        features: its table features.
    """

    path: Path
    content: Content
    protocol: tuple[int, int]
    features: frozenset[str]


def make_tables(spark: SparkSession, folder: Path) -> Mapping[State, Table]:
    """Take a table through all states, and copy it in each state."""
    narrow, wide = Content((32, 32), NARROW), Content((64, 64), WIDE)
    path = folder / "table"
    run = spark.sql

    def keep(state: State, content: Content) -> Table:
        copy = folder / state.name.lower()
        shutil.copytree(path, copy)
        return _look(spark, copy, content)

    run(f"create table delta.`{path}` (n int, a array<int>) using delta")
    run(f"insert into delta.`{path}` values {_values(NARROW)}")
    tables = {State.BEFORE: keep(State.BEFORE, narrow)}
    run(f"alter table delta.`{path}` set tblproperties ('delta.enableTypeWidening' = 'true')")
    tables[State.ENABLED] = keep(State.ENABLED, narrow)
    run(f"alter table delta.`{path}` alter column n type bigint, a.element type bigint")
    run(f"insert into delta.`{path}` values {_values(WIDE[len(NARROW) :])}")
    tables[State.WIDENED] = keep(State.WIDENED, wide)
    for state, drop in ((State.DROPPED_FAST, _drop), (State.DROPPED_TRUNCATED, _drop_truncated)):
        dropped = folder / state.name.lower()
        shutil.copytree(tables[State.WIDENED].path, dropped)
        drop(run, dropped)
        tables[state] = _look(spark, dropped, wide)
    return tables


def _values(rows: list[Row]) -> str:
    return ", ".join(f"({n}, array({', '.join(map(str, a))}))" for n, a in rows)


def _drop(run: Callable[[str], object], path: Path) -> None:
    run(f"alter table delta.`{path}` drop feature typeWidening")


def _drop_truncated(run: Callable[[str], object], path: Path) -> None:
    truncate = f"alter table delta.`{path}` drop feature typeWidening truncate history"
    with pytest.raises(Py4JJavaError, match="DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD"):
        run(truncate)
    # Delta reads a commit's age from its file. The test makes the files older instead of waiting.
    retention = "delta.dropFeatureTruncateHistory.retentionDuration"
    run(f"alter table delta.`{path}` set tblproperties ('{retention}' = 'interval 0 hours')")
    old = time.time() - 2 * _A_DAY
    for file in (path / "_delta_log").iterdir():
        os.utime(file, (old, old))
    run(truncate)


def _look(spark: SparkSession, path: Path, content: Content) -> Table:
    rows = spark.sql(f"show tblproperties delta.`{path}`").collect()
    properties = {row.key: row.value for row in rows}
    prefix = "delta.feature."
    return Table(
        path,
        content,
        (int(properties["delta.minReaderVersion"]), int(properties["delta.minWriterVersion"])),
        frozenset(key.removeprefix(prefix) for key in properties if key.startswith(prefix)),
    )
