"""`check_type_widening` refuses what the deployment refuses, and nothing else."""

import json

import pytest

from tests.functional.support import dbt

CONFIG = "materialized='incremental', on_schema_change='append_new_columns', type_widening=true"
MERGE = f"{CONFIG}, incremental_strategy='merge'"
MODELS = {
    "char_key.sql": f"{{{{ config({MERGE}, unique_key='k') }}}} select 'a' as k, 1 as n",
    "no_such_key.sql": f"{{{{ config({MERGE}, unique_key='key') }}}} select 'a' as k, 1 as n",
    "appends.sql": f"{{{{ config({CONFIG}, unique_key='key') }}}} select 'a' as k, 1 as n",
    "sums.sql": f"""
{{{{ config({CONFIG}) }}}}
{{% if is_incremental() %}} select sum(n) as n from {{{{ this }}}}
{{% else %}} select cast(1 as decimal(10,2)) as n {{% endif %}}
""",
    "newest.sql": f"""
{{{{ config({CONFIG}) }}}}
select cast(1 as decimal(10,2)) as n, 'x' as more
{{% if is_incremental() %}} where 2 > (select max(n) from {{{{ this }}}}) {{% endif %}}
""",
    # The check runs nothing that a model runs by itself.
    "runs.sql": f"""
{{{{ config({CONFIG}) }}}}
{{% if is_incremental() %}} {{% do run_query('delete from ' ~ this) %}} {{% endif %}}
select 'a' as k, 1 as n
""",
}
DEPLOYED = {
    **dict.fromkeys(("char_key", "no_such_key", "appends", "runs"), "k char(1), n int"),
    **dict.fromkeys(("sums", "newest"), "n decimal(10,2)"),
}


class TestCheck:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def checked(self, project, spark):
        """The document of the check, and the version of each table by the model's name."""
        prod = f"{project.test_schema}prod"
        spark.sql(f"create schema {prod}")
        for name, columns in DEPLOYED.items():
            spark.sql(f"create table {prod}.{name} ({columns}) using delta")
        assert dbt("run", "--empty").results
        arguments = json.dumps({"against": prod, "output": "json"})
        run = dbt("--quiet", "run-operation", "check_type_widening", "--args", arguments)
        document = next(line for line in run.output.splitlines() if line.startswith("{"))
        versions = {
            name: spark.sql(f"describe history {prod}.{name} limit 1").head()["version"]
            for name in DEPLOYED
        }
        yield {table["model"]: table for table in json.loads(document)["tables"]}, versions
        spark.sql(f"drop schema {prod} cascade")

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("char_key", "this key is a char column of the table"),
            ("no_such_key", "unique_key: the model has no column key; it has k, n"),
            ("sums", "The model reads its own table".lower()),
        ],
    )
    def test_refuses_what_the_run_refuses(self, checked, name, said):
        assert said in checked[0][name]["error"]

    @pytest.mark.parametrize("name", ["appends", "newest", "runs"])
    def test_passes_what_the_run_does(self, checked, name):
        assert "error" not in checked[0][name]

    def test_changes_nothing(self, checked):
        assert checked[1] == dict.fromkeys(DEPLOYED, 0)
