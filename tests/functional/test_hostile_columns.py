"""Hostile names of columns and nested fields, and hostile texts of table properties."""

import pytest
import yaml
from pyspark.sql import DataFrame, SparkSession

from tests.functional.hostile import EACH_NAME, EACH_TEXT, as_yaml, each_name, in_backticks, run
from tests.functional.support import needs_delta_4
from tests.hostile import NAMES, TEXTS

pytestmark = pytest.mark.usefixtures("nothing_else_changes")

PROPERTIES = {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}

WIDE = (
    """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key=var('keys'),
          on_schema_change='append_new_columns', tblproperties=var('properties'),
          persist_docs={'columns': true, 'relation': true}) }}
select cast({{ var('id', 1) }} as {{ var('type', 'int') }}) as id,
  named_struct('first', 1 """
    + each_name("TEXT, cast(2 as {{ var('type', 'int') }})")
    + ") as s"
    + each_name("cast(3 as {{ var('type', 'int') }}) as NAME")
    + "{% if var('more', false) %}"
    + each_name("4 as {{ adapter.quote('new ' ~ name) }}")
    + "{% endif %}"
)


@needs_delta_4
class TestColumns:
    @pytest.fixture(scope="class")
    def models(self):
        columns = [{"name": name, "description": name} for name in NAMES.values()]
        model = {"name": "wide", "description": "".join(TEXTS.values()), "columns": columns}
        return {"wide.sql": WIDE, "wide.yml": yaml.safe_dump({"models": [model]})}

    @pytest.fixture(scope="class")
    def written(self, project, spark: SparkSession) -> DataFrame:
        texts = {f"p {text}": text for text in TEXTS.values()}
        variables = {"properties": {**PROPERTIES, **texts}}
        for changed in ({}, {"type": "bigint", "id": 2, "more": True}):
            done = run("run", **variables, **changed)
            assert done.status("wide") == "success", done.message("wide")
        by_hand = {in_backticks(f"new {name}"): "bigint" for name in NAMES.values()}
        arguments = {"models": "wide", "columns": by_hand}
        run("run-operation", "widen_columns", "--args", as_yaml(arguments), **variables)
        return spark.table(f"{project.test_schema}.wide")

    @EACH_NAME
    def test_a_column_is_widened(self, written, name: str):
        assert written.schema[name].dataType.simpleString() == "bigint"

    @EACH_NAME
    def test_a_nested_field_is_widened(self, written, name: str):
        assert written.schema["s"].dataType[name].dataType.simpleString() == "bigint"

    @EACH_NAME
    def test_a_column_is_added_and_widened_by_hand(self, written, name: str):
        assert written.schema[f"new {name}"].dataType.simpleString() == "bigint"

    def test_the_unique_key_finds_the_row(self, written):
        (row,) = written.collect()
        assert row["id"] == 2
        assert all(row[name] == 3 and row[f"new {name}"] == 4 for name in NAMES.values())
        assert list(row["s"]) == [1, *[2] * len(NAMES)]

    @EACH_NAME
    def test_a_description_is_the_comment_on_its_column(self, written, name: str):
        assert written.schema[name].metadata["comment"] == name

    @EACH_TEXT
    def test_a_property_has_its_value(self, project, written, spark: SparkSession, text: str):
        rows = spark.sql(f"show tblproperties {project.test_schema}.wide").collect()
        assert {row.key: row.value for row in rows}[f"p {text}"] == text

    def test_the_description_is_the_comment_on_the_table(self, project, written, spark):
        found = spark.catalog.getTable(f"{project.test_schema}.wide").description
        assert found == "".join(TEXTS.values())
