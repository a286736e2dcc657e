"""Which widenings leave files that a filter can misread. tests/conformance asks Spark."""

import pytest

from dbt.adapters.deltawiden.delta.parquet_filters import misread_by_filters
from dbt.adapters.deltawiden.sql.types import parse_type


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [
        ("decimal(8,2)", "decimal(12,2)"),
        ("decimal(9,0)", "decimal(10,0)"),
        ("decimal(18,2)", "decimal(19,2)"),
        ("decimal(1,1)", "decimal(38,1)"),
        ("decimal(20,2)", "decimal(38,2)"),
        ("decimal(21,0)", "decimal(22,0)"),
        ("tinyint", "bigint"),
        ("smallint", "bigint"),
        ("int", "bigint"),
    ],
)
def test_a_filter_can_misread_the_files(from_type: str, to_type: str):
    assert misread_by_filters(parse_type(from_type), parse_type(to_type))


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [
        ("decimal(8,2)", "decimal(9,2)"),  # both int32
        ("decimal(10,2)", "decimal(18,2)"),  # both int64
        ("decimal(20,2)", "decimal(21,2)"),  # both 9 bytes
        ("decimal(8,2)", "decimal(12,4)"),
        ("tinyint", "int"),
        ("smallint", "int"),
        ("int", "decimal(12,0)"),
        ("bigint", "decimal(20,0)"),
        ("int", "double"),
        ("float", "double"),
        ("date", "timestamp_ntz"),
        ("varchar(5)", "string"),
    ],
)
def test_no_filter_misreads_the_files(from_type: str, to_type: str):
    assert not misread_by_filters(parse_type(from_type), parse_type(to_type))
