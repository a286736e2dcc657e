"""The views that a run names after it changed a table."""

from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.deltawiden.views.finder import view_models
from dbt.adapters.deltawiden.views.stale_views import View
from dbt.adapters.deltawiden.writes import model_views
from dbt.adapters.deltawiden.writes.model_views import ModelViews

TABLE = "model.p.orders"


def view_model(name: str, *reads: str, database: str | None = None) -> dict[str, Any]:
    return {
        "name": name,
        "alias": name,
        "database": database,
        "schema": "s",
        "resource_type": "model",
        "config": {"materialized": "view"},
        "depends_on": {"nodes": list(reads)},
    }


def test_the_schema_of_a_view_in_both_names_means_no_catalog_as_in_its_relation():
    databases = (None, "s", "spark_catalog", "lake")
    paths = [next(iter(view_models([view_model("V", database=each)]))) for each in databases]
    assert paths == [("s", "v"), ("s", "v"), ("s", "v"), ("lake", "s", "v")]


def test_only_a_view_that_comes_after_the_table_is_made_again(monkeypatch: pytest.MonkeyPatch):
    nodes = {
        "model.p.by_ref": view_model("by_ref", TABLE),
        "model.p.outer": view_model("outer", "model.p.by_ref", "model.p.outer"),
        "model.p.by_name": view_model("by_name", "source.p.s.orders"),
        "model.p.left_out": view_model("left_out", TABLE),
    }
    views = [View(("s", node["name"]), fails="UNRESOLVED_COLUMN") for node in nodes.values()]
    finder: Any = SimpleNamespace(stale_over=lambda *_, columns: views, can_follow=True)
    logged: list[str] = []
    monkeypatch.setattr(model_views, "logger", SimpleNamespace(warning=logged.append))
    made = [TABLE, *(each for each in nodes if not each.endswith("left_out"))]
    ModelViews(finder).log_stale(["s.orders"], {"nodes": nodes}, True, made, TABLE)
    (text,) = logged
    named = [line.strip() for line in text.splitlines() if line.startswith("  s.")]
    assert named == ["s.by_name", "s.left_out"]
