"""`dbt run-operation check_project` names what differs from dbt-spark in a project."""

import json
from pathlib import Path

import pytest
from dbt.adapters.factory import reset_adapters
from dbt.tests.util import run_dbt_and_capture
from dbt_common.exceptions import DbtRuntimeError

from tests.functional.operate import document, operate, read_document
from tests.functional.support import dbt, needs_delta_4

DELTA = "materialized='incremental', file_format='delta'"
MERGE = f"{DELTA}, incremental_strategy='merge', unique_key='id'"
MODELS = {
    "reads_name.sql": "{{ config(materialized='view') }}\n"
    "-- target.type, {# target.type, set spark.sql.caseSensitive = true #}\n"
    "select {% if target.type in ['spark', 'databricks'] %} 1 {% else %} 2 {% endif %} as id\n"
    "{% if target.type in ['spark', 'deltawiden'] %} where true {% endif %}",
    "sets.sql": "{{ config(materialized='view', post_hook=[\n"
    "'set spark.sql.parquet.outputTimestampType = TIMESTAMP_MILLIS']) }} select 1 as id",
    "no_format.sql": "\n{{ config(materialized='table') }} select 1 as id",
    "by_period.sql": "\n{{ config(materialized='by_period', file_format='delta') }} select 1 as id",
    "first.sql": "{{ config(materialized='table', file_format='delta', alias='same',\n"
    "location_root=var('root')) }} select 1 as id",
    "second.sql": "{{ config(materialized='table', file_format='delta', alias='same',\n"
    "schema='other', location_root=var('root')) }} select 1 as id",
    "misspelt.sql": f"{{{{ config({DELTA}, type_widening=true,\n"
    "on_schema_change='append_new_column') }} select 1 as id",
    "keyed.sql": f"{{{{ config({MERGE}) }}}} select 7 as id",
    "future.sql": f"{{{{ config({DELTA}) }}}} select 1 as id",
    "wide.sql": f"{{{{ config({DELTA}) }}}} select cast(1 as int) as amount",
    "seen.sql": "{{ config(materialized='view') }} select amount from {{ ref('wide') }}",
    "hooked.sql": f"{{{{ config({DELTA},\npre_hook=['delete from {{{{ this }}}} where id > 0', "
    '"{{ deletes(this) }}", "delete from {{ this.schema }}.other"]) }} select 1 as id',
    "refused.sql": f"{{{{ config({DELTA}, on_schema_change='append_new_columns') }}}} "
    "select cast(1.5 as double) as amount",
    "rounds.sql": f"{{{{ config({DELTA}) }}}} select cast(1.2367 as decimal(10,4)) as amount",
    "accepts.sql": f"{{{{ config({DELTA}, on_lossy_write='ignore') }}}} "
    "select cast(1.2367 as decimal(10,4)) as amount",
}
BY_PERIOD = """
{% materialization by_period, default %}{{ return({'relations': []}) }}{% endmaterialization %}
"""
INSERT = """
{% macro get_insert_into_sql(source, target) %}insert into t select 1{% endmacro %}
{% macro default__process_schema_changes(how, source, target) %}{% endmacro %}
{% macro spark__get_columns_in_relation_raw(relation) %}{% endmacro %}
"""
DELETES = "{% macro deletes(table) %}{% do run_query('truncate table ' ~ table) %}{% endmacro %}"
AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"


class _DbtSparkProject:
    @pytest.fixture(scope="class")
    def dbt_profile_data(self, dbt_profile_data, unique_schema):
        """The profile still has the target of dbt-spark."""
        old = {"type": "spark", "method": "session", "host": "localhost", "schema": unique_schema}
        dbt_profile_data["test"]["outputs"]["dev"] = old
        return dbt_profile_data


@needs_delta_4
class TestCheckProject(_DbtSparkProject):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        given = {**dbt_profile_target.get("server_side_parameters", {}), AUTO_MERGE: "true"}
        return {**dbt_profile_target, "server_side_parameters": given}

    @pytest.fixture(scope="class")
    def project_config_update(self, tmp_path_factory):
        return {"vars": {"root": str(tmp_path_factory.mktemp("root"))}}

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def macros(self):
        return {"by_period.sql": BY_PERIOD, "inserts.sql": INSERT, "deletes.sql": DELETES}

    @pytest.fixture(scope="class")
    def seeds(self):
        properties = (
            "seeds: [{name: codes, config: {file_format: delta, column_types: {code: int}}}]"
        )
        return {"codes.csv": "code\n1\n7.9\n", "codes.yml": properties}

    def test_the_differences_are_named_with_file_and_line_and_nothing_else(self, project, spark):
        schema = project.test_schema
        for name, column in {
            "keyed": "'007' as id",
            "future": "1 as id",
            "refused": "1 as amount",
            "rounds": "1.5BD as amount",
            "accepts": "1.5BD as amount",
        }.items():
            spark.sql(f"create table {schema}.{name} using delta as select {column}")
        widened = "tblproperties ('delta.enableTypeWidening' = 'true')"
        spark.sql(f"create table {schema}.wide using delta {widened} as select 1Y as amount")
        spark.sql(f"create view {schema}.seen as select amount from {schema}.wide")
        spark.sql(f"alter table {schema}.wide alter column amount type int")
        future = spark.sql(f"describe detail {schema}.future").head().location
        feature = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["ofTomorrow"]}
        log = Path(future.removeprefix("file:"), "_delta_log", "00000000000000000001.json")
        log.write_text(json.dumps({"protocol": feature}) + "\n")
        spark.sql(f"refresh table {schema}.future")
        command = ["--quiet", "run-operation", "check_project", "--args", "{output: json}"]
        _, printed = run_dbt_and_capture(command, expect_pass=False)
        found = read_document(printed)["findings"]
        assert [(each["kind"], each["file"], each["line"]) for each in found if each["do"]] == [
            ("Jinja that reads the adapter's name", "models/reads_name.sql", 3),
            ("a macro that replaces another", "macros/inserts.sql", 4),
            ("a macro that replaces another", "macros/inserts.sql", 2),
            ("a macro that replaces another", "macros/inserts.sql", 3),
            ("a configuration that is not accepted", "models/misspelt.sql", 2),
            ("a write that is not checked", "models/by_period.sql", 2),
            ("a setting of Spark", "models/sets.sql", 2),
            ("a setting of Spark", f"{project.profiles_dir}/profiles.yml", found[7]["line"]),
            ("a seed that stops", "seeds/codes.csv", 3),
            ("the folder of a table", "models/first.sql", 2),
            ("a table that this Delta can't write", "models/future.sql", 1),
            ("a pre-hook that deletes rows", "models/hooked.sql", 2),
            ("a pre-hook that deletes rows", "models/hooked.sql", 2),
            ("a unique_key of another type", "models/keyed.sql", 1),
            ("the default file format", "models/no_format.sql", 2),
            ("the folder of a table", "models/second.sql", 2),
            ("a view that casts back", "models/seen.sql", 1),
            ("a model that is refused", "models/refused.sql", 1),
            ("values that may not be stored exactly", "models/rounds.sql", 1),
        ]
        # Each error about a folder says what helps against it.
        folders = [each for each in found if each["kind"] == "the folder of a table"]
        assert [each["do"] for each in folders] == ["do what the text says"] * 2
        assert all("Set include_full_name_in_path: true" in each["text"] for each in folders)
        assert AUTO_MERGE in Path(found[7]["file"]).read_text().splitlines()[found[7]["line"] - 1]
        assert "models/misspelt.sql:2" in operate("check_project", output="markdown")


@pytest.mark.slow
@pytest.mark.usefixtures("by_sql_alone")
class TestCheckProjectBySql(TestCheckProject):
    """On a Thrift server."""


class TestADatabaseOfAnotherAdapter(_DbtSparkProject):
    @pytest.fixture(scope="class")
    def models(self):
        return {"orders.sql": "\n{{ config(database='analytics') }} select 1 as id"}

    def test_is_named_and_the_error_of_a_run_says_so_too(self, project):
        (found,) = document("check_project")["findings"]
        assert (found["file"], found["line"], found["effect"]) == ("models/orders.sql", 2, "stops")
        assert found["text"] == "orders: its database analytics is no catalog that Spark has"
        with pytest.raises(DbtRuntimeError, match="configuration database, which dbt-spark ignore"):
            dbt("run")


class TestNothingDiffers(_DbtSparkProject):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "kept.sql": "{{ config(materialized='table', file_format='delta') }} select 1 as id",
            "seen.sql": "{{ config(materialized='view') }} select id from {{ ref('kept') }}",
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "codes.csv": "code\n1\n7\n",
            "codes.yml": "seeds: [{name: codes, config: {file_format: delta}}]",
        }

    def test_a_project_without_differences_says_so(self, project):
        _, printed = run_dbt_and_capture(["run-operation", "check_project"], expect_pass=True)
        assert "Nothing in this project differs from dbt-spark." in printed


class TestRefusedSettings:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        refused = {"spark.sql.parser.escapedStringLiterals": "true"}
        given = {**dbt_profile_target["server_side_parameters"], **refused}
        return {**dbt_profile_target, "server_side_parameters": given}

    @pytest.fixture
    def adapter_of_its_own(self):
        """The next class has another profile. Without the fixture ``project``, nothing forgets."""
        yield
        reset_adapters()

    def test_a_setting_with_which_nothing_can_run_is_named_before_spark_is_used(
        self, adapter_of_its_own, project_root, profiles_root, profiles_yml, dbt_project_yml
    ):
        setting, stopped = document(
            "check_project",
            "--project-dir",
            str(project_root),
            "--profiles-dir",
            str(profiles_root),
        )["findings"]
        assert "backslashes" in setting["text"]
        assert stopped["kind"] == "Spark can't be used"
