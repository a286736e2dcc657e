"""The tests read a table's commits from its log: they are those that Delta reports."""

import pytest

from tests.functional.support import Table


@pytest.mark.parametrize("folder", ["", "a b%20 ü"])
def test_the_versions_and_operations_are_those_of_the_history(spark, tmp_path, folder: str):
    table = Table(spark, "default.`of_the_log`")
    location = f"location '{tmp_path / folder}'" if folder else ""
    spark.sql(f"create table {table.name} using delta {location} as select 1 as id")
    try:
        spark.sql(f"insert into {table.name} values (2)")
        spark.sql(f"delete from {table.name} where id = 1")
        assert table.version == table.history[-1].version == 2
        assert table.operations(since=0) == [row.operation for row in table.history[1:]]
    finally:
        spark.sql(f"drop table {table.name}")
