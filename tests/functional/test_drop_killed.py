"""A drop that dies at any commit finishes in a second call and loses nothing."""

import shutil
import signal
from itertools import groupby
from pathlib import Path

import pytest

from tests.functional.killed import after_commit, killed
from tests.functional.parquet import stored_types
from tests.functional.support import Table
from tests.functional.test_drop_type_widening import COLLECTIONS, FIELDS, create, document, features

DROP = ("run-operation", "drop_type_widening", "--args", "{relations: [t]}")
COLUMNS = {"arr": COLLECTIONS["arr"], "keys": COLLECTIONS["keys"], "top": FIELDS["top"]}

# The operations of a drop, in the order of its commits: the property, the rewrite of the files, the
# recorded changes, and Delta's own commits.
STEPS = ["UNSET TBLPROPERTIES", "Manual Update", "DROP FEATURE", "Empty Commit", "DROP FEATURE"]


@pytest.mark.slow
class TestKilled:
    @pytest.fixture(scope="class")
    def original(self, project, spark, tmp_path_factory) -> tuple[Table, Path]:
        """A table with one file in which only a key is old, and one in which a column is, too."""
        table = Table(spark, f"{project.test_schema}.original")
        folder = tmp_path_factory.mktemp("original")
        spark.sql(f"create schema if not exists {project.test_schema}")
        create(spark, table.name, COLUMNS, f"location '{folder}'")
        spark.sql(f"alter table {table.name} alter column keys.key type bigint")
        return table, folder

    @pytest.fixture(scope="class")
    def versions(self, project, spark, original, tmp_path_factory) -> list[int]:
        """The versions that a drop makes: the first one of several with the same operation."""
        table, folder = original
        copied = Table(spark, f"{project.test_schema}.whole")
        location = tmp_path_factory.mktemp("whole")
        shutil.copytree(folder, location, dirs_exist_ok=True)
        spark.sql(f"create table {copied.name} using delta location '{location}'")
        document(relations=["whole"])
        commits = [commit for commit in copied.history if commit.version > table.version]
        steps = [next(group) for _, group in groupby(commits, lambda commit: commit.operation)]
        assert [step.operation for step in steps] == STEPS
        return [step.version for step in steps]

    @pytest.fixture(scope="class")
    def dead(self, project, spark, original, versions, tmp_path_factory) -> dict[int, Table]:
        """A copy of the table for each commit of a drop, after the process died at that commit."""
        tables = {}
        for version in versions:
            folder, work = tmp_path_factory.mktemp(f"at_{version}"), tmp_path_factory.mktemp("work")
            shutil.copytree(original[1], folder, dirs_exist_ok=True)
            process = killed(folder, work, after_commit(version), *DROP)
            assert process.returncode == -signal.SIGKILL, process.stdout
            tables[version] = Table(spark, f"{project.test_schema}.at_{version}")
            spark.sql(f"create table {tables[version].name} using delta location '{folder}'")
        return tables

    def test_a_second_call_finishes_and_loses_nothing(self, spark, original, dead):
        rows = original[0].rows()
        for table in dead.values():
            # The rows are the same before and after the second call.
            assert table.rows() == rows
        assert document(relations=[table.name for table in dead.values()])["failed"] == 0
        for table in dead.values():
            assert table.rows() == rows
            for column in COLUMNS:
                assert len(stored_types(spark, table.name, column)) == 1, (table.name, column)
            assert not features(table), table.name
            assert not document(relations=[table.name])["tables"][0]["stale_files"]
