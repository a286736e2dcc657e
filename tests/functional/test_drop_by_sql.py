"""A drop on a connection with SQL alone, such as a Thrift server, rewrites whole partitions."""

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.functions import col

from dbt.adapters.deltawiden.delta.backends.sql import USER_METADATA, SqlBackend
from dbt.adapters.deltawiden.delta.data_files import FilesBySql, Progress, StaleFile
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.operations.maintenance.drop_type_widening import drop_from_table
from dbt.adapters.deltawiden.operations.maintenance.repair_statistics import repair_table
from dbt.adapters.deltawiden.operations.maintenance.rewrite_widened_files import rewrite_files
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from tests.functional.parquet import stored_types
from tests.functional.support import Table, needs_delta_4
from tests.functional.test_drop_type_widening import COLLECTIONS, FIELDS, create, state

ARRAY = {"arr": COLLECTIONS["arr"]}
PARTITIONED_BY = (
    "text string, number bigint, amount decimal(20,5), day date, time timestamp, ok boolean"
)
PARTITIONS = [
    "'a b%', -1, 0.00001, date'2024-02-29', timestamp'2024-03-10 03:30:00.123456', true",
    "'/=ä', 9007199254740993, -12345678901234.5, date'0001-01-01', timestamp'1999-12-31', false",
    "'null', 0, 0, null, timestamp'2024-11-03 01:30:00', null",
    "'it\\'s \\\\', null, null, date'9999-12-31', null, true",
    "null, null, null, null, null, null",
]


@pytest.fixture
def opened(project):
    """Return a function that opens a table without a session."""

    def ask(statement: str) -> Sequence:
        with project.adapter.connection_named("by_sql"):
            return list(project.adapter.execute(statement, fetch=True)[1].rows)

    def open_table(
        table: Table, kind: type[FilesBySql] = FilesBySql, before=lambda statement: None
    ) -> MaintainedTable:
        def watched(statement: str, fetch: bool = True) -> tuple[None, SimpleNamespace]:
            before(statement)
            return None, SimpleNamespace(rows=ask(statement))

        schema, name = table.name.split(".")
        relation = SparkRelation.create(schema=schema, identifier=name, type="table", is_delta=True)
        backend = SqlBackend(watched, lambda: None)
        files = backend.data_files(relation)
        assert isinstance(files, FilesBySql)
        files = kind(files.table, files.location, files.fetch_rows, files.partitioned_by)
        return MaintainedTable(relation, backend, files, commit_tag="no commit has this")

    return open_table


class Lazy(FilesBySql):
    def rewrite(self, stale: Sequence[StaleFile], *progress: Progress) -> None:
        """A table whose rewrite does nothing."""


class Losing(FilesBySql):
    def rewrite(self, stale: Sequence[StaleFile], *progress: Progress) -> None:
        """A table whose rewrite loses a row."""
        super().rewrite(stale, *progress)
        self.fetch_rows(f"delete from {self.table} where id = 3")


def test_a_table_without_partitions_is_rewritten(opened, table, spark, engine):
    create(spark, table("whole").name, {**COLLECTIONS, **FIELDS})
    rows = table("whole").rows()
    planned = drop_from_table(opened(table("whole")), False, dry_run=True)
    assert planned.values["stale_files"] == 1
    ran: list[str] = []
    drop_from_table(opened(table("whole"), before=ran.append), False, dry_run=False)
    for column in {**COLLECTIONS, **FIELDS}:
        assert len(stored_types(spark, table("whole").name, column)) == 1
    assert table("whole").rows() == rows
    # The files are read before and after the drop, but none of them twice.
    reads = [statement for statement in ran if "from parquet." in statement]
    assert len(reads) == len(set(reads)) > 0


@pytest.mark.slow
def test_the_property_does_not_stay_with_the_value_false(opened, table, spark):
    off = table("off")
    pair = f"('{TYPE_WIDENING_PROPERTY}' = 'true')"
    spark.sql(f"create table {off.name} (id int) using delta tblproperties {pair}")
    spark.sql(f"alter table {off.name} set tblproperties {pair.replace('true', 'false')}")
    planned = drop_from_table(opened(off), False, dry_run=True)
    done = drop_from_table(opened(off), False, dry_run=False)
    assert done.values["statements"] == planned.values["statements"]
    assert TYPE_WIDENING_PROPERTY not in off.properties


@pytest.mark.slow
def test_partitions_of_any_type_are_rewritten(opened, table, spark):
    names = ", ".join(column.split()[0] for column in PARTITIONED_BY.split(", "))
    spark.sql(
        f"create table {table('parts').name} (arr array<smallint>, {PARTITIONED_BY}) using delta "
        f"partitioned by ({names}) tblproperties ('delta.enableTypeWidening' = 'true')"
    )
    values = ", ".join(f"(array(1), {partition})" for partition in PARTITIONS)
    spark.sql(f"insert into {table('parts').name} values {values}")
    spark.sql(f"alter table {table('parts').name} alter column arr.element type int")
    spark.sql(
        f"insert into {table('parts').name} values (array(100000), 'new', 0, 0, null, null, null)"
    )
    rows, new = table("parts").rows(), newest_file(table("parts"))
    outcome = drop_from_table(opened(table("parts")), False, dry_run=False)
    assert outcome.values["stale_files"] == len(PARTITIONS)
    assert "their whole partitions" in outcome.values["statements"][1]
    assert len(stored_types(spark, table("parts").name, "arr")) == 1
    assert table("parts").rows() == rows
    # A partition without older types is not rewritten.
    assert newest_file(table("parts")) == new


def newest_file(table: Table) -> str:
    (file,) = table.spark.sql(
        f"select distinct _metadata.file_path from {table.name} where text = 'new'"
    ).collect()
    return str(file[0])


@pytest.mark.slow
def test_remaining_stale_files_are_an_error(opened, table, spark):
    create(spark, table("lazy").name, ARRAY)
    with pytest.raises(DbtRuntimeError, match=r"still hold older types, such as arr\.element in"):
        drop_from_table(opened(table("lazy"), Lazy), False, dry_run=False)


@pytest.mark.slow
def test_changes_of_another_table_stop_a_drop_before_its_first_statement(opened, table, spark):
    change = {"fromType": "short", "toType": "integer", "tableVersion": 1}
    column = col("id").cast("short").alias("v", metadata={"delta.typeChanges": [change]})
    spark.range(3).select(column).write.format("delta").saveAsTable(table("copied").name)
    for dry_run in (True, False):
        with pytest.raises(DbtRuntimeError, match="No SQL statement removes the recorded type"):
            drop_from_table(opened(table("copied")), False, dry_run)
    assert table("copied").version == 0


@pytest.mark.slow
@needs_delta_4
@pytest.mark.parametrize(
    ("operation", "column", "changed"),
    [
        (partial(drop_from_table, truncate_history=False), "c array<int>", "c.element type bigint"),
        (rewrite_files, "c decimal(5,2)", "c type decimal(12,2)"),
        (repair_table, "c float", "c type double"),
    ],
)
def test_a_table_that_only_takes_new_rows_is_refused_first(
    opened, table, spark, operation, column, changed
):
    fixed = table("fixed")
    spark.sql(
        f"create or replace table {fixed.name} ({column}) using delta "
        "tblproperties ('delta.enableTypeWidening' = 'true', 'delta.appendOnly' = 'true')"
    )
    spark.sql(f"insert into {fixed.name} values (null)")
    spark.sql(f"alter table {fixed.name} alter column {changed}")
    before = fixed.version
    for dry_run in (True, False):
        with pytest.raises(DbtRuntimeError, match=r"delta\.appendOnly, so no row of it can be"):
            operation(opened(fixed), dry_run=dry_run)
    assert fixed.version == before


@pytest.mark.slow
def test_a_server_that_does_not_tell_the_version_of_delta_drops_the_feature(
    opened, table, spark, engine
):
    create(spark, table("silent").name, ARRAY)

    def refuse(statement: str) -> None:
        if "java_method" in statement:
            raise DbtRuntimeError("java_method is not allowed")

    outcome = drop_from_table(opened(table("silent"), before=refuse), False, dry_run=False)
    assert outcome.values["state"] == state(engine)


@pytest.mark.slow
def test_missing_rows_are_an_error(opened, table, spark):
    create(spark, table("fewer").name, ARRAY)
    losing = opened(table("fewer"), Losing)
    spark.conf.set(USER_METADATA, losing.commit_tag)
    try:
        with pytest.raises(DbtRuntimeError, match="had 20 rows and has 19"):
            drop_from_table(losing, False, dry_run=False)
    finally:
        spark.conf.unset(USER_METADATA)


@pytest.mark.slow
def test_writes_of_others_in_the_meantime_are_not_an_error(opened, table, spark):
    create(spark, table("busy").name, ARRAY)

    def write_once(statement: str) -> None:
        if (
            "drop feature" in statement
            and table("busy").spark.table(table("busy").name).count() < 21
        ):
            spark.sql(f"insert into {table('busy').name} values (7, 'x', 1, array(7))")

    outcome = drop_from_table(opened(table("busy"), before=write_once), False, dry_run=False)
    assert "WRITE" in outcome.values["written_by_others"]
    assert spark.table(table("busy").name).count() == 21
