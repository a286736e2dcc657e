"""The columns that a write has after the changes of its plan."""

from dataclasses import replace

import pytest
from hypothesis import given

from dbt.adapters.deltawiden.sql.types import type_text
from tests.unit.schemas import data_type, make_plan, schema_after
from tests.unit.strategies import column_mapped_snapshots, policies, tables_with_sources


def test_the_columns_of_the_write_are_those_of_the_changed_table_in_its_order():
    plan = make_plan(
        {"Id": "int", "gone": "int", "v": "float"},
        {"v": "double", "new": "date", "id": "bigint"},
    )
    assert [(column.name, column.type, column.in_source) for column in plan.write.columns] == [
        ("Id", data_type("bigint"), True),
        ("gone", data_type("int"), False),
        ("v", data_type("double"), True),
        ("new", data_type("date"), True),
    ]


@given(tables_with_sources, policies, column_mapped_snapshots)
def test_the_columns_of_the_write_are_the_columns_of_the_changed_table(sides, model, snapshot):
    table, source = sides
    plan = make_plan(table, source, model, snapshot)
    if not plan.refusals:
        after = schema_after(replace(plan, steps=plan.before), table)
        assert [(column.name, type_text(column.type)) for column in plan.write.columns] == [
            (field.name, type_text(field.dataType)) for field in after.fields
        ]


@pytest.mark.parametrize(
    ("table", "source", "can"),
    [
        ({"a": "int"}, {"a": "int"}, True),
        ({"my col": "int"}, {"my col": "int"}, True),
        ({"a": "int", "b": "int"}, {"a": "int"}, False),
        ({"a`b": "int"}, {"a`b": "int"}, False),
    ],
)
def test_a_merge_can_use_a_star_if_the_source_has_every_column(table, source, can):
    assert make_plan(table, source).write.can_merge_all is can
