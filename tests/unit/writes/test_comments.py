"""The statements that set comments after the rows of a node are written."""

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.writes.comments import Comments, warn_of_missing_in_plan
from dbt.adapters.deltawiden.writing.columns import Write, match_columns
from tests.unit.schemas import schema


def test_an_error_says_that_the_rows_are_written():
    def refuse(statement: str) -> None:
        raise DbtDatabaseError("[DELTA_SOMETHING] refused")

    table = SparkRelation.create(schema="s", identifier="t")
    with pytest.raises(DbtDatabaseError) as failed:
        Comments(SqlBackend(refuse, lambda: None)).set(table, "comment on table s.t is 'x'")  # type: ignore[arg-type]
    assert failed.value.msg.startswith("The rows of `s`.`t` are written and committed.")
    assert "comment on table s.t is 'x'\n[DELTA_SOMETHING] refused\n" in failed.value.msg
    assert "a second run of an `append` model would repeat them" in failed.value.msg


def test_neither_a_column_that_delta_computes_nor_its_fields_are_named_as_missing(monkeypatch):
    texts: list[str] = []
    monkeypatch.setattr(
        "dbt.adapters.deltawiden.writes.comments.warn_as_macro",
        lambda text, **_: texts.append(text),
    )
    monkeypatch.setattr(
        "dbt.adapters.deltawiden.writes.comments.is_replaced", lambda context, name: False
    )
    columns = match_columns(schema({"id": "int"}), schema({"id": "int"}), check=None).columns
    plan: Any = SimpleNamespace(write=Write(columns, computed=("S", "a.b")), dropped=())
    documented = ("ID", "s", "s.x", "a.b", "gone", "gone.x")
    context = {
        "config": {"persist_docs": {"columns": True}, "file_format": "delta"},
        "model": {"columns": {name: {"name": name} for name in documented}},
    }
    warn_of_missing_in_plan(context, plan, SparkRelation.create(schema="s", identifier="t"))
    assert [text.split(": ")[-1] for text in texts] == ["gone, gone.x"]
