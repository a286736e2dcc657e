"""`rewrite_widened_files` rewrites files from before a widening, so that filters are right."""

import json
import signal
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends import jvm_files
from tests.functional.aged import folder_of
from tests.functional.killed import after_commit, killed
from tests.functional.operate import document, operate
from tests.functional.parquet import stored_types
from tests.functional.plain_spark import count, plain
from tests.functional.support import Table, needs_delta_4

NAME = "rewrite_widened_files"
pytestmark = needs_delta_4

# Each column, its type before and after, and a value.
COLUMNS = {
    "amount": ("decimal(8,2)", "decimal(12,2)", "1.25"),
    "n": ("int", "bigint", "1"),
    "small": ("smallint", "int", "1"),
    "grown": ("decimal(8,2)", "decimal(12,4)", "1.25"),
}
WIDENED = ["amount", "n", "s.x", "arr.element"]
# A filter for each column, and how a filter on it finds every row of a table.
FILTERS = {
    "amount": "amount < 9000000000.00",
    "n": "n not in (7, 4294967297)",
    "s": "s.x between -30000000 and 9000000000.00",
}


def create(spark, name: str, more: str = "partitioned by (p)", **properties: str) -> None:
    """Create a table with a file from before the widening, one of another old type, and a new one.

    The first file is once in each of two partitions.
    """
    listed = {"delta.enableTypeWidening": "true", **properties}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in listed.items())
    declared = ", ".join(f"{column} {before}" for column, (before, *_) in COLUMNS.items())
    spark.sql(
        f"create table {name} (id bigint, p string, {declared}, s struct<x: decimal(8,2)>, "
        f"arr array<decimal(8,2)>) using delta {more} tblproperties ({pairs})"
    )
    insert(spark, name, 0, 6)
    for path, wider in [("amount", "decimal(12,2)"), ("n", "bigint"), ("grown", "decimal(12,4)"),
                        ("s.x", "decimal(12,2)"), ("arr.element", "decimal(12,2)")]:  # fmt: skip
        spark.sql(f"alter table {name} alter column {path} type {wider}")
    insert(spark, name, 6, 8)
    spark.sql(f"alter table {name} alter column small type int")


def insert(spark, name: str, first: int, end: int) -> None:
    values = ", ".join(f"{value} as {column}" for column, (*_, value) in COLUMNS.items())
    spark.sql(
        f"insert into {name} by name select id, cast(id % 2 as string) as p, {values}, "
        f"named_struct('x', 1.25) as s, array(1.25) as arr from range({first}, {end}, 1, 1)"
    )


def files(table: Table) -> set[str]:
    rows = table.spark.sql(f"select distinct _metadata.file_path from {table.name}").collect()
    return {row[0] for row in rows}


def found(table: Table) -> dict[str, int]:
    """Count the rows that each filter finds in a Spark with the default settings."""
    session = plain(table.spark)
    return {column: count(session, table.name, where) for column, where in FILTERS.items()}


def actions(table: Table, version: int) -> tuple[list[dict], list[dict]]:
    """Read the files that a commit adds, and those that it removes."""
    log = Path(folder_of(table), "_delta_log", f"{version:020d}.json").read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    added, removed = ([line[kind] for line in lines if kind in line] for kind in ("add", "remove"))
    return added, removed


class TestRewrite:
    def test_filters_of_another_spark_are_right_afterwards(self, project, spark, table):
        t = table("t")
        create(spark, t.name, **{"delta.enableDeletionVectors": "true"})
        spark.sql(f"delete from {t.name} where id = 1")
        rows, version, before = t.rows(), t.version, files(t)
        assert found(t) == {"amount": 2, "n": 2, "s": 2}

        dry = document(NAME, relations=[t.name], dry_run=True)["tables"][0]
        assert (dry["state"], dry["stale_files"], dry["files"]) == ("dry_run", 2, 4)
        assert dry["columns"] == [["amount"], ["n"], ["s", "x"]]
        assert t.version == version

        done = document(NAME, relations=[t.name])["tables"][0]
        assert (done["state"], done["stale_files"], done["rows"]) == ("rewritten", 2, 7)
        assert found(t) == {"amount": 7, "n": 7, "s": 7}
        assert t.rows() == rows
        assert stored_types(spark, t.name, "amount") == {"optional int64 amount (DECIMAL(12,2))"}
        # The files that hold only another older type stay, and no reader of changes sees a change.
        assert len(files(t) & before) == 2
        assert t.operations(since=version) == ["Manual Update"]
        added, removed = actions(t, t.version)
        assert len(added) == len(removed) == 2
        assert {action["dataChange"] for action in (*added, *removed)} == {False}
        # The row that was deleted is not written again.
        assert not [action for action in added if action.get("deletionVector")]
        assert t.user_metadata("Manual Update")["changed_by"] == NAME

        version = t.version
        again = document(NAME, relations=[t.name])["tables"][0]
        assert (again["state"], again["stale_files"]) == ("nothing_to_do", 0)
        assert t.version == version

    def test_what_follows_a_commit_knows_the_tables_entry_in_the_catalog(
        self, project, spark, table, tmp_path
    ):
        # Delta's hooks need it: UniForm's Iceberg metadata, for example, is about this entry.
        spark.sql(f"create table {table('entry').name} using delta as select 1 as id")
        spark.sql(f"create table delta.`{tmp_path}/t` using delta as select 1 as id")
        named, of_path = (
            jvm_files.FilesByJvm(spark, name)._transactions.start().catalogTable()
            for name in (table("entry").name, f"delta.`{tmp_path}/t`")
        )
        assert named.get().identifier().table() == "entry"
        assert of_path.isEmpty()

    def test_tables_without_such_a_widening_are_not_read(self, project, spark, table):
        spark.sql(
            f"create table {table('other').name} using delta "
            "tblproperties ('delta.enableTypeWidening' = 'true') as select 1S as small, 'x' as a"
        )
        spark.sql(f"alter table {table('other').name} alter column small type int")
        spark.sql(f"create table {table('never').name} using delta as select 1 as id")
        output = operate(NAME, relations=[table("other").name, table("never").name])
        assert output.count("nothing to do") == 2
        assert "reading the types" not in output

    @pytest.mark.slow
    def test_a_rewrite_that_stops_between_two_commits_is_finished_by_the_next_call(
        self, project, spark, table, monkeypatch
    ):
        t = table("stopped")
        create(spark, t.name)
        rows, version = t.rows(), t.version
        monkeypatch.setattr(jvm_files, "_BATCH_FILES", 1)
        rewrite = jvm_files.FilesByJvm._rewrite
        calls = iter([rewrite, stop, rewrite])
        monkeypatch.setattr(
            jvm_files.FilesByJvm, "_rewrite", lambda files, batch: next(calls)(files, batch)
        )
        first = document(NAME, relations=[t.name])["tables"][0]
        assert "no disk" in first["error"]
        assert t.operations(since=version) == ["Manual Update"]
        assert t.rows() == rows
        second = document(NAME, relations=[t.name])["tables"][0]
        assert (second["state"], second["stale_files"]) == ("rewritten", 1)
        assert found(t) == {"amount": 8, "n": 8, "s": 8}
        assert t.rows() == rows

    @pytest.mark.slow
    def test_it_goes_on_beside_a_writer_that_changes_the_same_files(
        self, project, spark, table, monkeypatch
    ):
        t = table("busy")
        create(spark, t.name)
        rewrite = jvm_files.FilesByJvm._rewrite
        deletes = iter([f"delete from {t.name} where id = 0"])

        def beside(files, batch):
            # The rewrite has read its files when the other writer removes one of them.
            write = files._transactions.write_rows_of
            with monkeypatch.context() as patched:
                patched.setattr(
                    files._transactions,
                    "write_rows_of",
                    lambda *given: (write(*given), [spark.sql(each) for each in deletes])[0],
                )
                return rewrite(files, batch)

        monkeypatch.setattr(jvm_files.FilesByJvm, "_rewrite", beside)
        version = t.version
        done = document(NAME, relations=[t.name])["tables"][0]
        assert (done["state"], done["written_by_others"]) == ("rewritten", ["DELETE"])
        assert t.operations(since=version) == ["DELETE", "Manual Update"]
        assert found(t) == {"amount": 7, "n": 7, "s": 7}


@pytest.mark.slow
def test_a_call_that_dies_between_two_commits_is_finished_by_the_next_one(
    project, spark, table, tmp_path
):
    t, folder, work = table("killed"), tmp_path / "table", tmp_path / "work"
    work.mkdir()
    spark.sql(f"create schema if not exists {project.test_schema}")
    create(spark, t.name, f"partitioned by (p) location '{folder}'")
    rows, version = t.rows(), t.version
    death = after_commit(version + 1, files_in_a_commit=1)
    process = killed(folder, work, death, "run-operation", NAME, "--args", "{relations: [t]}")
    assert process.returncode == -signal.SIGKILL, process.stdout
    spark.sql(f"refresh table {t.name}")
    assert t.rows() == rows
    assert found(t) != {"amount": 8, "n": 8, "s": 8}
    done = document(NAME, relations=[t.name])["tables"][0]
    assert (done["state"], done["stale_files"]) == ("rewritten", 1)
    assert found(t) == {"amount": 8, "n": 8, "s": 8}
    assert t.rows() == rows
    assert t.operations(since=version) == ["Manual Update"] * 2


@pytest.mark.slow
class TestKindsOfTables:
    @pytest.mark.parametrize(
        ("name", "more", "listed"),
        [
            ("mapped", "partitioned by (p)", {"delta.columnMapping.mode": "name"}),
            ("clustered", "cluster by (id)", {}),
            ("tracked", "", {"delta.enableRowTracking": "true"}),
            ("feed", "", {"delta.enableChangeDataFeed": "true"}),
            ("v2", "partitioned by (p)", {"delta.checkpointPolicy": "v2"}),
        ],
    )
    def test_the_rows_stay_and_are_found(self, project, spark, table, name, more, listed):
        t = table(name)
        create(spark, t.name, more, **listed)
        rows, version = t.rows(), t.version
        ids = row_ids(t) if name == "tracked" else None
        assert found(t) != {"amount": 8, "n": 8, "s": 8}
        assert document(NAME, relations=[t.name])["tables"][0]["state"] == "rewritten"
        assert found(t) == {"amount": 8, "n": 8, "s": 8}
        assert t.rows() == rows
        if name == "tracked":
            assert row_ids(t) == ids
        else:
            assert t.operations(since=version) == ["Manual Update"]
        if name == "feed":
            changes = spark.sql(f"select * from table_changes('{t.name}', {version + 1})")
            assert changes.count() == 0
        if name == "clustered":
            spark.sql(f"optimize {t.name}")
            assert t.rows() == rows

    @pytest.mark.usefixtures("by_sql_alone")
    @pytest.mark.parametrize("more", ["", "partitioned by (p)"])
    def test_by_sql_alone(self, project, spark, table, more):
        t = table(f"by_sql_{len(more)}")
        create(spark, t.name, more)
        insert(spark, t.name, 8, 9)
        if more:
            spark.sql(f"update {t.name} set p = 'new' where id = 8")
        rows, version = t.rows(), t.version
        new = {row[0] for row in spark.sql(
            f"select _metadata.file_path from {t.name} where p = 'new'").collect()}  # fmt: skip
        done = document(NAME, relations=[t.name])["tables"][0]
        assert done["state"] == "rewritten"
        assert found(t) == {"amount": 9, "n": 9, "s": 9}
        assert t.rows() == rows
        assert t.operations(since=version) == ["UPDATE"]
        assert new <= files(t)
        again = document(NAME, relations=[t.name])["tables"][0]
        assert (again["state"], t.version) == ("nothing_to_do", version + 1)

    @pytest.mark.usefixtures("by_sql_alone")
    def test_columns_can_have_the_names_of_sparks_metadata(self, project, spark, table):
        t = table("metadata")
        create(spark, t.name)
        spark.sql(f"alter table {t.name} add columns (_metadata int, __Metadata int)")
        assert document(NAME, relations=[t.name])["tables"][0]["state"] == "rewritten"
        assert found(t) == {"amount": 8, "n": 8, "s": 8}


def row_ids(table: Table) -> list[tuple]:
    rows = table.spark.sql(f"select id, _metadata.row_id from {table.name} order by id")
    return [tuple(row) for row in rows.collect()]


def stop(*_: object) -> None:
    raise DbtRuntimeError("no disk")
