"""The data files that SQL alone lists."""

from collections.abc import Mapping

import pytest

from dbt.adapters.deltawiden.delta.data_files import FilesBySql, metadata_name

PARTITIONED = {"amount": "decimal(12,4)", "a b": "string"}


@pytest.mark.parametrize(
    ("path", "partitioned_by", "values"),
    [
        (
            "file:/w/amount=1.25/a%20b=x%252F%253D/part-0.parquet",
            PARTITIONED,
            {"amount": "1.25", "a b": "x/="},
        ),
        # With column mapping, the folders can have any name.
        ("file:/w/t/Xy/part-0.parquet", PARTITIONED, {}),
        ("file:/w/year=2024/part-0.parquet", {}, {}),
        ("file:/w/year=2024/t/amount=7/part-0.parquet", {"amount": "double"}, {"amount": "7"}),
    ],
)
def test_partition_values_are_read_from_the_names_of_folders(
    path: str, partitioned_by: Mapping[str, str], values: Mapping[str, str]
):
    files = FilesBySql("t", "/w/t", lambda query: [(path, 10)], partitioned_by)
    assert [file.partition_values for file in files.list()] == [values]


def test_sparks_column_of_metadata_has_a_name_that_no_column_has():
    assert metadata_name(["id"]) == "_metadata"
    assert metadata_name(["__METADATA", "_Metadata", "id"]) == "___metadata"
