"""Hostile names of tables, views, schemas and locations."""

from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from tests.functional.hostile import A_FEW_NAMES, as_yaml, in_backticks, run
from tests.hostile import NAMES

pytestmark = pytest.mark.usefixtures("nothing_else_changes")

ALIASED = """{{{{ config(materialized='{kind}', alias='{prefix}' ~ var('names')[{index}]) }}}}
select {index} as id"""
PLACED = """{{{{ config(materialized='table',
                 location_root=var('root') ~ '/' ~ var('names')[{index}]) }}}}
select {index} as id"""
ELSEWHERE = """
{% macro generate_schema_name(name, node) %}
  {{- var('schema', target.schema) if node.name == 'elsewhere' else target.schema -}}
{% endmacro %}
"""
NOT_ALLOWED = (
    "[INVALID_ATTRIBUTE_NAME_SYNTAX]",  # Spark's error for a missing name with a backtick.
    "[CATALOG_NOT_FOUND]",
    "[UNCLOSED_BRACKETED_COMMENT]",  # The comment of dbt's statement contains the schema.
    "Relative path in absolute URI",
    "[INVALID_SCHEMA_OR_RELATION_NAME]",
    "[REQUIRES_SINGLE_PART_NAMESPACE]",
    "is not a valid name for tables/databases",
)
"""The errors of Spark for a name that its catalog can't have."""


def output_of(*arguments: str, **variables: Any) -> str:
    """Return dbt's output, also if it fails before the first node."""
    try:
        return run(*arguments, **variables).output
    except DbtRuntimeError as error:
        return str(error)


@pytest.mark.slow
class TestRelations:
    @pytest.fixture(scope="class")
    def models(self):
        indexes = range(len(NAMES))
        kinds = {"table": "", "view": "v"}
        aliased = {
            f"{kind}_{i}.sql": ALIASED.format(kind=kind, prefix=prefix, index=i)
            for kind, prefix in kinds.items()
            for i in indexes
        }
        placed = {f"placed_{i}.sql": PLACED.format(index=i) for i in indexes}
        return {**aliased, **placed, "elsewhere.sql": "select 1 as id"}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"generate_schema_name.sql": ELSEWHERE}

    @pytest.fixture(scope="class")
    def root(self, tmp_path_factory: pytest.TempPathFactory):
        return tmp_path_factory.mktemp("locations")

    @pytest.fixture(scope="class")
    def built(self, project, root):
        return run("run", "--exclude", "elsewhere", root=str(root))

    @pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
    @pytest.mark.parametrize(("kind", "start"), [("table", ""), ("view", "v")])
    def test_a_relation_has_its_name_or_spark_refuses_the_name(
        self, project, built, spark: SparkSession, kind: str, start: str, index: int
    ):
        node, name = f"{kind}_{index}", start + [*NAMES.values()][index]
        if built.status(node) == "success":
            found = spark.table(f"{project.test_schema}.{in_backticks(name)}")
            assert found.collect() == [(index,)]
        else:
            assert any(message in built.message(node) for message in NOT_ALLOWED), built.message(
                node
            )

    @pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
    def test_a_table_is_at_its_location(
        self, project, built, spark: SparkSession, root, index: int
    ):
        node = f"placed_{index}"
        assert built.status(node) == "success", built.message(node)
        assert spark.table(f"{project.test_schema}.{node}").collect() == [(index,)]
        assert (root / [*NAMES.values()][index] / node / "_delta_log").is_dir()

    @A_FEW_NAMES
    def test_a_schema_has_its_name_or_spark_refuses_the_name(
        self, project, spark: SparkSession, root, name: str
    ):
        schema = f"{project.test_schema}_{name}"
        output = output_of("run", "--select", "elsewhere", schema=schema, root=str(root))
        if not any(message in output for message in NOT_ALLOWED):
            assert spark.table(f"{in_backticks(schema)}.elsewhere").collect() == [(1,)], output

    @A_FEW_NAMES
    def test_an_operation_finds_no_other_table(self, project, root, name: str):
        arguments = {"relations": f"hostile_victim.{in_backticks(name)}"}
        output = output_of(
            "run-operation", "drop_type_widening", "--args", as_yaml(arguments), root=str(root)
        )
        assert f"there is no table 'hostile_victim.{name}'" in output

    @A_FEW_NAMES
    def test_an_operation_finds_no_other_schema(self, project, root, name: str):
        arguments = {"schema": f"victim {name}"}
        output = output_of(
            "run-operation", "drop_type_widening", "--args", as_yaml(arguments), root=str(root)
        )
        assert f"there is no Delta table in schema 'victim {name}'" in output or any(
            message in output for message in NOT_ALLOWED
        ), output
