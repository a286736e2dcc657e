"""What blocks the drop of a column or nested field."""

from typing import Any

import pytest
from pyspark.sql import types as spark

from dbt.adapters.deltawiden.delta.column_metadata import ColumnMetadata
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import MAPPED, checked, make_plan, policy, reasons, table_snapshot


def dropping(table: Any, source: Any, snapshot: TableSnapshot) -> list[tuple[Path, Reason]]:
    return reasons(make_plan(table, source, policy("sync_all_columns"), snapshot))


GONE_FIELD = {"id": "int", "s": {"x": "int", "y": "int"}}, {"id": "int", "s": {"x": "int"}}


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [
        (checked("gone > 0"), [Reason.CONSTRAINT]),
        (checked("gone > 0", "id < GONE"), [Reason.CONSTRAINT, Reason.CONSTRAINT]),
        (checked("id > 0"), []),
        (
            table_snapshot(MAPPED, generation_expressions={"made": "gone + 1"}),
            [Reason.INPUT_OF_GENERATED],
        ),
        (table_snapshot(MAPPED, clustering_columns=(("gONE",),)), [Reason.GONE_AND_CLUSTERED_BY]),
        (table_snapshot(MAPPED, clustering_columns=(("id",), ("s", "gone"))), []),
        (table_snapshot({}), [Reason.DROP_NEEDS_COLUMN_MAPPING]),
        (
            table_snapshot(
                {"delta.constraints.c": "gone > 0"},
                clustering_columns=(("gone",),),
                generation_expressions={"made": "gone + 1"},
            ),
            [
                Reason.DROP_NEEDS_COLUMN_MAPPING,
                Reason.CONSTRAINT,
                Reason.INPUT_OF_GENERATED,
                Reason.GONE_AND_CLUSTERED_BY,
            ],
        ),
    ],
)
def test_all_blockers_of_a_drop_are_refused_together(
    snapshot: TableSnapshot, expected: list[Reason]
):
    refused = dropping({"id": "int", "Gone": "int"}, {"id": "int"}, snapshot)
    assert refused == [(("Gone",), reason) for reason in expected]


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [
        (checked("s.y > 0"), [Reason.CONSTRAINT]),
        (checked("s is not null"), [Reason.CONSTRAINT]),
        (checked("s.x > 0"), []),
        (
            table_snapshot(MAPPED, clustering_columns=(("id",), ("S", "Y"))),
            [Reason.GONE_AND_CLUSTERED_BY],
        ),
        (table_snapshot(MAPPED, clustering_columns=(("s", "x"),)), []),
        (table_snapshot(MAPPED, clustering_columns=(("y",),)), []),
        (table_snapshot(MAPPED, partition_columns=("y",)), []),
        (
            table_snapshot(MAPPED, generation_expressions={"made": "s.y + 1"}),
            [Reason.INPUT_OF_GENERATED],
        ),
    ],
)
def test_a_nested_field_is_dropped_if_nothing_uses_it(snapshot, expected: list[Reason]):
    assert dropping(*GONE_FIELD, snapshot) == [(("s", "y"), reason) for reason in expected]


def test_a_struct_is_not_dropped_if_a_field_in_it_is_a_clustering_column():
    snapshot = table_snapshot(MAPPED, clustering_columns=(("s", "x"),))
    refused = dropping({"id": "int", "s": {"x": "int"}}, {"id": "int"}, snapshot)
    assert refused == [(("s",), Reason.GONE_AND_CLUSTERED_BY)]


def test_no_column_is_dropped_from_a_table_of_another_format():
    refused = dropping(
        {"id": "int", "gone": "int"}, {"id": "int"}, table_snapshot(MAPPED, format="iceberg")
    )
    assert refused == [(("gone",), Reason.DROP_NEEDS_DELTA)]


def test_a_refused_drop_names_the_constraint_and_the_column():
    plan = make_plan(
        {"id": "int", "v": "int"}, {"id": "int"}, policy("sync_all_columns"), checked("v > 0")
    )
    (refusal,) = plan.refusals
    assert (refusal.name, refusal.detail, refusal.from_type) == (
        "`c0`",
        "v > 0",
        spark.IntegerType(),
    )


def test_the_blockers_of_a_drop_do_not_block_a_column_that_is_kept():
    snapshot = checked("gone > 0", clustering_columns=(("gone",),))
    assert not make_plan({"id": "int", "gone": "int"}, {"id": "int"}, snapshot=snapshot).refusals


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ({"s": {"a": "int", "b": "void"}}, {"s": {"b": "void"}}, [("s", "a")]),
        ({"s": {"a": "int", "b": "void"}}, {"s": {"b": "int"}}, []),
        ({"s": {"a": "int", "b": "void"}}, {"s": {"b": "void", "c": "int"}}, []),
        ({"s": {"a": "int", "b": "int"}}, {"s": {"b": "void"}}, []),
        ({"a": "int", "b": "void"}, {"b": "void"}, [("a",)]),
    ],
)
def test_a_drop_leaves_a_field_that_has_a_type(before, after, refused):
    found = dropping(before, after, table_snapshot(MAPPED))
    assert found == [(path, Reason.NO_TYPED_FIELD) for path in refused]


@pytest.mark.parametrize(
    ("declared", "is_refused"),
    [
        ("struct<y:int,x:varchar(5)>", True),
        ("struct<y:int,x:array<struct<v:varchar(5)>>>", True),
        ("struct<x:int,y:varchar(5)>", True),
        ("struct<renamed:int,x:varchar(5)>", True),
        ("struct<x:varchar(5),y:int>", False),
    ],
)
def test_a_field_is_not_dropped_if_a_varchar_has_another_place_then(declared, is_refused):
    snapshot = table_snapshot(MAPPED, column_metadata=ColumnMetadata(texts=(("s", declared),)))
    expected = [(("s", "y"), Reason.DROP_BEFORE_VARCHAR)]
    assert dropping(*GONE_FIELD, snapshot) == (expected if is_refused else [])


def test_a_column_with_a_varchar_is_dropped_as_a_whole():
    texts = (("s", "struct<x:varchar(5)>"),)
    snapshot = table_snapshot(MAPPED, column_metadata=ColumnMetadata(texts=texts))
    assert dropping({"id": "int", "s": {"x": "string"}}, {"id": "int"}, snapshot) == []
