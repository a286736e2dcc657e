"""What is decided for a table before a write."""

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.model_spec import read_model_spec
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused
from dbt.adapters.deltawiden.writes.write_planner import Schemas, WritePlanner
from tests.unit.schemas import schema_of, table_snapshot

TABLE = SparkRelation.create(schema="s", identifier="t").replace(is_delta=True)


def backend_with(stored: StructType) -> Any:
    snapshot = table_snapshot()
    snapshot.schema = stored
    return SimpleNamespace(snapshot=lambda *_: snapshot)


@pytest.mark.parametrize("strategy", ["merge", "delete+insert"])
def test_a_key_and_a_type_that_are_refused_are_in_one_message(strategy: str):
    stored = schema_of({"code": "char(3)", "n": "date"})
    config = {
        "materialized": "incremental",
        "incremental_strategy": strategy,
        "unique_key": "code",
        "on_schema_change": "append_new_columns",
    }
    output = schema_of({"code": "char(3)", "n": "binary"})
    planner = WritePlanner(backend_with(stored))
    with pytest.raises(SchemaChangeRefused) as refused:
        planner.plan_incremental(
            Schemas(output, stored), TABLE, read_model_spec(config, "m"), query=""
        )
    assert "n: date -> binary" in refused.value.msg
    assert "code: char(3)" in refused.value.msg
