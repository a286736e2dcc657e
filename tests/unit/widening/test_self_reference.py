"""A model that reads its own table, found by its query and by its types after a change."""

import pytest
from pyspark.sql.types import LongType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.widening.self_reference import (
    grows_again,
    self_reference_text,
    widened_queries,
)
from tests.unit.schemas import schema

SUBQUERY = "(select cast(null as bigint) as `n` where false)"
GROWN = TypeChange(("n",), parse_type("decimal(10,2)"), parse_type("decimal(20,2)"))


@pytest.mark.parametrize("name", ["s.t", "`s`.`t`", "S.T", "`s`.t", "s . t", "Spark_Catalog.s.t"])
def test_the_table_is_found_by_any_spelling(name):
    plain, aliased = widened_queries(f"select n from {name}", ("s", "t"), {"n": LongType()})
    assert plain == f"select n from {SUBQUERY}"
    assert aliased == f"select n from {SUBQUERY} as `t`"


@pytest.mark.parametrize("name", ["s.t2", "other.s.t", "xs.t", "t", "s.`t`2", "`s.t`"])
def test_another_table_is_not_found(name):
    assert widened_queries(f"select n from {name}", ("s", "t"), {"n": LongType()}) == []


def test_an_output_that_is_wider_after_the_change_grows_again():
    after = schema({"n": "decimal(20,2)", "m": "int"})
    wider, same = schema({"n": "decimal(30,2)"}), schema({"n": "decimal(20,2)", "m": "bigint"})
    assert grows_again((GROWN,), wider, after) == [(GROWN, parse_type("decimal(30,2)"))]
    assert grows_again((GROWN,), same, after) == []


def test_the_text_names_the_cast():
    text = self_reference_text("`s`.`t`", [(GROWN, parse_type("decimal(30,2)"))])
    assert "n: decimal(10,2) -> decimal(20,2), then decimal(30,2)" in text
    assert "cast(... as decimal(10,2)) as n" in text
