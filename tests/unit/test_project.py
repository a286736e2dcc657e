"""Values put in the order of their columns. That Spark reads them so is in tests/functional."""

import pytest

from dbt.adapters.deltawiden.widening.project import in_order, shaped_sql
from tests.unit.schemas import data_type

SAME = {"a": "int", "b": {"c": "int"}}


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("int", "bigint"),
        (SAME, SAME),
        ({"A": "tinyint", "B": {"C": "int"}}, SAME),
        ([SAME], [SAME]),
        (("string", SAME), ("string", SAME)),
        (SAME, "int"),
    ],
)
def test_what_is_in_order_is_written_as_it_is(source, column):
    assert in_order(data_type(source), data_type(column))
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
