"""`dbt run-operation report_type_widening` shows the effects of type widening on tables."""

import json
import re
import shutil
from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql.functions import col

from tests.functional.operate import operate
from tests.functional.support import dbt, needs_delta_4
from tests.functional.test_drop_type_widening import COLLECTIONS, create
from tests.small import settings_of

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
        first, second = widened["type_changes"]
        assert (first["path"], first["from"], first["to"]) == (["amount"], "tinyint", "smallint")
        assert (second["path"], second["from"], second["to"]) == (["amount"], "smallint", "int")
        assert "rewrite" in widened["to_drop"]
        assert (plain["enabled"], plain["features"], plain["type_changes"]) == (False, [], [])
        assert other["format"] == "parquet"

    def test_the_report_is_a_readable_table(self, project):
        run = dbt(
            "run-operation", "report_type_widening", "--args", json.dumps({"models": ["widened"]})
        )
        assert "amount: tinyint -> smallint; amount: smallint -> int" in run.output
        assert "| tinyint  | smallint | model.test.widened |" in run.output

    def test_each_change_has_its_commit_and_its_run(self, project, table):
        run = report(models=["widened"], output="json")
        (found,) = json.loads(run.output.strip().splitlines()[-1])["tables"]
        widened = table("widened")
        commits = [row for row in widened.history if row.operation.startswith("CHANGE COLUMN")]
        for change, commit in zip(found["type_changes"], commits, strict=True):
            tag = json.loads(commit.userMetadata)
            assert change["version"] == commit.version
            assert datetime.fromisoformat(change["time"]) == commit.timestamp.astimezone()
            assert change["changed_by"] == tag["changed_by"] == "model.test.widened"
            assert change["invocation_id"] == tag["invocation_id"]

    @pytest.mark.slow
    @needs_delta_4
    def test_what_a_drop_needs_is_not_more_than_the_report_has_read(self, project, table, spark):
        array = {"arr": COLLECTIONS["arr"]}
        # Only the history still has the change of the first, and only the files that of the second.
        for name in ("replaced", "left_by_delta"):
            create(spark, table(name).name, array)
        spark.sql(
            f"create or replace table {table('replaced').name} using delta tblproperties "
            "('delta.enableTypeWidening' = 'true') as select 1 as id"
        )
        spark.sql(f"alter table {table('left_by_delta').name} drop feature typeWidening")
        change = {"fromType": "short", "toType": "integer", "tableVersion": 1}
        column = col("id").cast("int").alias("v", metadata={"delta.typeChanges": [change]})
        spark.range(3).select(column).write.format("delta").saveAsTable(table("copied").name)
        find_out = "run dbt run-operation drop_type_widening with dry_run to find out"
        expected = {
            "replaced": ("no type change is recorded now", "checkpointProtection"),
            "left_by_delta": ("the table does not have it; files can still", "rewrite 1 file"),
            "copied": ("but has recorded type changes", "remove the recorded type changes"),
        }
        for name, (needs, work) in expected.items():
            run = report(relations=[name], output="json")
            (found,) = json.loads(run.output.strip().splitlines()[-1])["tables"]
            assert needs in found["to_drop"], name
            assert (find_out in found["to_drop"]) is (name != "copied")
            assert work in operate("drop_type_widening", relations=[name], dry_run=True)
            spark.sql(f"drop table {table(name).name}")

    @pytest.mark.slow
    def test_a_change_of_another_program_has_its_time(self, project, spark):
        name = f"{project.test_schema}.by_hand"
        columns = "`a.b` tinyint, s struct<x: array<smallint>>, m tinyint"
        spark.sql(
            f"create table {name} ({columns}) using delta tblproperties "
            "('delta.enableTypeWidening' = 'true', 'delta.columnMapping.mode' = 'name')"
        )
        spark.sql(f"alter table {name} alter column `a.b` type int")
        spark.sql(f"alter table {name} alter column s.x.element type int")
        with settings_of(spark, {"spark.databricks.delta.schema.autoMerge.enabled": "true"}):
            spark.sql(f"insert into {name} select 1, named_struct('x', array(1)), 1000 as m")
        run = report(relations=[name], output="json")
        (found,) = json.loads(run.output.strip().splitlines()[-1])["tables"]
        changes = {tuple(change["path"]): change for change in found["type_changes"]}
        assert changes["a.b",]["version"] == 1
        assert changes["s", "x", "element"]["version"] == 2
        assert {change["changed_by"] for change in changes.values()} == {None}
        # A write that changes a type has no name of the column in the history.
        if ("m",) in changes:
            assert changes["m",]["version"] is None
        spark.sql(f"drop table {name}")

    def test_the_page_shows_when_the_types_changed(self, project, table, photograph):
        photograph("report_type_widening", models=["widened"], size=(1240, 560))
        arguments = {"models": ["widened", "plain"], "output": "html", "file": "out/report.html"}
        run = dbt("run-operation", "report_type_widening", "--args", json.dumps(arguments))
        assert "The page is in " in run.output
        page = Path(project.project_root, "out", "report.html").read_text(encoding="utf-8")
        (picture,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
        for text in ("tinyint", "smallint", "int"):
            assert f">{text}</text>" in picture
        commits = [row for row in table("widened").history if row.userMetadata]
        assert all(json.loads(row.userMetadata)["invocation_id"] in page for row in commits)

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
            ({"models": ["plain"], "output": "yaml"}, "got 'yaml'; accepted: text, json, html"),
            ({}, "say which tables"),
        ],
    )
    def test_a_missing_object_is_named(self, project, arguments, expected):
        assert expected in report(**arguments).output
