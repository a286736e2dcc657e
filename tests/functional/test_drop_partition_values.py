"""After a drop, other programs can read the partition values from before a widening."""

import pytest

from dbt.adapters.deltawiden.delta.engine import DELTA_4_4
from tests.functional.aged import folder_of
from tests.functional.support import needs_delta_4
from tests.functional.test_drop_type_widening import document
from tests.readers.programs import PROGRAMS

# The columns with their types and their values before and after the widening.
COLUMNS = {
    "amount": ("decimal(8,2)", "1.25", "decimal(12,4)", "1.2567"),
    "day": ("date", "date'2024-01-01'", "timestamp_ntz", "timestamp_ntz'2024-01-01 10:11:12'"),
    "number": ("smallint", "7", "int", "70000"),
}


def create(spark, engine, name):
    # Without this, Delta 4.4 also writes the partition columns into the data files.
    files = {"delta.writePartitionColumnsToParquet": "false"} if engine.delta >= DELTA_4_4 else {}
    properties = {
        **files,
        # Otherwise, they read the values from a checkpoint that has them with their types.
        "delta.checkpoint.writeStatsAsStruct": "false",
        "delta.enableTypeWidening": "true",
        "delta.feature.timestampNtz": "supported",
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    declared = ", ".join(f"{column} {before}" for column, (before, *_) in COLUMNS.items())
    spark.sql(
        f"create table {name} (id int, {declared}) using delta partitioned by "
        f"({', '.join(COLUMNS)}) tblproperties ({listed})"
    )
    before, after = ([values[at] for values in COLUMNS.values()] for at in (1, 3))
    spark.sql(f"insert into {name} values (1, {', '.join(before)}), (2, null, null, null)")
    for column, (_, _, wider, _) in COLUMNS.items():
        spark.sql(f"alter table {name} alter column {column} type {wider}")
    spark.sql(f"insert into {name} values (3, {', '.join(after)})")


def drop_and_read(spark, engine, table):
    create(spark, engine, table.name)
    rows = table.rows()
    (done,) = document(relations=[table.name])["tables"]
    assert (done["state"], done["files"], done["stale_files"]) == ("dropped", 3, 1)
    assert table.rows() == rows
    for program in PROGRAMS:
        read = program()
        assert read.count(folder_of(table), "amount = 1.25") == 1
        assert read.count(folder_of(table), "day = timestamp '2024-01-01 00:00:00'") == 1
        assert read.count(folder_of(table), "number in (7, 70000)") == 2
    (again,) = document(relations=[table.name])["tables"]
    assert (again["state"], again["stale_files"]) == ("absent", 0)


@pytest.mark.slow
@needs_delta_4
def test_delta_rs_and_duckdb_read_them(project, table, spark, engine):
    drop_and_read(spark, engine, table("by_session"))


@pytest.mark.slow
@needs_delta_4
@pytest.mark.usefixtures("by_sql_alone")
def test_delta_rs_and_duckdb_read_them_after_a_drop_by_sql_alone(project, table, spark, engine):
    drop_and_read(spark, engine, table("by_sql"))
