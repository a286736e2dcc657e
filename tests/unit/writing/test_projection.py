"""Values in the order of their columns. tests/functional checks that Spark reads them so."""

import pytest

from dbt.adapters.deltawiden.writing.projection import in_order, is_as_is, shaped_sql
from tests.unit.schemas import data_type

SAME = {"a": "int", "b": {"c": "int"}}


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("int", "bigint"),
        (SAME, SAME),
        ({"A": "int", "B": {"C": "int"}}, SAME),
        ([SAME], [SAME]),
        (("string", SAME), ("string", SAME)),
        (SAME, "int"),
        # A cast would lose a value that the write can still refuse.
        ({"a": "bigint", "b": {"c": "int"}}, SAME),
        (["int"], ["bigint"]),
    ],
)
def test_a_value_with_the_order_and_types_of_its_column_is_written_as_it_is(source, column):
    assert in_order(data_type(source), data_type(column))
    assert is_as_is(data_type(source), data_type(column))
    assert shaped_sql("v", data_type(source), data_type(column)) == "v"


@pytest.mark.parametrize(
    ("source", "column", "sql"),
    [
        (
            {"b": "int", "a": "int"},
            {"a": "int", "b": "int"},
            "if(v is null, null, named_struct('a', v.`a`, 'b', v.`b`))",
        ),
        (
            {"a": "int"},
            {"a": "int", "new": "date"},
            "if(v is null, null, named_struct('a', v.`a`, 'new', cast(null as date)))",
        ),
        (
            [{"b": "int", "a": "int"}],
            [{"a": "int", "b": "int"}],
            "transform(v, x1 -> if(x1 is null, null, named_struct('a', x1.`a`, 'b', x1.`b`)))",
        ),
        (
            ("string", {"b": "int", "a": "int"}),
            ("string", {"a": "int", "b": "int"}),
            "transform_values(v, (k1, v2) -> "
            "if(v2 is null, null, named_struct('a', v2.`a`, 'b', v2.`b`)))",
        ),
        (
            {"it's": "int", "a`b": "int"},
            {"a`b": "int", "it's": "int"},
            "if(v is null, null, named_struct('a`b', v.`a``b`, 'it\\'s', v.`it's`))",
        ),
    ],
)
def test_fields_are_put_in_the_order_of_the_column(source, column, sql):
    assert not in_order(data_type(source), data_type(column))
    assert shaped_sql("v", data_type(source), data_type(column)) == sql


@pytest.mark.parametrize(
    ("source", "column", "sql"),
    [
        ({"a": "int"}, {"a": "bigint"}, "cast(v as struct<`a`: bigint>)"),
        ([{"a": "void"}], [{"a": "date"}], "cast(v as array<struct<`a`: date>>)"),
        (
            {"b": "int", "a": "int"},
            {"a": "int", "b": "bigint"},
            "cast(if(v is null, null, named_struct('a', v.`a`, 'b', v.`b`)) "
            "as struct<`a`: int, `b`: bigint>)",
        ),
    ],
)
def test_fields_get_the_types_of_the_column_if_these_hold_every_value(source, column, sql):
    assert not is_as_is(data_type(source), data_type(column))
    assert shaped_sql("v", data_type(source), data_type(column)) == sql
