"""The query that a model will run on its deployed table, without running anything of the model."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.operations.forecast.deployed_query import (
    compiled_query,
    deployed_query,
)
from dbt.adapters.deltawiden.relation import DeltaWidenRelation

TABLE = DeltaWidenRelation.create(schema="prod", identifier="orders")
INCREMENTAL = "select 1 {% if is_incremental() %} from {{ this }} {% endif %}"


def rendered(raw_code: str, language: str = "sql") -> str:
    ran: list[str] = []
    context: dict[str, Any] = {
        "ref": lambda name: f"ci.{name}",
        "var": lambda name, default=None: default,
        "run_query": ran.append,
        "project_macro": lambda: ran.append("a macro"),
    }
    node = {
        "name": "orders",
        "language": language,
        "raw_code": raw_code,
        "config": {"materialized": "incremental"},
    }
    query = deployed_query(context, node, TABLE)
    assert ran == []
    return " ".join(query.split())


@pytest.mark.parametrize(
    ("raw_code", "query"),
    [
        (INCREMENTAL, "select 1 from prod.orders"),
        ("{{ config(materialized='incremental') }} select 1", "select 1"),
        ("select '{{ config.get('materialized') }}'", "select 'incremental'"),
        ("select * from {{ ref('x') }}", "select * from ci.x"),
        ("select {{ var('n', 3) }}", "select 3"),
        ("select '{{ model.name }}'", "select 'orders'"),
        # What is not known is not guessed: macros, which can run statements, and unknown names.
        ("{% do run_query('delete from ' ~ this) %} select 1", ""),
        ("select {{ project_macro() }}", ""),
        ("select {{ unknown }}", ""),
        ("select {% if %}", ""),
    ],
)
def test_the_query_is_rendered_as_far_as_it_runs_nothing(raw_code: str, query: str):
    assert rendered(raw_code) == query


def test_the_code_of_a_python_model_is_no_query():
    assert rendered("def model(dbt, session): ...", language="python") == ""


def test_the_query_of_a_full_refresh_leaves_out_what_is_incremental():
    node = {"name": "orders", "raw_code": INCREMENTAL, "config": {}}
    assert deployed_query({}, node, TABLE, is_incremental=False).split() == ["select", "1"]


class TestCompiledQuery:
    @pytest.fixture
    def context(self, tmp_path: Path) -> dict[str, Any]:
        (tmp_path / "models").mkdir()
        (tmp_path / "models" / "orders.sql").write_text("select {{ cents() }}", encoding="utf-8")
        config = SimpleNamespace(
            project_root=str(tmp_path), project_target_path=str(tmp_path / "target")
        )
        return {"adapter": SimpleNamespace(config=config)}

    @pytest.fixture
    def compiled(self, tmp_path: Path) -> Path:
        file = tmp_path / "target" / "compiled" / "shop" / "models" / "orders.sql"
        file.parent.mkdir(parents=True)
        file.write_text("select 1", encoding="utf-8")
        return file

    NODE = {"name": "orders", "package_name": "shop", "original_file_path": "models/orders.sql"}

    def test_it_is_what_dbt_compile_wrote(self, context: dict[str, Any], compiled: Path):
        assert compiled_query(context, self.NODE, TABLE) == "select 1"
        assert compiled_query(context, {**self.NODE, "language": "python"}, TABLE) == ""

    def test_it_is_an_error_if_the_model_is_not_compiled(self, context: dict[str, Any]):
        with pytest.raises(DbtRuntimeError, match="run dbt compile --full-refresh"):
            compiled_query(context, self.NODE, TABLE)

    def test_it_is_an_error_if_the_model_has_changed_since(
        self, context: dict[str, Any], compiled: Path
    ):
        os.utime(compiled, (1, 1))
        with pytest.raises(DbtRuntimeError, match="is newer than"):
            compiled_query(context, self.NODE, TABLE)
