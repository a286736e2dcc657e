"""What can't be written to a table, whatever its columns are."""

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import StringType, StructField, StructType, TimestampType

from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.widening.backfill import FillColumns
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.schema_diff import FieldDifference
from dbt.adapters.deltawiden.widening.steps import AddColumns
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused
from dbt.adapters.deltawiden.writes.table_checks import (
    check_without_version,
    refused_new_keys,
    require_table_partitions,
    value_check,
)
from dbt.adapters.deltawiden.writes.write_planner import Schemas, WritePlanner

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


@pytest.mark.parametrize(("version", "shifts"), [((4, 0), True), ((4, 1), False)])
def test_the_version_of_delta_decides_how_a_timestamp_in_a_partition_is_checked(version, shifts):
    backend: Any = SimpleNamespace(engine=lambda: SimpleNamespace(delta=version))
    table = SparkRelation.create(schema="s", identifier="t").replace(is_delta=True)
    of = ("m", table, StructType().add("at", TimestampType()), frozenset({"at"}))
    assert check_without_version(*of).partition_columns == {"at"}
    assert value_check(backend, *of).shifts_moments is shifts


def test_the_version_of_delta_is_not_read_without_a_timestamp_in_a_partition():
    backend: Any = None
    table = SparkRelation.create(schema="s", identifier="t").replace(is_delta=True)
    assert value_check(backend, "m", table, StructType().add("at", TimestampType())).model == "m"


ADDED = StructField("region", StringType())


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ({"strategy": "merge", "unique_key": ("id", "Region")}, "unique_key"),
        ({"strategy": "delete+insert", "unique_key": ("`region`",)}, "unique_key"),
        ({"strategy": "merge", "unique_key": ("region-id", "id.region")}, ""),
        ({"strategy": "", "unique_key": ("concat(id, region)",)}, "unique_key"),
        (
            {"strategy": "merge", "unique_key": ("id || region",), "is_written_by_project": True},
            "unique_key",
        ),
        ({"strategy": "microbatch", "event_time": "region"}, "event_time"),
        (
            {"strategy": "microbatch", "event_time": "at", "predicates": ("region = 'eu'",)},
            "incremental_predicates",
        ),
        ({"strategy": "replace_where", "predicates": ("region = 'eu'",)}, "incremental_predicates"),
        ({"strategy": "merge", "unique_key": ("id",), "predicates": ("region = 'eu'",)}, ""),
        ({"strategy": "append", "unique_key": ("region",)}, ""),
        (
            {
                "strategy": "merge",
                "unique_key": ("region",),
                "merge_clauses": MergeClauses(not_matched_by_source_action="delete"),
            },
            "",
        ),
        # A snapshot can have the key of its folder. Its MERGE does not read it.
        (
            {
                "strategy": "",
                "unique_key": ("region",),
                "merge_clauses": MergeClauses(not_matched_by_source_action="delete"),
            },
            "unique_key",
        ),
        ({"strategy": "merge", "unique_key": ("regions",)}, ""),
        (
            {"strategy": "microbatch", "event_time": "region", "is_written_by_project": True},
            "",
        ),
    ],
)
@pytest.mark.parametrize("has_rows", [True, False])
def test_a_new_column_finds_no_row_that_exists(spec: dict[str, Any], key: str, has_rows: bool):
    backend: Any = SimpleNamespace(fetch_rows=lambda _: [(1,)] if has_rows else [])
    plan = Plan("`s`.`t`", (AddColumns("`s`.`t`", (FieldDifference(("region",), ADDED),)),))
    found = list(refused_new_keys(ModelSpec("m", **spec), plan, backend))
    if not (key and has_rows):
        assert not found
        return
    (refusal,) = found
    assert refusal.subject == "region: string"
    why, do = refusal.words("`s`.`t`", "", "")
    assert f"{key} uses it" in why
    assert "alter table `s`.`t` add columns (`region` string)" in do
    filled = plan.adding(FillColumns("`s`.`t`", (("region", "'eu'"),)))
    assert not list(refused_new_keys(ModelSpec("m", **spec), filled, backend))


def test_the_columns_that_hudi_writes_are_not_missing_in_the_model():
    ours = [StructField(name, StringType()) for name in ("id", "name")]
    of_hudi = [StructField("_hoodie_commit_time", StringType())]
    of_hudi += [StructField("_hoodie_file_name", StringType())]
    table = SparkRelation.create(
        schema="s", identifier="t", type="table", is_hudi=True, information="Provider: hudi\n"
    )
    spec = ModelSpec("m", file_format="hudi")
    no_rows = (None, SimpleNamespace(rows=[]))
    evolution = WritePlanner(SqlBackend(lambda *_, **__: no_rows, lambda: None))
    plan = evolution.plan_incremental(
        Schemas(StructType(ours), StructType([*of_hudi, *ours])), table, spec, ""
    )
    assert [column.name for column in plan.write.columns] == ["id", "name"]
    assert not plan.steps
