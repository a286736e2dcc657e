"""`dbt run-operation optimize`: fewer files, the same rows."""

import json

import pytest

from tests.functional.operate import document, operate, succeeds
from tests.functional.support import dbt

FOUR_FILES = "select /*+ repartition(4) */ id, concat('v', id) as v from range(40)"
ODD_NAMES = """
{{ config(materialized='table', tblproperties={'delta.columnMapping.mode': 'name'}) }}
select /*+ repartition(4) */ id, id + 1 as `a b` from range(40)
"""


def file_count(table) -> int:
    return table.spark.sql(f"describe detail {table.name}").collect()[0].numFiles


class TestOptimize:
    @pytest.fixture(scope="class")
    def models(self):
        table = "{{ config(materialized='table') }} "
        return {
            "small_files.sql": table + FOUR_FILES,
            "shown.sql": table + FOUR_FILES,
            "ordered.sql": ODD_NAMES,
            "days.sql": "{{ config(materialized='table', partition_by='day') }} "
            "select /*+ repartition(3, id) */ id, id div 20 as day from range(40)",
            "of_parquet.sql": "{{ config(materialized='table', file_format='parquet') }} select 1",
            "of_small_files.sql": "select * from {{ ref('small_files') }}",
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project, spark):
        run = dbt("run")
        assert set(map(run.status, run.results)) == {"success"}, run.output
        name = f"{project.test_schema}.clustered"
        spark.sql(f"create table {name} (id int, n int) using delta cluster by (id)")
        for number in range(2):
            spark.sql(f"insert into {name} values ({number}, 1)")

    def test_a_dry_run_shows_the_statement_and_changes_nothing(self, table):
        before = table("shown").version
        (result,) = document("optimize", models=["shown"], zorder_by="id", dry_run=True)["tables"]
        assert result["state"] == "dry_run"
        (statement,) = result["statements"]
        assert statement == f"optimize {result['table']} zorder by (id)"
        assert table("shown").version == before
        assert result["files"] == file_count(table("shown")) > 1

    def test_files_are_compacted_and_the_metrics_are_deltas(self, table):
        rows, files = table("small_files").rows(), file_count(table("small_files"))
        (result,) = document("optimize", models=["small_files"])["tables"]
        assert file_count(table("small_files")) == 1
        assert table("small_files").rows() == rows
        commit = table("small_files").history[-1]
        assert commit.operation == "OPTIMIZE"
        assert table("small_files").user_metadata("OPTIMIZE")["changed_by"] == "optimize"
        assert (result["state"], result["files_removed"], result["files_added"]) == (
            "optimized",
            files,
            1,
        )
        assert str(result["bytes_removed"]) == commit.operationMetrics["numRemovedBytes"]
        assert str(result["bytes_added"]) == commit.operationMetrics["numAddedBytes"]
        # A second call has nothing to do, and makes no commit.
        (again,) = document("optimize", models=["small_files"])["tables"]
        assert (again["state"], again["files_removed"]) == ("nothing_to_do", 0)
        assert table("small_files").version == commit.version

    def test_rows_are_ordered_by_columns_that_need_quotes(self, table):
        printed = operate("optimize", models=["ordered"], zorder_by=["a b", "id"])
        assert "became 1 file" in printed
        ordered_by = json.loads(table("ordered").history[-1].operationParameters["zOrderBy"])
        assert ordered_by == ["a b", "id"]

    def test_only_the_partitions_of_a_condition_are_compacted(self, table):
        before = file_count(table("days"))
        operate("optimize", models=["days"], where="day = 1 -- the newest")
        assert table("days").history[-1].operation == "OPTIMIZE"
        counted = "select day, count(distinct _metadata.file_path) from {} group by day"
        per_day = dict(table("days").spark.sql(counted.format(table("days").name)).collect())
        assert per_day[1] == 1
        assert per_day[0] > 1
        assert file_count(table("days")) < before

    def test_the_tables_that_it_can_not_work_on_are_errors_and_the_others_are_done(self, table):
        name = table("clustered").name
        wrong = ["of_parquet", "of_small_files", "clustered"]
        version = table("ordered").version
        found = document("optimize", relations=[*wrong, "ordered"], zorder_by="id")
        assert found["failed"] == 3
        errors = {
            result["table"].split(".")[1].strip("`"): result.get("error", "")
            for result in found["tables"]
        }
        assert "not a Delta table (parquet): OPTIMIZE needs one" in errors["of_parquet"]
        assert "This is a view" in errors["of_small_files"]
        assert "This table is clustered by id" in errors["clustered"]
        assert "Leave `zorder_by` out" in errors["clustered"]
        assert errors["ordered"] == ""
        assert table("ordered").operations(since=version) == ["OPTIMIZE"]
        assert not succeeds("optimize", relations=[name], where="id = 1")
        assert succeeds("optimize", relations=[name])
        assert table("clustered").history[-1].operationParameters["clusterBy"] == '["id"]'

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"zorder_by": []}, "zorder_by: got []; accepted: a column's name, or a list of them"),
            ({"zorder_by": 3}, "zorder_by: got 3; accepted"),
            ({"where": ""}, "where: got ''; accepted: a condition"),
            ({"zorder_by": "nope"}, "Z-Ordering column nope does not exist"),
            ({"where": "id = 1"}, "Only the partition columns may be referenced"),
            ({"full": True}, "there is no argument full"),
        ],
    )
    def test_wrong_arguments_are_errors_and_nothing_is_done(self, table, arguments, said):
        before = table("shown").version
        assert said in operate("optimize", models=["shown"], **arguments)
        assert table("shown").version == before
