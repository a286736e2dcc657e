"""`dbt run-operation report_type_widening` shows the effects of type widening on tables."""

import json
import shutil

import pytest

from tests.functional.support import dbt

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='append_new_columns',
  type_widening={widening}) }}}}
select 1 as id, cast(1 as {{{{ var('type', 'tinyint') }}}}) as amount
"""


def report(**arguments: object):
    return dbt("--quiet", "run-operation", "report_type_widening", "--args", json.dumps(arguments))


class TestReport:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "widened.sql": MODEL.format(widening=True),
            "plain.sql": MODEL.format(widening=False),
            "broken.sql": MODEL.format(widening=True),
            "other.sql": "{{ config(file_format='parquet', materialized='table') }} select 1 as id",
        }

    @pytest.fixture(scope="class", autouse=True)
    def tables(self, project):
        dbt("run")
        dbt("run", "--select", "widened", type="smallint")
        dbt("run", "--select", "widened", type="int")

    def test_the_report_is_one_json_document(self, project):
        run = report(models=["widened", "plain", "other"], output="json")
        document = json.loads(run.output.strip().splitlines()[-1])
        assert document["operation"] == "report_type_widening"
        assert document["failed"] == 0
        widened, plain, other = document["tables"]
        assert widened["table"] == f"`{project.test_schema}`.`widened`"
        assert widened["enabled"]
        assert (widened["reader_version"], widened["writer_version"]) == (3, 7)
        assert widened["type_changes"] == [
            {"path": ["amount"], "from": "tinyint", "to": "smallint"},
            {"path": ["amount"], "from": "smallint", "to": "int"},
        ]
        assert "rewrite" in widened["to_drop"]
        assert (plain["enabled"], plain["features"], plain["type_changes"]) == (False, [], [])
        assert other["format"] == "parquet"

    def test_the_report_is_a_readable_table(self, project):
        run = dbt(
            "run-operation", "report_type_widening", "--args", json.dumps({"models": ["widened"]})
        )
        assert "amount: tinyint -> smallint; amount: smallint -> int" in run.output

    def test_a_broken_table_does_not_stop_the_others(self, project, table):
        location = table("broken").spark.sql(f"describe detail {table('broken').name}").collect()
        shutil.rmtree(location[0].location.removeprefix("file:") + "/_delta_log")
        table("broken").spark.catalog.clearCache()
        run = report(schema=project.test_schema)
        assert "1 of 3 tables failed" in run.output
        assert f"`{project.test_schema}`.`broken`:" in run.output

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"model": ["widened"]}, "there is no argument model; accepted: models, relations,"),
            (
                {"models": ["wide"]},
                "no model, seed or snapshot named 'wide' in this project; there",
            ),
            ({"schema": "nowhere"}, "there is no Delta table in schema 'nowhere'"),
            ({"models": ["plain"], "output": "yaml"}, "got 'yaml'; accepted: text, json"),
            ({}, "say which tables"),
        ],
    )
    def test_a_missing_object_is_named(self, project, arguments, expected):
        assert expected in report(**arguments).output
