"""Hostile names in the clauses of a statement, such as partitions, merges and constraints."""

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.functional.hostile import EACH_NAME, EACH_TEXT, each_name, in_backticks, run
from tests.hostile import NAMES, TEXTS

pytestmark = pytest.mark.usefixtures("nothing_else_changes")

INCREMENTAL = """
{{ config(materialized='incremental', tblproperties={'delta.columnMapping.mode': 'name'}, CONFIG) }}
select 1 as id, '{{ var("value", "first") }}' as other"""
PARTITIONED = INCREMENTAL.replace(
    "CONFIG", "incremental_strategy='insert_overwrite', partition_by=var('keys')"
) + each_name("TEXT as NAME")
MERGED = INCREMENTAL.replace("CONFIG", "incremental_strategy='merge', unique_key='id', CONFIG")
CHANGED = each_name("'{{ var('value', 'first') }}' as NAME")
VIEW = "{{ config(materialized='view', persist_docs={'columns': true, 'relation': true}) }}"
CONTRACT = (
    "{{ config(materialized='table', contract={'enforced': true},"
    " tblproperties={'delta.columnMapping.mode': 'name'}) }} select 1 as id"
)


@pytest.mark.slow
class TestClauses:
    @pytest.fixture(scope="class")
    def models(self):
        texts = [*TEXTS.values()]
        options = {f"p {text}": text for text in texts}
        columns = [{"name": name, "description": name} for name in NAMES.values()]
        contract = [{**column, "data_type": "int", "quote": True} for column in columns]
        for column in contract:
            column["constraints"] = [{"type": "not_null"}]
        checks = [
            {"type": "check", "name": f"c {name}", "expression": f"{in_backticks(name)} > 0"}
            for name in NAMES.values()
        ]
        schema = {
            "models": [
                {"name": "seen", "description": "".join(texts), "columns": columns},
                {
                    "name": "contract",
                    "columns": [{"name": "id", "data_type": "int"}, *contract],
                    "constraints": checks,
                },
                {
                    "name": "optional",
                    "config": {"file_format": "parquet", "options": options},
                },
            ],
            "unit_tests": [
                {
                    "name": "texts_are_exact",
                    "model": "copied",
                    "given": [{"input": "ref('texts')", "rows": [{"text": t} for t in texts]}],
                    "expect": {"rows": [{"text": text} for text in texts]},
                }
            ],
        }
        return {
            "partitioned.sql": PARTITIONED,
            "updated.sql": MERGED.replace("CONFIG", "merge_update_columns=var('keys')") + CHANGED,
            "excluded.sql": MERGED.replace("CONFIG", "merge_exclude_columns=var('keys')") + CHANGED,
            "seen.sql": VIEW + "select 1 as id" + each_name("1 as NAME"),
            "contract.sql": CONTRACT + each_name("1 as NAME"),
            "optional.sql": "{{ config(materialized='table') }} select 1 as id",
            "texts.sql": "select 'x' as text",
            "copied.sql": "select text from {{ ref('texts') }}",
            "schema.yml": yaml.safe_dump(schema),
        }

    @pytest.fixture(scope="class")
    def built(self, project, spark: SparkSession):
        # ALTER TABLE adds each constraint of a contract separately, which takes most of a build.
        for value, left_out in (("first", ()), ("second", ("--exclude", "contract"))):
            done = run("build", *left_out, value=value)
            for name, result in done.results.items():
                assert result.status in ("success", "pass"), f"{name}: {done.message(name)}"
        return lambda name: spark.table(f"{project.test_schema}.{name}")

    @EACH_NAME
    def test_a_partition_is_overwritten(self, built, name: str):
        (row,) = built("partitioned").collect()
        assert (row[name], row["other"]) == (name, "second")

    @EACH_NAME
    def test_a_column_is_updated_or_excluded_from_an_update(self, built, name: str):
        (updated,), (excluded,) = built("updated").collect(), built("excluded").collect()
        assert (updated[name], updated["other"]) == ("second", "first")
        assert (excluded[name], excluded["other"]) == ("first", "second")

    @EACH_NAME
    def test_a_column_of_a_view_has_its_comment(self, built, name: str):
        assert built("seen").schema[name].metadata["comment"] == name

    @EACH_NAME
    def test_a_check_has_its_name(self, project, built, spark: SparkSession, name: str):
        rows = spark.sql(f"show tblproperties {project.test_schema}.contract").collect()
        assert f"delta.constraints.c {name}".lower() in {row.key.lower() for row in rows}

    @EACH_TEXT
    def test_an_option_has_its_value(self, project, built, spark: SparkSession, text: str):
        rows = spark.sql(f"describe extended {project.test_schema}.optional").collect()
        (options,) = [row.data_type for row in rows if row.col_name == "Storage Properties"]
        assert f"p {text}={text}" in options
