"""`target.type` and `target.database`, for packages that read them."""

import json
from pathlib import Path

import pytest
import yaml
from dbt_common.exceptions import CompilationError
from sqlglot import transpile

from tests.functional.support import dbt

PACKAGE = """
name: known_adapters
version: 1.0.0
vars:
  of_package: "{{ target.type }}"
models:
  known_adapters:
    +enabled: "{{ target.type in ['spark', 'databricks'] }}"
"""
REQUIRES_SPARK = """
{% if target.type not in ['spark', 'databricks'] %}
  {{ exceptions.raise_compiler_error(target.type ~ ' is not supported') }}
{% endif %}
select '{{ target.type }}' as target_type, '{{ adapter.type() }}' as adapter_type,
  '{{ own_name() }}' as dispatched, '{{ target.database }}' as in_database
"""
MACROS = """
{% macro own_name() %}{{ return(adapter.dispatch('own_name')()) }}{% endmacro %}
{% macro default__own_name() %}default{% endmacro %}
{% macro spark__own_name() %}spark{% endmacro %}
{% macro deltawiden__own_name() %}deltawiden{% endmacro %}
"""
SOURCES = """
sources:
  - name: raw
    schema: "raw_{{ target.type }}"
    tables: [{name: orders}]
"""


class TestTargetType:
    @pytest.fixture(scope="class")
    def packages(self, project_root):
        folder = Path(project_root) / "known_adapters"
        (folder / "models").mkdir(parents=True)
        (folder / "dbt_project.yml").write_text(PACKAGE)
        (folder / "models" / "of_package.sql").write_text(REQUIRES_SPARK.replace("own_name()", "1"))
        return {"packages": [{"local": "known_adapters"}]}

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return {**dbt_profile_target, "target_type": "spark"}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"own_name.sql": MACROS}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "reads.sql": REQUIRES_SPARK,
            "configured.sql": "{{ config(enabled=target.type == 'spark', materialized='view') }} "
            "select 1 as id",
            "sources.yml": SOURCES,
        }

    def test_says_spark_in_every_context_and_the_adapter_keeps_its_name(self, project, table):
        dbt("deps")
        run = dbt("run")
        for model in ("reads", "configured", "of_package"):
            assert run.status(model) == "success", run.message(model)
        assert table("reads").rows() == [("spark", "deltawiden", "deltawiden", "None")]
        manifest = json.loads((Path(project.project_root) / "target/manifest.json").read_text())
        assert manifest["metadata"]["adapter_type"] == "deltawiden"
        assert manifest["sources"]["source.test.raw.orders"]["schema"] == "raw_spark"

    def test_another_value_parses_the_project_again(self, project):
        dbt("ls")
        profiles = Path(project.profiles_dir) / "profiles.yml"
        text = profiles.read_text()
        profile = yaml.safe_load(text)
        for output in profile["test"]["outputs"].values():
            output["target_type"] = "deltawiden"
        try:
            profiles.write_text(yaml.safe_dump(profile))
            with pytest.raises(CompilationError, match="deltawiden is not supported"):
                dbt("parse")
        finally:
            profiles.write_text(text)


def test_sqlglot_knows_the_dialect_by_the_adapters_name():
    hinted = "select /*+ broadcast(a) */ `a b`, date_add(d, 1) from x lateral view explode(y) as z"
    as_spark = transpile(hinted, read="spark", write="duckdb")
    assert transpile(hinted, read="deltawiden", write="duckdb") == as_spark
