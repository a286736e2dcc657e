"""By which values the rows of a table are found that a model's query returns."""

from typing import Any

import pytest
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.widening.matched_rows import NotCompared, key_columns
from tests.unit.schemas import schema


def having(**types: Any) -> StructType:
    return schema(types)


def key(name: str, produced: StructType, stored: StructType) -> str:
    (found,) = key_columns([name], produced, stored)
    return found.value


@pytest.mark.parametrize(
    ("produced", "stored", "key_type"),
    [
        ("int", "bigint", "bigint"),
        ("bigint", "int", "bigint"),
        ("decimal(10,4)", "decimal(8,2)", "decimal(10,4)"),
        ("int", "decimal(8,2)", "decimal(12,2)"),
        ("int", "string", "string"),
        ("double", "float", "double"),
        # A char is compared with its spaces, as a text.
        ("string", "char(4)", "string"),
        ("varchar(4)", "string", "string"),
        # A date is a midnight. A time of day that a key has lost is no match.
        ("timestamp_ntz", "date", "timestamp_ntz"),
    ],
)
def test_a_key_is_compared_in_a_type_that_holds_both(produced, stored, key_type):
    assert key("K", having(k=produced), having(k=stored)) == f"cast(t.`K` as {key_type})"


@pytest.mark.parametrize(
    ("name", "produced", "stored", "message"),
    [
        ("k", "double", "decimal(8,2)", "k is double in the model and decimal"),
        ("k", "timestamp", "timestamp_ntz", "no type holds the values of both"),
        ("k", ["int"], ["int"], "k is array<int> in the model"),
        ("x", "int", "int", "unique_key: the model's query has no column x; it has k"),
        ("k.x", "int", "int", "the model's query has no column k.x"),
        ("lower(k)", "string", "string", "has no column lower(k)"),
    ],
)
def test_a_key_that_finds_no_rows_is_an_error(name, produced, stored, message):
    with pytest.raises(NotCompared) as raised:
        key_columns([name], having(k=produced), having(k=stored))
    assert message in str(raised.value)


def test_a_key_can_be_a_field_or_have_any_name():
    both = having(**{"a b": "int", "s": {"id": "int"}})
    assert key("s.id", both, both) == "cast(t.`s`.`id` as int)"
    assert key("a b", both, both) == "cast(t.`a b` as int)"
