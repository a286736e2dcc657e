"""The query that dbt has compiled is used only if it is the one that is meant."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.operations.forecast.compiled_query import compiled_query
from dbt.adapters.deltawiden.relation import DeltaWidenRelation

TABLE = DeltaWidenRelation.create(schema="prod", identifier="orders")
NODE = {
    "unique_id": "model.shop.orders",
    "name": "orders",
    "package_name": "shop",
    "original_file_path": "models/orders.sql",
    "depends_on": {"nodes": ["model.shop.staged", "source.shop.raw", "model.shop.ephemeral"]},
}
GRAPH = {
    "nodes": {
        "model.shop.staged": {"relation_name": "prod.staged"},
        "model.shop.ephemeral": {"relation_name": None},
    },
    "sources": {"source.shop.raw": {"relation_name": "`raw`.`lines`"}},
}
WRITTEN = 10**9
COMPILED = {"which": "compile", "full_refresh": True, "vars": {"n": 1}}
QUERY = "select * from prod.staged join `raw`.`lines`"


@pytest.fixture
def context(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "models").mkdir()
    source = tmp_path / "models" / "orders.sql"
    source.write_text("select {{ cents() }}", encoding="utf-8")
    os.utime(source, (WRITTEN - 1, WRITTEN - 1))
    config = SimpleNamespace(
        project_root=str(tmp_path),
        project_target_path=str(tmp_path / "target"),
        project_name="shop",
    )
    adapter = SimpleNamespace(config=config)
    return {"adapter": adapter, "graph": GRAPH, "invocation_args_dict": {"vars": {"n": 1}}}


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    file = tmp_path / "target" / "compiled" / "shop" / "models" / "orders.sql"
    file.parent.mkdir(parents=True)
    file.write_text(QUERY, encoding="utf-8")
    os.utime(file, (WRITTEN, WRITTEN))
    write_results(tmp_path / "target", ["model.shop.orders"], **COMPILED)
    return file


def write_results(target: Path, nodes: list[str], **arguments: Any) -> None:
    found = {"args": arguments, "results": [{"unique_id": node} for node in nodes]}
    (target / "run_results.json").write_text(json.dumps(found), encoding="utf-8")


def test_it_is_what_dbt_compile_wrote(context: dict[str, Any], compiled: Path):
    assert compiled_query(context, NODE, TABLE) == QUERY
    assert compiled_query(context, {**NODE, "language": "python"}, TABLE) == ""


def test_it_is_an_error_if_the_model_is_not_compiled(context: dict[str, Any]):
    with pytest.raises(DbtRuntimeError, match="run dbt compile --full-refresh"):
        compiled_query(context, NODE, TABLE)


def test_it_is_an_error_if_the_model_has_changed_since(context: dict[str, Any], compiled: Path):
    os.utime(compiled, (WRITTEN - 2, WRITTEN - 2))
    with pytest.raises(DbtRuntimeError, match="is newer than"):
        compiled_query(context, NODE, TABLE)


@pytest.mark.parametrize("query", ["select 1 from dev_prod.staged", "select 1 from prod.staged_2"])
def test_a_query_for_another_target_is_refused(context, compiled: Path, query: str):
    compiled.write_text(query, encoding="utf-8")
    os.utime(compiled, (WRITTEN, WRITTEN))
    for command in ("dbt compile", "dbt compile --full-refresh"):
        with pytest.raises(DbtRuntimeError, match="does not read prod"):
            compiled_query(context, NODE, TABLE, command)
    alone = {**NODE, "depends_on": {"nodes": ["model.shop.ephemeral"]}}
    assert compiled_query(context, alone, TABLE) == query


def test_an_incremental_query_is_no_full_query(context: dict[str, Any], compiled: Path):
    compiled.write_text(f"{QUERY} where n > (select max(n) from {TABLE})", encoding="utf-8")
    os.utime(compiled, (WRITTEN, WRITTEN))
    with pytest.raises(DbtRuntimeError, match="reads the model's own table"):
        compiled_query(context, NODE, TABLE)
    write_results(compiled.parents[3], ["model.shop.orders"], **{**COMPILED, "full_refresh": False})
    assert compiled_query(context, NODE, TABLE, "dbt compile").startswith(QUERY)


def test_a_full_query_is_no_incremental_query(context: dict[str, Any], compiled: Path):
    with pytest.raises(DbtRuntimeError, match="is what dbt compile --full-refresh wrote"):
        compiled_query(context, NODE, TABLE, "dbt compile")
    assert compiled_query(context, NODE, None, "dbt compile") == QUERY


@pytest.mark.parametrize(
    ("nodes", "arguments", "words"),
    [
        (["model.shop.orders"], COMPILED, ""),
        (["model.shop.orders"], {**COMPILED, "vars": {"key": "*****"}}, ""),
        (["model.shop.orders"], {"which": "run", "vars": {"n": 1}}, "dbt run without --full-re"),
        (["model.shop.orders"], {**COMPILED, "vars": {}}, "with other --vars"),
        (["model.shop.orders"], {**COMPILED, "empty": True}, "with --empty or --sample"),
        (["model.shop.other"], COMPILED, "another dbt command has run since"),
        (["model.shop.orders"], {"which": "run-operation"}, "another dbt command has run since"),
    ],
)
def test_the_last_command_that_wrote_it_had_the_same_arguments(
    context: dict[str, Any],
    compiled: Path,
    tmp_path: Path,
    nodes: list[str],
    arguments: dict[str, Any],
    words: str,
):
    write_results(tmp_path / "target", nodes, **arguments)
    if not words:
        assert compiled_query(context, NODE, TABLE) == QUERY
        return
    with pytest.raises(DbtRuntimeError, match=words):
        compiled_query(context, NODE, TABLE)
