"""The query that a model will run on its deployed table, without running anything of the model."""

from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.deltawiden.operations.forecast.deployed_query import deployed_query
from dbt.adapters.deltawiden.relation import DeltaWidenRelation

TABLE = DeltaWidenRelation.create(schema="prod", identifier="orders")
INCREMENTAL = "select 1 {% if is_incremental() %} from {{ this }} {% endif %}"


class Resolver:
    """What finds references in the context of a node, as dbt's own does."""

    def __init__(self, db_wrapper: object, model: str, config: object, manifest: object) -> None:
        self.db_wrapper, self.model, self.config = db_wrapper, model, config
        self.manifest = manifest

    def __call__(self, name: str) -> str:
        return f"{self.model}.{name}"


class Var:
    def __init__(self, context: object, config: object, node: str) -> None:
        self._context, self._config, self._node = context, config, node

    def __call__(self, name: str, default: object = None) -> object:
        return self._node if name == "whose" else default


MANIFEST = SimpleNamespace(nodes={"model.shop.orders": "shop"})
MACRO = Resolver(None, "the macro", None, MANIFEST)
CONTEXT = {"ref": MACRO, "source": MACRO, "var": Var({}, None, "the macro")}


def rendered(raw_code: str, language: str = "sql") -> str:
    ran: list[str] = []
    context: dict[str, Any] = {
        **CONTEXT,
        "run_query": ran.append,
        "project_macro": lambda: ran.append("a macro"),
    }
    node = {
        "unique_id": "model.shop.orders",
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
        ("select * from {{ ref('x') }}", "select * from shop.x"),
        ("select '{{ var('whose') }}'", "select 'shop'"),
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
