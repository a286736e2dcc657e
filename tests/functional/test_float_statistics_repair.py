"""Wrong statistics of a column that ALTER TABLE alone has widened to double are repaired."""

import json

import pytest

from tests.functional.floats import ENABLED, append, assert_found, create, document, operation
from tests.functional.support import Table, needs_delta_4

pytestmark = [pytest.mark.slow, needs_delta_4]

PROPERTIES = (
    "'delta.columnMapping.mode' = 'name'",
    "'delta.enableDeletionVectors' = 'true'",
    "'delta.enableRowTracking' = 'true'",
)

SAVED = "dbt_deltawiden.statisticsBefore"
COLUMNS = "delta.dataSkippingStatsColumns"


class TestSettingsOfAnEndedWidening:
    """A widening by SQL alone ended before it could restore the settings for statistics."""

    def interrupted(self, table: Table, columns: str) -> Table:
        before = json.dumps({"delta.dataSkippingNumIndexedCols": None, COLUMNS: columns})
        table.spark.sql(
            f"create table {table.quoted} (id int, `a,b` double, s struct<x: int>) using delta "
            f"tblproperties ('{SAVED}' = '{before}', '{COLUMNS}' = 'id', {PROPERTIES[0]})"
        )
        return table

    @pytest.mark.parametrize("command", ["repair_statistics", "widen_columns"])
    def test_are_restored_without_the_columns_that_are_gone(self, project, table, command):
        # Another run has renamed or dropped them.
        given = {"columns": {"id": "int"}} if command == "widen_columns" else {}
        some = self.interrupted(table(f"some_{command}"), "gone,`A,b`,s,s.gone")
        document(operation(command, some, output="json", **given))
        assert (some.properties.get(COLUMNS), some.properties.get(SAVED)) == ("`A,b`,s", None)
        none = self.interrupted(table(f"none_{command}"), "gone")
        document(operation(command, none, output="json", **given))
        assert not {COLUMNS, SAVED} & {*none.properties}


class TestTablesOfOthers:
    """Tables whose column was changed by ``ALTER TABLE`` alone."""

    def altered(self, table: Table, properties: str = ENABLED, clause: str = "") -> Table:
        append(create(table, properties, clause), "0.7", "1.1", "0.5")
        table.spark.sql(f"alter table {table.quoted} alter column x type double, s.x type double")
        append(table, "0.7", "0.3")
        with pytest.raises(AssertionError):
            assert_found(table, "x")
        return table

    @pytest.mark.parametrize(
        "given",
        [
            ENABLED,
            pytest.param(", ".join((ENABLED, *PROPERTIES)), marks=pytest.mark.slow),
            *(pytest.param(f"{ENABLED}, {one}", marks=pytest.mark.slow) for one in PROPERTIES),
        ],
    )
    def test_are_reported_and_repaired(self, project, table, given):
        wrong = self.altered(table("wrong"), given)
        found = document(operation("report_type_widening", wrong, output="json"))
        assert found["files_with_wrong_statistics"] == 2
        assert "dbt run-operation repair_statistics" in found["statistics"]
        before = wrong.version
        dry = document(operation("repair_statistics", wrong, dry_run=True, output="json"))
        assert (dry["state"], dry["files"], wrong.version) == ("dry_run", 2, before)
        done = document(operation("repair_statistics", wrong, output="json"))
        assert (done["state"], done["columns"]) == ("repaired", [["x"], ["s", "x"]])
        assert wrong.operations(since=before) == ["COMPUTE STATS"]
        assert_found(wrong, "x", "s.x")
        again = document(operation("repair_statistics", wrong, output="json"))
        assert again["state"] == "right"
        assert wrong.version == before + 1
        found = document(operation("report_type_widening", wrong, output="json"))
        assert (found["files_with_wrong_statistics"], found["statistics"]) == (0, "")

    @pytest.mark.slow
    def test_are_repaired_by_sql_alone(self, project, table, by_sql_alone):
        wrong = self.altered(table("wrong_by_sql"))
        text = document(operation("report_type_widening", wrong, output="json"))["statistics"]
        assert "SQL can't tell" in text
        done = document(operation("repair_statistics", wrong, output="json"))
        assert "by UPDATE of the whole table" in done["statements"][0]
        assert_found(wrong, "x", "s.x")
        assert document(operation("repair_statistics", wrong, output="json"))["state"] == "right"

    def test_changed_values_of_a_partition_column_are_reported(self, project, table, spark):
        name = table("parted_by_others").quoted
        spark.sql(
            f"create table {name} (id int, x float) using delta partitioned by (x) "
            f"tblproperties ({ENABLED})"
        )
        spark.sql(f"insert into {name} values (1, 1.1F)")
        spark.sql(f"alter table {name} alter column x type double")
        found = document(
            operation("report_type_widening", table("parted_by_others"), output="json")
        )
        assert "the partition values of x are other numbers" in found["statistics"]
        done = document(operation("repair_statistics", table("parted_by_others"), output="json"))
        assert (done["state"], done["partitioned_by_float"]) == ("right", ["x"])
