"""What a plan does so that a table is clustered as its model wants it."""

import pytest

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.widening.clustering import plan_clustering
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.report import refusals_text
from dbt.adapters.deltawiden.widening.steps import ClusterBy, Stage
from tests.unit.schemas import MAPPED, make_plan, policy, reasons, schema, table_snapshot

BEFORE = {"id": "int", "s": {"x": "int"}, "Name": "string"}
GROWN = {"id": "bigint", "s": {"x": "int", "deep": "int"}, "Name": "string", "added": "int"}


def clustered(*wanted: Path, source=GROWN, mode=None, **known) -> Plan:
    table = table_snapshot(
        {"delta.enableTypeWidening": "true", **MAPPED}, schema=schema(BEFORE), **known
    )
    made = make_plan(BEFORE, source, policy(mode or "append_new_columns"), table)
    return plan_clustering(made, wanted, table)


def verbs(plan: Plan) -> list[str]:
    return [statement.removeprefix("alter table `s`.`t` ") for statement in plan.statements]


WIDENED = "alter column `id` type bigint"
ADDED = "add columns (`s`.`deep` int, `added` int)"


def test_a_table_is_clustered_before_other_changes():
    assert verbs(clustered(("ID",), ("S", "X"))) == ["cluster by (`id`, `s`.`x`)", WIDENED, ADDED]


@pytest.mark.parametrize("new", [("added",), ("S", "DEEP")])
def test_a_table_is_clustered_by_a_new_column_after_it_was_added(new: Path):
    made = clustered(("name",), new)
    *others, last = verbs(made)
    assert others == [WIDENED, ADDED]
    assert last.startswith("cluster by (`Name`, ")
    assert made.after == ()


def test_clustering_is_removed():
    assert verbs(clustered(source=BEFORE)) == ["cluster by none"]


def test_a_write_that_removes_the_clustering_is_followed_by_it_and_then_by_drops():
    """Before the write too, if it is a change: the engine may refuse it."""
    gone = {"id": "int", "s": {"x": "int"}}
    changed = clustered(("id",), source=gone, mode="sync_all_columns")
    again = ClusterBy("`s`.`t`", (("id",),), Stage.CLUSTERING_AGAIN)
    assert verbs(changed.adding(again)) == [
        "cluster by (`id`)",
        "cluster by (`id`)",
        "drop columns (`Name`)",
    ]


def test_a_name_that_the_table_does_not_have_is_refused_with_those_that_it_has():
    made = clustered(("id",), ("nope",), ("s",), ("s", "y"))
    assert reasons(made) == [
        (path, Reason.NOT_A_CLUSTERING_COLUMN) for path in (("nope",), ("s",), ("s", "y"))
    ]
    assert made.statements == []
    told = refusals_text(made)
    assert "  nope\n    Why: liquid_clustered_by has this name, which the table" in told
    assert "no such column or field; there are: id, s, Name, added." in told
    assert "is not a leaf; name one of: s.x" in told


def test_a_new_column_that_is_left_out_is_no_column_of_the_table():
    table = table_snapshot(schema=schema(BEFORE))
    made = plan_clustering(Plan("`s`.`t`"), (("added",),), table)
    assert reasons(made) == [(("added",), Reason.NOT_A_CLUSTERING_COLUMN)]


def test_a_table_with_partitions_is_refused():
    made = clustered(("id",), partition_columns=("Name", "id"))
    assert reasons(made) == [(("id",), Reason.CLUSTERED_AND_PARTITIONED)]
    assert "is partitioned by Name, id: Delta clusters only tables" in refusals_text(made)


def test_a_clustered_table_is_not_asked_for_its_partitions():
    known = table_snapshot(schema=schema(BEFORE), clustering_columns=(("Name",),))
    del vars(known)["partition_columns"]
    assert not plan_clustering(Plan("`s`.`t`"), (("id",),), known).refusals
