"""`dbt run-operation analyze`: files that were written without statistics get them."""

import json
from pathlib import Path

import pytest

from tests.functional.operate import document, operate
from tests.functional.support import Table, dbt, needs_delta_4

pytestmark = pytest.mark.slow

WITHOUT = (
    "{{ config(materialized='table', tblproperties={'delta.dataSkippingNumIndexedCols': 0}) }} "
    "select /*+ repartition(2) */ id, cast(id as string) as v from range(10)"
)


def bounds(table: Table) -> list[dict]:
    """The least values of each file, by the newest entry of the file in the log."""
    (detail,) = table.spark.sql(f"describe detail {table.name}").collect()
    log = Path(detail.location.removeprefix("file:")) / "_delta_log"
    added = {}
    for commit in sorted(log.glob("*.json")):
        for line in commit.read_text().splitlines():
            add = json.loads(line).get("add")
            if add:
                added[add["path"]] = json.loads(add["stats"] or "{}").get("minValues", {})
    return list(added.values())


@needs_delta_4
class TestAnalyze:
    @pytest.fixture(scope="class")
    def models(self):
        with_vectors = WITHOUT.replace(": 0}", ": 0, 'delta.enableDeletionVectors': true}")
        return {
            "orders.sql": WITHOUT,
            "vectors.sql": with_vectors,
            "a_view.sql": "select * from {{ ref('orders') }}",
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project, spark):
        run = dbt("run")
        assert set(map(run.status, run.results)) == {"success"}, run.output
        for name in ("orders", "vectors"):
            spark.sql(
                f"alter table {project.test_schema}.{name} "
                "set tblproperties ('delta.dataSkippingNumIndexedCols' = 32)"
            )

    def test_the_files_get_the_statistics_of_their_columns(self, table):
        rows, version = table("orders").rows(), table("orders").version
        assert bounds(table("orders")) == [{}, {}]
        (planned,) = document("analyze", models=["orders"], dry_run=True)["tables"]
        assert (planned["state"], planned["files"]) == ("dry_run", 2)
        assert table("orders").version == version
        (result,) = document("analyze", models=["orders"])["tables"]
        assert (result["state"], result["files"]) == ("analyzed", 2)
        assert table("orders").operations(since=version) == ["COMPUTE STATS"]
        assert table("orders").user_metadata("COMPUTE STATS")["changed_by"] == "analyze"
        assert [sorted(found) for found in bounds(table("orders"))] == [["id", "v"], ["id", "v"]]
        assert min(found["id"] for found in bounds(table("orders"))) == 0
        assert table("orders").rows() == rows
        assert table("orders").rows("id")[0] == (0,)

    def test_what_it_can_not_work_on_is_an_error(self, table):
        version = table("vectors").version
        for dry_run in (True, False):
            printed = operate("analyze", relations=["a_view", "vectors"], dry_run=dry_run)
            assert "analyze: 2 of 2 tables failed" in printed
            assert "This is a view, which has no files. Run analyze on the table" in printed
            assert "DELTA_UNSUPPORTED_STATS_RECOMPUTE_WITH_DELETION_VECTORS" in printed
        assert table("vectors").version == version
