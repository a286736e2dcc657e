"""`dbt run-operation enable_type_widening` and `disable_type_widening`: the table property."""

import json
import shutil
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt_and_capture

from dbt.adapters.deltawiden.operations.delta_clients import DELTA_CLIENTS
from tests.functional.support import Table, dbt

ENABLED = "delta.enableTypeWidening"
LOST = [reader for reader in DELTA_CLIENTS if reader.is_lost]
MODEL = "{{ config(materialized='incremental') }} select 1 as id"


def operate(name: str, *flags: str, **arguments: object) -> str:
    return dbt(*flags, "run-operation", name, "--args", json.dumps(arguments)).output


def enable(**arguments: object) -> str:
    return operate("enable_type_widening", **arguments)


def disable(**arguments: object) -> str:
    return operate("disable_type_widening", **arguments)


def document(name: str, **arguments: object) -> dict:
    printed = operate(name, "--quiet", **arguments, output="json")
    (line,) = [line for line in printed.splitlines() if line.startswith("{")]
    return json.loads(line)


def location(table: Table) -> Path:
    (detail,) = table.spark.sql(f"describe detail {table.name}").collect()
    return Path(detail.location.removeprefix("file:"))


def is_enabled(table: Table) -> bool:
    return table.properties.get(ENABLED) == "true"


def features(table: Table) -> set[str]:
    return {key for key in table.properties if key.startswith("delta.feature.typeWidening")}


class TestEnable:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": MODEL,
            "items.sql": MODEL,
            "orders_view.sql": "{{ config(materialized='view') }} select 1 as id",
            "orders_file.sql": "{{ config(file_format='parquet', materialized='table') }} select 1",
        }

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        dbt("run")

    @pytest.fixture(autouse=True)
    def fresh_tables(self, built, table):
        # No statement drops a table feature quickly, so a table that was changed is created again.
        for changed in (table(name) for name in ("orders", "items")):
            if changed.version > 0:
                changed.spark.sql(f"drop table {changed.name}")
                changed.spark.sql(f"create table {changed.name} (id int) using delta")

    def test_models_are_selected(self, project, table):
        before = table("orders").version
        assert "enabled" in enable(models=["orders"])
        assert is_enabled(table("orders"))
        assert table("orders").operations(since=before) == ["SET TBLPROPERTIES"]
        changed_by = table("orders").user_metadata("SET TBLPROPERTIES")["changed_by"]
        assert changed_by == "enable_type_widening"
        assert not is_enabled(table("items"))

    def test_relations_are_selected_by_name(self, project, table):
        enable(relations=[f"{project.test_schema}.orders", "items"])
        assert is_enabled(table("orders"))
        assert is_enabled(table("items"))

    def test_a_schema_selects_all_its_delta_tables(self, project, table):
        output = enable(schema=project.test_schema)
        assert is_enabled(table("orders"))
        assert is_enabled(table("items"))
        assert "orders_view" not in output
        assert "orders_file" not in output

    def test_a_dry_run_shows_the_statement_and_the_readers_and_changes_nothing(
        self, project, table
    ):
        before = table("orders").version
        output = enable(models=["orders"], dry_run=True)
        assert f"dry run: alter table `{project.test_schema}`.`orders` set tblproperties" in output
        for reader in LOST:
            assert f"{reader.name} {reader.version}" in output
        assert "filters of a Spark without spark.sql.parquet.filterPushdown.decimal=false" in output
        assert table("orders").version == before
        assert not features(table("orders"))

    def test_the_readers_are_shown_before_the_statement_runs(self, project, table):
        output = operate("enable_type_widening", "--debug", models=["orders"])
        warning = output.index("These programs lose access as soon as")
        assert warning < output.index("set tblproperties ('delta.enableTypeWidening' = 'true')")

    def test_each_reader_is_shown_with_its_source_and_date(self, project, table):
        output = enable(models=["orders"])
        for reader in LOST:
            (line,) = [
                line for line in output.splitlines() if f" {reader.name} {reader.version} " in line
            ]
            assert reader.date in line
            assert (reader.sources[0] if reader.sources else "measured") in line

    def test_a_table_with_the_property_is_not_changed(self, project, table):
        enable(models=["orders"])
        before = table("orders").version
        output = enable(models=["orders"])
        assert "is enabled already" in output
        assert "loses none: it has the table feature typeWidening" in output
        assert "Readers are lost" not in output
        assert table("orders").version == before

    def test_only_a_table_that_gains_the_feature_loses_readers(self, project, table):
        enable(models=["orders"])
        disable(models=["orders"])
        output = enable(models=["orders", "items"])
        assert f"is new to `{project.test_schema}`.`items`, and moves" in output
        assert "loses none: it has the table feature typeWidening" in output
        assert is_enabled(table("orders"))

    def test_a_table_with_other_features_loses_readers_that_are_not_known(
        self, project, table, spark
    ):
        spark.sql(
            f"alter table {table('items').name} set tblproperties "
            "('delta.enableDeletionVectors' = 'true')"
        )
        alone = enable(models=["items"], dry_run=True)
        assert "moves the protocol" not in alone
        assert "These programs lose access to a table without other features as soon as" in alone
        assert f"{len(LOST)} known readers of a table without other features lose" in alone
        both = document("enable_type_widening", models=["orders", "items"])["tables"]
        assert [each["moves_protocol"] for each in both] == [True, False]

    def test_disabling_says_that_the_readers_stay_lost(self, project, table):
        enable(models=["orders"])
        had = features(table("orders"))
        output = disable(models=["orders"])
        assert "disabled" in output
        assert "stays, and locks readers out, until drop_type_widening removes it" in output
        assert table("orders").properties[ENABLED] == "false"
        assert had
        assert features(table("orders")) == had
        newest = json.loads(table("orders").history[-1].userMetadata)
        assert newest["changed_by"] == "disable_type_widening"

    def test_disabling_in_a_dry_run_changes_nothing(self, project, table):
        enable(models=["orders"])
        before = table("orders").version
        assert "dry run: alter table" in disable(models=["orders"], dry_run=True)
        assert table("orders").version == before
        assert is_enabled(table("orders"))

    def test_disabling_a_table_without_the_property_changes_nothing(self, project, table):
        before = table("orders").version
        output = disable(models=["orders"])
        assert "is not enabled" in output
        assert "loses none" in output
        assert table("orders").version == before

    @pytest.mark.parametrize("name", ["enable_type_widening", "disable_type_widening"])
    def test_other_relations_are_named_and_the_delta_tables_are_enabled(self, project, table, name):
        output = operate(name, models=["orders_view", "orders_file", "orders"])
        assert f"{name}: 2 of 3 tables failed" in output
        assert f"`{project.test_schema}`.`orders_view`:\n    This is a view" in output
        assert (
            f"`{project.test_schema}`.`orders_file`:\n    This is not a Delta table (parquet)"
            in output
        )
        assert is_enabled(table("orders")) == (name == "enable_type_widening")

    def test_enabling_prints_one_json_document(self, project, table):
        enable(models=["items"])
        printed = document("enable_type_widening", models=["orders", "items"])
        assert printed["failed"] == 0
        assert [reader["reader"] for reader in printed["readers_lost"]] == [
            reader.name for reader in LOST
        ]
        assert all(reader["source"] and reader["date"] for reader in printed["readers_lost"])
        orders, items = printed["tables"]
        assert (orders["result"], orders["gains_feature"]) == ("enabled", True)
        assert (items["result"], items["gains_feature"]) == ("is enabled already", False)
        assert orders["feature"].startswith("typeWidening")
        assert len(orders["statements"]) == 1
        assert items["statements"] == []
        again = document("enable_type_widening", models=["orders", "items"])
        assert again["readers_lost"] == []

    def test_disabling_prints_one_json_document(self, project, table):
        enable(models=["orders"])
        printed = document("disable_type_widening", models=["orders", "orders_view"])
        assert printed["failed"] == 1
        orders, view = printed["tables"]
        assert orders["result"] == "disabled"
        assert orders["feature"].startswith("typeWidening")
        assert view["error"].startswith("This is a view")

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"model": ["orders"]}, "there is no argument model; accepted: models, relations,"),
            ({"models": ["orders"], "dry_run": "false"}, "dry_run: got 'false'; accepted: true,"),
            ({}, "say which tables"),
        ],
    )
    @pytest.mark.parametrize("name", ["enable_type_widening", "disable_type_widening"])
    def test_an_argument_that_is_not_accepted_changes_nothing(
        self, project, table, name, arguments, expected
    ):
        before = table("orders").version
        assert expected in operate(name, **arguments)
        assert table("orders").version == before


@pytest.mark.slow
class TestFiftyTables:
    """One call for a schema of fifty tables. Three of them are broken in different ways."""

    TABLES = [f"t{number:02}" for number in range(50)]
    NO_LOCATION, NO_LOG, NO_COMMIT = BROKEN = ("t07", "t23", "t42")

    @pytest.fixture(scope="class", autouse=True)
    def tables(self, project, spark):
        for name in self.TABLES:
            spark.sql(f"create table {project.test_schema}.{name} (id int) using delta")
        here = {
            name: location(Table(spark, f"{project.test_schema}.{name}")) for name in self.BROKEN
        }
        shutil.rmtree(here[self.NO_LOCATION])
        shutil.rmtree(here[self.NO_LOG] / "_delta_log")
        commit = here[self.NO_COMMIT] / "_delta_log" / f"{0:020}.json"
        whole = commit.read_text(encoding="utf-8")
        commit.write_text(whole[: len(whole) // 2], encoding="utf-8")
        # The checksums and Delta's cache no longer match the commit.
        for remembered in (commit.with_name(f".{commit.name}.crc"), commit.with_suffix(".crc")):
            remembered.unlink(missing_ok=True)
        spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    @pytest.fixture(scope="class")
    def output(self, project, tables):
        arguments = json.dumps({"schema": project.test_schema})
        command = ["run-operation", "enable_type_widening", "--args", arguments]
        _, output = run_dbt_and_capture(command, expect_pass=False)
        return output

    def test_the_run_fails_and_names_the_three(self, project, output):
        assert "enable_type_widening: 3 of 50 tables failed" in output
        failures = output.split("3 of 50 tables failed", 1)[1]
        named = [name for name in self.TABLES if f"`{project.test_schema}`.`{name}`:" in failures]
        assert named == list(self.BROKEN)

    def test_each_failure_shows_its_reason(self, project, output):
        failures = output.split("3 of 50 tables failed", 1)[1]
        of_location, of_log, of_commit = (
            failures.split(f"`{project.test_schema}`.`{name}`:", 1)[1].split("\n\n", 1)[0]
            for name in self.BROKEN
        )
        assert "DELTA_PATH_DOES_NOT_EXIST" in of_location
        assert "DELTA_PATH_DOES_NOT_EXIST" in of_log
        assert "_delta_log/00000000000000000000.json" in of_commit

    def test_the_other_forty_seven_are_enabled(self, project, output, table):
        whole = [name for name in self.TABLES if name not in self.BROKEN]
        assert len(whole) == 47
        assert all(is_enabled(table(name)) for name in whole)

    def test_the_readers_are_shown_once_for_all_tables(self, project, output):
        assert output.count("These programs lose access as soon as") == 1
        assert "and 44 more" in output
