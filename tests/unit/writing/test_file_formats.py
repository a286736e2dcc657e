"""Whether the files of a CSV table have one column, in which null would be an empty line."""

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import IntegerType, StructType

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.policy import OnSchemaChange, Policy
from dbt.adapters.deltawiden.writing.file_formats import checked_format_query


def ints(names: str) -> StructType:
    schema = StructType()
    for name in names.split():
        schema = schema.add(name, IntegerType())
    return schema


@pytest.mark.parametrize(
    ("model", "table", "mode", "is_alone"),
    [
        ("v", None, "ignore", True),
        ("v more", None, "ignore", False),
        ("V more", "v", "ignore", True),
        ("v more", "v", "append_new_columns", False),
        ("v", "v w", "append_new_columns", False),
        ("v p", "v p", "ignore", True),
    ],
)
def test_the_columns_of_an_existing_table_count(model, table, mode, is_alone):
    backend: Any = SimpleNamespace(
        schema_to_check=lambda query: ints(model),
        setting=lambda key: None,
        partition_schema=lambda table: ints("p"),
    )
    policy = Policy(on_schema_change=OnSchemaChange(mode))
    spec = ModelSpec("m", policy=policy, file_format="csv", partition_by=("p",))
    existing: Any = None if table is None else object()
    query = checked_format_query(backend, "select 1", spec, existing, lambda: ints(table))
    assert ("is not null" in query) == is_alone
