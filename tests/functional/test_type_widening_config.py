"""`type_widening`, `on_lossy_write`, and the errors of wrong values."""

import shlex
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql.types import IntegerType, StringType

from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.steps import AlterTypes, SetProperties
from dbt.adapters.deltawiden.writes.run_steps import run_before_write
from tests.functional.support import dbt, needs_delta_4

SLOW = [pytest.mark.slow]

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='append_new_columns', {config}) }}}}
select {{{{ var('step') }}}} as id, cast({{{{ var('step') }}}} as {{{{ var('type') }}}}) as amount
"""


def model(config: str) -> str:
    return MODEL.format(config=config)


class TestUnsetFollowsTheTable:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            # As a variable whose default is empty.
            "off.sql": model("type_widening='', on_lossy_write='', rewrite_widened_files=''"),
            "on.sql": model("tblproperties={'delta.enableTypeWidening': 'true'}"),
        }

    def test_a_table_that_has_the_property_widens_and_another_is_refused(self, project, table):
        dbt("run", step=1, type="int")
        off = table("off").version
        run = dbt("run", step=2, type="bigint")
        assert run.status("on") == "success"
        assert table("on").types["amount"] == "bigint"
        assert run.status("off") == "error"
        assert table("off").version == off
        assert "set type_widening: true on the model" in run.message("off")

        command = run.message("off").partition("or run: dbt ")[2].partition(". Programs")[0]
        dbt(*shlex.split(command))
        run = dbt("run", "--select", "off", step=2, type="bigint")
        assert run.status("off") == "success"
        assert table("off").rows() == [(1, 1), (2, 2)]

    def test_a_full_refresh_keeps_the_property_of_the_table(self, project, table):
        project.run_sql(
            "alter table {schema}.off set tblproperties ('delta.enableTypeWidening' = 'true')"
        )
        version = table("off").version
        run = dbt("run", "--full-refresh", "--select", "off", step=1, type="int")
        assert run.status("off") == "success"
        # In one commit: a run that ends here leaves a table that has the property.
        assert len(table("off").operations(version)) == 1
        assert table("off").properties["delta.enableTypeWidening"] == "true"
        assert dbt("run", "--select", "off", step=2, type="bigint").status("off") == "success"


PROPERTIES = """
{% macro tblproperties_clause() %}tblproperties ('team' = 'a'){% endmacro %}
"""
CREATE = """
{% macro create_table_as(temporary, relation, compiled_code, language='sql') %}
  {% if temporary %}{{ spark__create_table_as(temporary, relation, compiled_code) }}{% else %}
  create or replace table {{ relation }} using delta as {{ compiled_code }}
  {% endif %}
{% endmacro %}
"""


class TestUnsetFollowsTheTableUnderMacrosOfTheProject:
    @pytest.fixture(scope="class")
    def models(self):
        return {"off.sql": model("")}

    @pytest.mark.parametrize(
        "macro",
        [
            PROPERTIES.replace("tblproperties_clause", "spark__tblproperties_clause"),
            pytest.param(PROPERTIES, marks=SLOW),
            pytest.param(CREATE, marks=SLOW),
        ],
        ids=["dispatched", "properties", "create"],
    )
    def test_a_full_refresh_keeps_the_property_of_the_table(self, project, table, macro):
        Path(project.project_root, "macros", "own.sql").write_text(macro)
        assert dbt("run", "--full-refresh", step=1, type="int").status("off") == "success"
        assert "delta.enableTypeWidening" not in table("off").properties
        project.run_sql(
            "alter table {schema}.off set tblproperties ('delta.enableTypeWidening' = 'true')"
        )
        run = dbt("run", "--full-refresh", step=1, type="int")
        assert run.status("off") == "success", run.message("off")
        assert table("off").properties.get("delta.enableTypeWidening") == "true"
        assert dbt("run", step=2, type="bigint").status("off") == "success"
        project.run_sql("drop table {schema}.off")


class TestTrueAndFalse:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "created_on.sql": model("type_widening=true"),
            "never.sql": model(
                "type_widening=false, tblproperties={'delta.enableTypeWidening': 'true'}"
            ),
        }

    def test_true_creates_with_the_property_and_false_never_widens(self, project, table):
        dbt("run", step=1, type="int")
        assert table("created_on").properties["delta.enableTypeWidening"] == "true"
        created = table("created_on").version
        never = table("never").version
        run = dbt("run", step=2, type="bigint")
        assert table("created_on").operations(since=created) == [
            "CHANGE COLUMN",
            "WRITE",
            "Manual Update",
        ]
        assert run.status("never") == "error"
        assert "the model sets type_widening: false" in run.message("never")
        assert table("never").version == never


class TestTrueTurnsThePropertyOnWhenItIsFirstNeeded:
    @pytest.fixture(scope="class")
    def models(self):
        return {"late.sql": model("type_widening=var('widening', none)")}

    def test_the_property_is_not_set_before(self, project, table):
        dbt("run", step=1, type="int")
        dbt("run", step=2, type="int", widening=True)
        assert "delta.enableTypeWidening" not in table("late").properties
        before = table("late").version
        run = dbt("run", step=3, type="bigint", widening=True)
        assert run.status("late") == "success"
        told = f"{table('late').quoted}: set {TYPE_WIDENING_PROPERTY} to true. Programs without"
        assert run.output.count(told) == 1
        # With Spark inside dbt, the rewrite of the older files follows.
        operations = table("late").operations(since=before)
        assert operations[:3] == ["SET TBLPROPERTIES", "CHANGE COLUMN", "WRITE"]

    def refused(self, project, table) -> str:
        # No plan has this change. It stands for a refusal that the planner does not expect.
        to_string = TypeChange(("amount",), IntegerType(), StringType())
        name = table("late").name
        enables = SetProperties(name, ((TYPE_WIDENING_PROPERTY, "true"),))
        plan = Plan(name, (enables, AlterTypes(name, (to_string,))))
        with (
            project.adapter.connection_named("test"),
            pytest.raises(DbtDatabaseError, match="DELTA_UNSUPPORTED_ALTER_TABLE") as refused,
        ):
            run_before_write(project.adapter._services.backend, plan, "test")
        return str(refused.value)

    def test_it_is_turned_off_again_when_the_engine_refuses_the_change(self, project, table):
        dbt("run", "--full-refresh", step=1, type="int")
        before, version = table("late").rows(), table("late").version
        assert "\tat " not in self.refused(project, table)
        operations = table("late").operations(since=version)
        assert operations == ["SET TBLPROPERTIES", "UNSET TBLPROPERTIES"]
        assert table("late").properties.get(TYPE_WIDENING_PROPERTY) is None
        assert table("late").types["amount"] == "int"
        assert table("late").rows() == before

    def test_it_stays_on_if_another_run_has_widened_since_the_plan(self, project, spark, table):
        dbt("run", "--full-refresh", step=1, type="int")
        name = table("late").name
        spark.sql(f"alter table {name} set tblproperties ('{TYPE_WIDENING_PROPERTY}' = 'true')")
        spark.sql(f"alter table {name} alter column amount type bigint")
        self.refused(project, table)
        assert table("late").properties[TYPE_WIDENING_PROPERTY] == "true"


@needs_delta_4
class TestCompatibleWith:
    """Only changes that the other formats have are made. Other changes are refused."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": model(f"type_widening=true, type_widening_compatible_with={formats}")
            for name, formats in (
                ("iceberg", ["iceberg_v2"]),
                ("ducklake", ["ducklake"]),
                ("both", ["iceberg_v2", "ducklake"]),
            )
        }

    @pytest.mark.parametrize(
        ("before", "after", "refused"),
        [
            ("int", "bigint", set()),
            ("float", "double", set()),
            pytest.param("decimal(10,2)", "decimal(12,2)", set(), marks=SLOW),
            pytest.param("decimal(10,2)", "decimal(12,4)", {"iceberg", "both"}, marks=SLOW),
            ("date", "timestamp_ntz", {"iceberg", "ducklake", "both"}),
        ],
    )
    def test_a_change_that_a_format_lacks_is_refused(self, project, table, before, after, refused):
        step = dict.fromkeys((before, after), 1)
        if before == "date":
            step = {"date": "date'2024-01-01'", "timestamp_ntz": "timestamp'2024-01-01 10:00:00'"}
        dbt("run", "--full-refresh", step=step[before], type=before)
        versions = {name: table(name).version for name in ("iceberg", "ducklake", "both")}
        run = dbt("run", step=step[after], type=after)
        for name, version in versions.items():
            if name in refused:
                assert run.status(name) == "error"
                assert f"amount: {before} -> {after}" in run.message(name)
                assert "must stay compatible with" in run.message(name)
                assert table(name).version == version
            else:
                assert run.status(name) == "success", run.output
                assert table(name).types["amount"] == after


class TestOnLossyWrite:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{action}.sql": model(f"on_lossy_write='{action}'")
            .replace("append_new_columns", "ignore")
            .replace("cast({{ var('step') }} as {{ var('type') }})", "{{ var('amount') }}")
            for action in ("warn", "error", "ignore")
        }

    def test_each_value_behaves_as_documented(self, project, table):
        dbt("run", step=1, amount="1")
        before = table("error").version
        run = dbt("run", step=2, amount="9.50")
        assert [run.status(name) for name in ("warn", "error", "ignore")] == [
            "success",
            "error",
            "success",
        ]
        assert "`warn` does not store every value" in run.output
        assert "`ignore` does not store every value" not in run.output
        assert (
            "The model error has the value 9.50 (decimal(3,2)) for the column amount"
            in run.message("error")
        )
        assert table("error").version == before

    def test_a_warning_stops_the_run_under_warn_error_before_it_writes(self, project, table):
        dbt("run", "--full-refresh", step=1, amount="1")
        before = table("warn").version
        run = dbt("--warn-error", "run", "--select", "warn", step=2, amount="9.50")
        assert run.status("warn") == "error"
        assert table("warn").version == before


WARNED = {
    "by_region": ("partition_by='region'", "'' as region, 1 as id", "`by_region`", "region"),
    "in_csv": ("file_format='csv'", "1 as id, ' x' as v", "The csv table of in_csv", "v"),
    "coded": ("", "'ab' as code, 1 as id", "`coded`", "code"),
    "dated": ("", "{{ 'date' if var('step') == 2 else 'timestamp' }}'2024-01-01' as day", "", ""),
}


class TestAWarningNamesWhatAnErrorWouldCheck:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": "{{ config(materialized='incremental', on_lossy_write='warn', "
            f"{config}) }}}} select {columns}"
            for name, (config, columns, _, _) in WARNED.items()
        }

    def test_before_the_write(self, project, table, spark):
        spark.sql(f"create table {table('coded').name} (code char(5), id int) using delta")
        run = dbt("--warn-error", "run", step=1)
        for name, (_, _, shown, column) in WARNED.items():
            assert run.status(name) == ("error" if shown else "success"), run.message(name)
            text = f"{shown} may not store each value of these columns exactly: {column}."
            assert text in run.message(name) or not shown
        assert table("coded").rows() == []
        for name in ("by_region", "in_csv"):
            assert not spark.catalog.tableExists(table(name).name)
        for step in (1, 2):
            run = dbt("run", step=step)
            for name, (_, _, shown, column) in WARNED.items():
                assert run.status(name) == "success", run.message(name)
                text = f"{shown} may not store each value of these columns exactly: {column}."
                assert not shown or run.output.count(text) == 1, name
            text = "`dated` may not store each value of these columns exactly: day."
            assert (text in run.output) == (step == 2)


class TestWrongValues:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "wrong.sql": model("type_widening='yes', on_lossy_write='shout'").replace(
                "append_new_columns", "append_new_column"
            ),
            "wrong_list.sql": model("type_widening_compatible_with=['iceberg_v2', 'hudi']"),
        }

    def test_every_wrong_value_is_named_with_the_accepted_values_and_nothing_runs(self, project):
        run = dbt("run", step=1, type="int")
        message = run.message("wrong")
        assert "The configuration of model.test.wrong is not valid" in message
        assert "on_schema_change: got 'append_new_column'; accepted: ignore, append_" in message
        assert "type_widening: got 'yes'; accepted: true, false" in message
        assert "on_lossy_write: got 'shout'; accepted: error, warn, ignore" in message
        assert "type_widening_compatible_with: got 'hudi'" in run.message("wrong_list")
        tables = project.run_sql("show tables in {schema}", fetch="all")
        assert [table.tableName for table in tables if not table.isTemporary] == []
