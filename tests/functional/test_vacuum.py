"""`dbt run-operation vacuum`: no file is deleted that a table's retention protects."""

import time

import pytest

from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from tests.functional.aged import folder_of, move_to_older_files
from tests.functional.operate import document, operate
from tests.functional.support import Table, dbt

CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


def files_of(table: Table) -> set[str]:
    return {path.name for path in folder_of(table).glob("*.parquet")}


def can_be_read(table: Table, version: int) -> bool:
    try:
        table.spark.sql(f"select * from {table.name} version as of {version}").collect()
    except SPARK_ERRORS:
        return False
    return True


class TestVacuum:
    @pytest.fixture(scope="class")
    def models(self):
        model = "{{ config(materialized='table') }} select /*+ repartition(1) */ 1 as id"
        short = (
            "{{ config(materialized='table', tblproperties={"
            "'delta.deletedFileRetentionDuration': 'interval 0 hours'}) }} select 1 as id"
        )
        return {
            "orders.sql": model,
            "kept.sql": model,
            "aged.sql": model,
            "short.sql": short,
            "a_view.sql": "select * from {{ ref('orders') }}",
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project, spark):
        # Versions 0 to 2, each with another file; version 3 adds a file and removes none.
        for _ in range(3):
            run = dbt("run", "--exclude", "a_view")
        run = dbt("run", "--select", "a_view")
        assert run.status("a_view") == "success"
        spark.sql(f"insert into {project.test_schema}.orders values (2)")

    def test_a_retention_under_the_tables_is_refused_without_force(self, table):
        files = files_of(table("kept"))
        version = table("kept").version
        printed = operate("vacuum", models=["kept"], retention_hours=167)
        assert "retention_hours: 167 hours is less than the table's retention of 168 hours" in (
            printed
        )
        assert "`force: true`" in printed
        assert files_of(table("kept")) == files
        assert table("kept").version == version

    def test_the_retention_of_the_table_is_kept_with_force_too(self, table):
        (result,) = document("vacuum", models=["kept"], force=True)["tables"]
        assert (result["files"], result["oldest_readable_version"]) == (0, None)
        assert result["retention_hours"] == 168
        assert all(can_be_read(table("kept"), version) for version in range(3))

    def test_a_dry_run_counts_the_files_and_a_forced_run_deletes_them(self, table, spark):
        time.sleep(0.01)  # The last file must be older than this.
        clone, orders = table("clone"), table("orders")
        spark.sql(f"create table {clone.name} shallow clone {orders.name} version as of 1")
        before, version = files_of(table("orders")), table("orders").version
        forced = {"models": ["orders"], "retention_hours": 0, "force": True}
        printed = operate("vacuum", **forced, dry_run=True)
        assert "and shallow clones of older versions lose files" in printed
        assert clone.rows() == [(1,)]
        (planned,) = document("vacuum", **forced, dry_run=True)["tables"]
        assert planned["state"] == "dry_run"
        assert planned["statements"] == [f"vacuum {planned['table']} retain 0 hours dry run"]
        assert files_of(table("orders")) == before
        assert table("orders").version == version
        (result,) = document("vacuum", **forced)["tables"]
        deleted = before - files_of(table("orders"))
        assert result["files"] == planned["files"] == len(deleted) == 2
        # Version 3 only added a row, so version 2 needs no deleted file.
        assert result["oldest_readable_version"] == planned["oldest_readable_version"] == 2
        readable = [number for number in range(4) if can_be_read(table("orders"), number)]
        assert readable == [2, 3]
        with pytest.raises(
            SPARK_ERRORS, match=r"DELTA_FILE_NOT_FOUND|FILE_NOT_EXIST|does not exist"
        ):
            clone.rows()
        assert table("orders").rows() == [(1,), (2,)]
        start = next(row for row in table("orders").history if row.operation == "VACUUM START")
        assert start.operationParameters["retentionCheckEnabled"] == "false"
        assert table("orders").user_metadata("VACUUM START")["changed_by"] == "vacuum"
        # The session of the process still has Delta's check.
        assert spark.conf.get(CHECK) == "true"

    def test_a_table_with_a_short_retention_needs_no_force(self, table):
        time.sleep(0.01)
        printed = operate("vacuum", relations=["short", "a_view"], retention_hours=0)
        assert "deleted 2 files" in printed
        assert "version 2 and newer" in printed
        assert "This is a view, which has no files" in printed
        start = next(row for row in table("short").history if row.operation == "VACUUM START")
        assert start.operationParameters["retentionCheckEnabled"] == "true"

    def test_a_retention_over_the_tables_is_refused_because_delta_would_not_keep_it(self, table):
        files = files_of(table("kept"))
        printed = operate("vacuum", models=["kept"], retention_hours=720, force=True)
        assert "retention_hours: 720 hours is more than the table's retention of 168 hours" in (
            printed
        )
        assert "'delta.deletedFileRetentionDuration' = 'interval 720 hours'" in printed
        assert files_of(table("kept")) == files

    @pytest.mark.slow
    def test_a_forced_retention_of_some_hours_is_used_instead_of_the_tables(
        self, project, table, spark, tmp_path
    ):
        move_to_older_files(table("aged"), tmp_path / "aged", 30 * 3600)
        spark.sql(f"insert overwrite {project.test_schema}.aged values (2)")
        before = files_of(table("aged"))
        (result,) = document("vacuum", models=["aged"], retention_hours=24, force=True)["tables"]
        # The files that were removed 30 hours ago, not the one that was removed now.
        assert len(before - files_of(table("aged"))) == result["files"] == 2
        readable = [number for number in range(4) if can_be_read(table("aged"), number)]
        assert readable == [2, 3]
        assert result["oldest_readable_version"] == 2
        (result,) = document("vacuum", models=["aged"], retention_hours=168)["tables"]
        assert result["files"] == 0

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"retention_hours": -1}, "retention_hours: got -1; accepted: a whole number"),
            ({"retention_hours": 0.4}, "retention_hours: got 0.4; accepted: a whole number"),
            ({"retention_hours": "1"}, "retention_hours: got '1'; accepted: a whole number"),
            ({"retention_hours": True}, "retention_hours: got True; accepted: a whole number"),
            ({"force": "no"}, "force: got 'no'; accepted: true, false"),
            ({"retain": 1}, "there is no argument retain"),
        ],
    )
    def test_wrong_arguments_are_errors_and_nothing_is_done(self, table, arguments, said):
        before = table("kept").version
        assert said in operate("vacuum", models=["kept"], **arguments)
        assert table("kept").version == before
