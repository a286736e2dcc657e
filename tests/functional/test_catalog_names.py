"""Names of three parts: `database` (or `catalog`) is a catalog of Spark."""

import json
import shutil
from collections.abc import Iterator

import pytest
import yaml
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

from tests.functional.operate import document
from tests.functional.support import Table, dbt, needs_delta_4

CATALOG = "spark_catalog"
GROWS = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', type_widening=true, HERE) }}
select 1 as id, cast({{ var('amount', '1.25') }} as decimal({{ var('type', '8,2') }})) as amount
"""
NUMBERS = """
{{ config(materialized='incremental', incremental_strategy='append',
          on_schema_change='append_new_columns', type_widening=true) }}
select cast(7 as {{ var('int', 'int') }}) as n, cast('0.7' as {{ var('float', 'float') }}) as x
"""
WIDE = {"int": "bigint", "float": "double"}
PYTHON = """
def model(dbt, session):
    dbt.config(materialized='incremental', incremental_strategy='append',
               on_schema_change='append_new_columns', type_widening=True)
    return dbt.ref('grows')
"""
SNAPSHOT = """
snapshots:
  - name: versions
    relation: ref('grows')
    config: {unique_key: id, strategy: check, check_cols: all, type_widening: true}
"""
SOURCES = """
sources:
  - name: own
    catalog: spark_catalog
    schema: "{{ target.schema }}"
    tables: [{name: grows, freshness: {warn_after: {count: 1, period: day}}}]
models:
  - name: grows
    description: It grows.
    columns:
      - name: id
        data_tests: [{not_null: {config: {store_failures: true}}}]
"""
GRANTS = """
{% macro show_grant_statements() %}
  {% set grows = api.Relation.create(target.database, target.schema, 'grows', type='table') %}
  {% do log(get_show_grant_sql(grows), info=True) %}
  {% do log(get_grant_sql(grows, 'select', ['me']), info=True) %}
  {% do log(get_revoke_sql(grows, 'select', ['me']), info=True) %}
{% endmacro %}
"""
MODELS = {
    "grows.sql": GROWS.replace("HERE", "persist_docs={'relation': true}"),
    "replaced.sql": "select * from {{ ref('grows') }}",
    "seen.sql": "-- depends_on: {{ ref('grows') }}\n{{ config(materialized='view') }} "
    "select * from {{ source('own', 'grows') }}",
    "in_python.py": PYTHON,
    "sources.yml": SOURCES,
}


def statements(log: str) -> list[str]:
    """The names in the statements that create, change or write a table or a view."""
    words = ("create ", "alter ", "insert ", "merge ", "drop ")
    lines = [line.strip() for line in log.splitlines()]
    return [line for line in lines if line.startswith(words)]


@needs_delta_4
class TestProfile:
    """The same catalog that names of two parts are in, so that nothing else differs."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return {**dbt_profile_target, "catalog": CATALOG}

    @pytest.fixture(scope="class")
    def models(self):
        return {**MODELS, "numbers.sql": NUMBERS}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"codes.csv": "id,name\n1,one\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.yml": SNAPSHOT}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"grants.sql": GRANTS}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "models": {"+materialized": "table"},
            "flags": {"send_anonymous_usage_stats": False},
        }

    @pytest.fixture(scope="class")
    def first(self, project):
        return dbt("--debug", "build")

    @pytest.fixture(scope="class")
    def planned(self, first):
        arguments = json.dumps({"models": ["numbers"]})
        return dbt("run-operation", "plan", "--args", arguments, **WIDE).output

    @pytest.fixture(scope="class")
    def second(self, first, planned):
        return dbt("--debug", "build", type="12,4", amount="1.2367", **WIDE)

    def test_every_node_is_in_the_catalog(self, first, project):
        assert {result.status for result in first.results.values()} <= {"success", "pass"}
        named = f"{CATALOG}.{project.test_schema}"
        written = [line for line in statements(first.output) if "temporary view" not in line]
        assert len(written) >= 7
        assert [line for line in written if named not in line] == []

    def test_an_existing_table_is_found_and_widened(self, second, table):
        assert {result.status for result in second.results.values()} <= {"success", "pass"}
        assert table("grows").types["amount"] == "decimal(12,4)"
        assert [str(row) for row in table("grows").rows("amount")[0]] == ["1.2367"]
        assert table("grows").operations(0) == ["CHANGE COLUMN", "MERGE"]

    def test_a_float_is_widened_with_its_statistics(self, planned, second, table):
        assert "`x` type double /* with the statistics of its files */" in planned
        assert table("numbers").types == {"n": "bigint", "x": "double"}
        # As a float, 0.7 is a smaller number.
        numbers = table("numbers").spark.table(table("numbers").name)
        assert numbers.where("x < 0.7").count() == 1

    def test_operations_change_files(self, second, table):
        found = {}
        for name in ("analyze", "repair_statistics", "rewrite_widened_files", "optimize", "vacuum"):
            (found[name],) = document(name, relations=["numbers"])["tables"]
        (found["drop"],) = document("drop_type_widening", relations=["numbers"])["tables"]
        assert {name: each.get("error") for name, each in found.items()} == dict.fromkeys(found)
        # The run has rewritten the file.
        assert found["rewrite_widened_files"]["stale_files"] == 0
        assert found["drop"]["state"] == "dropped"
        assert len(table("numbers").rows()) == 2

    def test_a_snapshot_keeps_its_versions(self, second, table):
        assert [str(row[0]) for row in table("versions").rows("amount")] == ["1.2367", "1.2500"]

    def test_a_python_model_reads_and_appends(self, second, table):
        assert len(table("in_python").rows()) == 2

    def test_the_view_follows(self, second, table):
        assert table("seen").rows("cast(amount as string)") == [("1.2367",)]

    def test_operations_take_names_of_one_two_and_three_parts(self, second, project):
        schema = project.test_schema
        names = ["grows", f"{schema}.replaced", f"{CATALOG}.{schema}.versions"]
        reported = document("report_type_widening", relations=names)["tables"]
        assert [each["table"] for each in reported] == [
            f"`{CATALOG}`.`{schema}`.`{name}`" for name in ("grows", "replaced", "versions")
        ]
        for given in (schema, f"{CATALOG}.{schema}"):
            assert len(document("report_type_widening", schema=given)["tables"]) == 6
        assert len(document("report_type_widening", models=["grows"])["tables"]) == 1

    def test_the_pages_of_docs_have_every_node(self, second):
        run_dbt(["docs", "generate"])
        with open("target/catalog.json") as file:
            nodes = json.load(file)["nodes"]
        assert {node["metadata"]["database"] for node in nodes.values()} == {CATALOG}
        assert {name.split(".")[-1] for name in nodes} >= {"grows", "seen", "codes", "versions"}

    def test_freshness_reads_the_history(self, second):
        found = dbt("source", "freshness")
        assert [result.status for result in found.results.values()] == ["pass"]

    @pytest.mark.slow
    def test_an_empty_run_keeps_the_rows(self, second, table):
        assert dbt("run", "--empty", type="12,4").status("grows") == "success"
        assert len(table("grows").rows()) == 1

    def test_the_statements_of_grants_name_the_catalog(self, second, project):
        """Spark without an authorizer can't run them."""
        shown = dbt("run-operation", "show_grant_statements").output.replace("`", "")
        grows = f"{CATALOG}.{project.test_schema}.grows"
        assert f"show grants on {grows}" in shown
        assert f"grant select on {grows} to me" in shown
        assert f"revoke select on {grows} from me" in shown

    @pytest.fixture
    def other_schema(self, second, project, spark, dbt_profile_data, tmp_path) -> Iterator[str]:
        """A schema whose target is in `tmp_path`, with the manifest of the first one.

        dbt's helpers for tests keep the last folder of profiles, so this comes last in the class.
        """
        schema = f"{project.test_schema}_clone"
        (output,) = dbt_profile_data["test"]["outputs"].values()
        profile = {"test": {"outputs": {"default": {**output, "schema": schema}}}}
        (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
        shutil.copy("target/manifest.json", tmp_path)
        yield schema
        spark.sql(f"drop schema {schema} cascade")

    @pytest.mark.slow
    def test_a_clone_is_in_the_catalog_and_is_widened_alone(
        self, other_schema, project, table, spark, tmp_path
    ):
        here = ["--profiles-dir", str(tmp_path), "--select", "grows"]
        cloned = dbt("--debug", "clone", "--state", str(tmp_path), *here)
        statement = (
            f"{CATALOG}.{other_schema}.grows shallow clone {CATALOG}.{project.test_schema}.grows"
        )
        assert statement in cloned.output.replace("`", "")
        original = table("grows").rows("cast(amount as string)")
        assert dbt("run", *here, type="14,6", amount="1.234567").status("grows") == "success"
        clone = Table(spark, f"{other_schema}.grows")
        assert (clone.types["amount"], table("grows").types["amount"]) == (
            "decimal(14,6)",
            "decimal(12,4)",
        )
        assert clone.rows("cast(amount as string)") == [("1.234567",)]
        assert table("grows").rows("cast(amount as string)") == original


@needs_delta_4
class TestSchemaWithCatalog:
    """`schema: catalog.schema`, as users of dbt-spark write it."""

    @pytest.fixture(scope="class")
    def unique_schema(self, unique_schema: str) -> str:
        return f"{CATALOG}.{unique_schema}"

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "grows.sql": MODELS["grows.sql"],
            "same.sql": "{{ config(database='spark_catalog', schema='x', materialized='table') }}"
            "select * from {{ ref('grows') }}",
        }

    @pytest.fixture(scope="class")
    def macros(self):
        name = "{{ target.schema.split('.')[1] if node.name == 'same' else target.schema }}"
        return {"n.sql": "{% macro generate_schema_name(custom, node) %}" + name + "{% endmacro %}"}

    def test_both_forms_mean_the_same_schema(self, project, spark: SparkSession):
        assert dbt("run").status("same") == "success"
        found = dbt("run", type="12,4", amount="1.2367")
        grows = Table(spark, f"{project.test_schema}.grows")
        # The existing table is found: it is not replaced.
        assert grows.operations(0) == ["CHANGE COLUMN", "MERGE"], found.output
        assert [str(row) for row in grows.rows("amount")[0]] == ["1.2367"]
        assert Table(spark, f"{project.test_schema}.same").rows("cast(amount as string)") == [
            ("1.2367",)
        ]
        reported = document("report_type_widening", relations=["grows"], models=["same"])
        assert len(reported["tables"]) == 2
