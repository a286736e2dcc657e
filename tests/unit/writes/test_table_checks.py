"""What can't be written to a table, whatever its columns are."""

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused
from dbt.adapters.deltawiden.writes.table_checks import require_table_partitions

COLUMNS = [("n", "int", None), ("# Partitioning", "string", None), ("p", "date", None)]
HEADING = ("# col_name", "data_type", "comment")
TRANSFORM = [("", "", ""), ("# Partitioning", "", ""), ("Part 0", "days(p)", "")]
BY_COLUMN = [("# Partition Information", "", ""), HEADING, ("p", "date", None)]
METADATA = [("", "", ""), ("# Metadata Columns", "", ""), ("_spec_id", "int", "")]


@pytest.mark.parametrize(
    ("more", "is_refused"),
    [
        ([], True),
        (METADATA, True),
        ([*TRANSFORM, *METADATA], False),
        (BY_COLUMN, False),
        # As older versions of Spark say it.
        ([("", "", ""), ("# Partitioning", "", ""), ("Not partitioned", "", "")], True),
    ],
)
def test_partitions_are_overwritten_only_if_the_table_has_some(
    more: list[tuple[str, str, str]], is_refused: bool
):
    backend: Any = SimpleNamespace(fetch_rows=lambda _: [*COLUMNS, *more])
    table = SparkRelation.create(schema="s", identifier="t")
    spec = ModelSpec("m", partition_by=("p",))
    if not is_refused:
        require_table_partitions(backend, spec, table)
        return
    with pytest.raises(SchemaChangeRefused, match=r"is not partitioned, but .* partition_by: p\."):
        require_table_partitions(backend, spec, table)
