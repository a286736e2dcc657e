"""What can't be read or done without a session."""

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.reader import Reader


def test_by_sql_alone_no_recorded_change_can_be_removed_and_the_way_out_is_told():
    reader = Reader(lambda _: [], lambda: None, "4.4.0")
    with pytest.raises(DbtRuntimeError, match="Run the operation again with method: session"):
        reader.remove_recorded_changes(SparkRelation.create(schema="s", identifier="t"))


def test_by_sql_alone_a_schema_is_read_only_when_it_is_wanted():
    asked: list[str] = []

    def ask(query: str) -> list[tuple[str, str, None]]:
        asked.append(query)
        return [("id", "smallint", None)]

    reader = Reader(ask, lambda: None, "4.4.0")
    table_schema = reader.prefetch_schema(SparkRelation.create(schema="s", identifier="t"))
    assert asked == []
    assert table_schema().simpleString() == "struct<id:smallint>"
    assert len(asked) == 1
