"""The text of a model that is compiled outside of its run may only read."""

from types import SimpleNamespace

import pytest
from dbt.contracts.graph.manifest import Manifest, SourceLookup

from dbt.adapters.deltawiden.sql.queries import without_texts
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared
from dbt.adapters.deltawiden.writes.model_query import _not_compiled, _ReadingAdapter

ADAPTER = _ReadingAdapter(SimpleNamespace(execute=lambda sql: sql))


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 as id",
        "-- all\n(/* of */ with g as (select 1 as id) select id from g)",
        "with g as (select 1 as update_at, 'delete' as set) select update_at, set from g",
        "with recursive_update as (select 1 as id) select id from recursive_update",
        "select 'delete from a table' as text",
    ],
)
def test_a_query_is_run(sql: str):
    assert ADAPTER.execute(sql) == sql


@pytest.mark.parametrize(
    "sql",
    [
        "drop table t",
        "-- all\ndelete from t",
        "with g as (select 1 as id) insert into t select id from g",
        "/* all */ WITH g as (select 1 as id) DELETE\n from t where id in (select id from g)",
        "with g as (select 1 as id) delete /* all */ from t",
        "with g as (select 1 as id) update t set id = 2",
        "/* log */ delete from audit /* of */ where id in (select 1)",
        "with g as (select 1 as id) update a.`b`.t as u set u.id = 2",
        "with g as (select 1 as id) merge into t using g on t.id = g.id when matched then delete",
        "with g as (select 1 as id) merge with schema evolution into t using g on t.id = g.id",
    ],
)
def test_another_statement_is_refused(sql: str):
    with pytest.raises(NotCompared, match="runs a statement that its run alone may run"):
        ADAPTER.execute(sql)


@pytest.mark.parametrize("text", ["'s.t'", '"s.t"', "'it\\'s s.t'", "-- s.t\n", "/* s.t */"])
def test_a_comment_or_a_text_has_no_name_of_a_table(text: str):
    assert "s.t" not in without_texts(f"select {text} from `'s`.`u`")
    assert "`'s`.`u`" in without_texts(f"select {text} from `'s`.`u`")


def test_dbt_still_finds_what_a_manifest_has():
    node = SimpleNamespace(unique_id="model.p.m", columns={}, depends_on_nodes=[])
    manifest = Manifest(nodes={"model.p.m": node})
    manifest._ref_lookup = object()
    changed = _not_compiled(manifest, "model.p.m")
    assert changed.ref_lookup is manifest._ref_lookup
    assert isinstance(changed.source_lookup, SourceLookup)
    assert changed.nodes["model.p.m"] is not node
