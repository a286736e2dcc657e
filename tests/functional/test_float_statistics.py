"""After a model widens a float to double, filters and merges find the rows from before."""

import pytest
from pyspark.sql import SparkSession

from tests.functional.floats import MODEL, assert_found, operation
from tests.functional.support import dbt, in_part_slow, needs_delta_4, selected

pytestmark = needs_delta_4

CONFIGURATIONS = {
    "plain": "tblproperties={}",
    "mapped": "tblproperties={'delta.columnMapping.mode': 'name'}",
    "vectors": "tblproperties={'delta.enableDeletionVectors': 'true',"
    " 'delta.enableRowTracking': 'true'}",
    "parts": "partition_by='part'",
    "few": "tblproperties={'delta.dataSkippingStatsColumns': 'x'}",
}
SLOW = ("mapped", "few")
each_configuration = pytest.mark.parametrize("name", in_part_slow(CONFIGURATIONS, SLOW))


class TestModels:
    @pytest.fixture(scope="class")
    def names(self, request: pytest.FixtureRequest) -> set[str]:
        return {"plain", "vectors"} | selected(request, "name")

    @pytest.fixture(scope="class")
    def models(self, names: set[str]):
        return {f"{name}.sql": MODEL.format(config=CONFIGURATIONS[name]) for name in names}

    @pytest.fixture(scope="class", autouse=True)
    def runs(self, project, names: set[str], spark: SparkSession):
        dbt("run", rows="(1, '0.7'), (2, '1.1'), (3, null)")
        dbt("run", rows="(4, '-0.1'), (5, '0.7'), (6, 'NaN')")
        for name in names:
            spark.sql(f"delete from {project.test_schema}.{name} where id in (3, 5)")
        return dbt("run", type="double", rows="(4, '0.3'), (7, '0.123456789012')")

    @each_configuration
    def test_filters_find_the_old_rows(self, runs, table, name):
        assert runs.status(name) == "success", runs.message(name)
        assert table(name).types["x"] == "double"
        assert_found(table(name), "x", "s.`x.y`", "m['k']")
        assert table(name).rows("id", "x")[0] == (1, 0.699999988079071)

    @each_configuration
    def test_a_merge_by_the_column_finds_them(self, runs, table, spark, name):
        count = spark.table(table(name).name).count()
        spark.sql(
            f"merge into {table(name).quoted} t using (select 1 as id, double('0.7') as x) n "
            "on t.id = n.id and t.x < n.x when matched then update set part = part "
            "when not matched then insert (id, x) values (n.id, n.x)"
        )
        assert spark.table(table(name).name).count() == count

    def test_the_history_has_the_commits_of_the_statistics_and_the_column(self, runs, table):
        operations = [row.operation for row in table("plain").history]
        at = operations.index("COMPUTE STATS")
        assert operations[at : at + 3] == ["COMPUTE STATS", "CHANGE COLUMNS", "MERGE"]
        assert table("plain").user_metadata("COMPUTE STATS")["changed_by"] == "model.test.plain"
        assert table("plain").user_metadata("CHANGE COLUMNS")["changed_by"] == "model.test.plain"

    def test_row_ids_stay(self, runs, table, spark):
        rows = spark.sql(f"select id, _metadata.row_id from {table('vectors').quoted}").collect()
        assert len({row.row_id for row in rows}) == len(rows)


class TestPartitionColumn:
    @pytest.fixture(scope="class")
    def models(self):
        return {"parted.sql": MODEL.format(config="partition_by='x'")}

    def test_is_refused_in_a_run_and_by_hand(self, project, table):
        dbt("run", rows="(1, '0.7')")
        before = table("parted").version
        run = dbt("run", type="double", rows="(2, '0.3')")
        assert "the table is partitioned by this column" in run.message("parted")
        by_hand = operation("widen_columns", table("parted"), columns={"x": "double"})
        assert "the table is partitioned by this column" in by_hand.output
        assert table("parted").version == before


class TestCheckpointsWithoutTextsOfStatistics:
    """Delta makes the text of a bound anew from a checkpoint, in which it is a float."""

    @pytest.fixture(scope="class")
    def models(self):
        properties = (
            "tblproperties={'delta.checkpoint.writeStatsAsJson': var('as_text', 'false'), "
            "'delta.checkpointInterval': '1', 'delta.enableDeletionVectors': 'true'}"
        )
        return {f"{name}.sql": MODEL.format(config=properties) for name in ("models", "by_hand")}

    @pytest.fixture(scope="class", autouse=True)
    def refused(self, project, spark: SparkSession):
        dbt("run", rows="(1, '0.7'), (2, '1.1'), (3, null)")
        dbt("run", rows="(4, '-0.1'), (5, '0.7'), (6, 'NaN')")
        for name in ("models", "by_hand"):
            spark.sql(f"delete from {project.test_schema}.{name} where id in (3, 5)")
        return dbt("run", type="double", rows="(4, '0.3')")

    def test_refuse_a_run_until_the_property_allows_it(self, refused, table, spark):
        assert "Why: delta.checkpoint.writeStatsAsJson is false" in refused.message("models")
        assert table("models").types["x"] == "float"
        spark.sql(
            f"alter table {table('models').quoted} set tblproperties "
            "('delta.checkpoint.writeStatsAsJson' = 'true')"
        )
        rows = "(4, '0.3'), (7, '0.123456789012')"
        run = dbt("run", "--select", "models", type="double", as_text="true", rows=rows)
        assert run.status("models") == "success", run.message("models")
        assert_found(table("models"), "x", "s.`x.y`", "m['k']")
        # Later checkpoints have the bounds as doubles.
        rows = "(8, '1.1'), (9, '0.7')"
        run = dbt("run", "--select", "models", type="double", as_text="false", rows=rows)
        assert run.status("models") == "success", run.message("models")
        assert_found(table("models"), "x", "s.`x.y`", "m['k']")

    @pytest.mark.slow
    def test_let_a_person_widen_the_column(self, refused, table):
        changes = {"x": "double", "s.`x.y`": "double", "m.value": "double"}
        run = operation("widen_columns", table("by_hand"), columns=changes)
        assert table("by_hand").types["x"] == "double", run.output
        assert_found(table("by_hand"), "x", "s.`x.y`", "m['k']")
        run = dbt("run", "--select", "by_hand", type="double", rows="(4, '0.3'), (8, '1.1')")
        assert run.status("by_hand") == "success", run.message("by_hand")
        assert_found(table("by_hand"), "x", "s.`x.y`", "m['k']")
