"""A drop that dies at any commit, and is then called again, has finished and lost nothing."""

import os
import shutil
import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from tests.functional.parquet import stored_types
from tests.functional.support import Table
from tests.functional.test_drop_type_widening import COLLECTIONS, FIELDS, create, document, features

SCRIPT = Path(__file__).with_name("killed.py")
COLUMNS = {"arr": COLLECTIONS["arr"], "keys": COLLECTIONS["keys"], "top": FIELDS["top"]}


@pytest.mark.slow
class TestKilled:
    @pytest.fixture(scope="class")
    def original(self, project, spark, tmp_path_factory) -> tuple[Table, Path]:
        """A table of which our rewrite has a file to do, and Delta's own another."""
        table = Table(spark, f"{project.test_schema}.original")
        folder = tmp_path_factory.mktemp("original")
        spark.sql(f"create schema if not exists {project.test_schema}")
        create(spark, table.name, COLUMNS, f"location '{folder}'")
        spark.sql(f"alter table {table.name} alter column keys.key type bigint")
        return table, folder

    @pytest.fixture(scope="class")
    def versions(self, project, spark, original, tmp_path_factory) -> list[int]:
        """The versions that a drop makes; of several with one operation in a row the first."""
        table, folder = original
        copied = Table(spark, f"{project.test_schema}.whole")
        location = tmp_path_factory.mktemp("whole")
        shutil.copytree(folder, location, dirs_exist_ok=True)
        spark.sql(f"create table {copied.name} using delta location '{location}'")
        document(relations=["whole"])
        commits = [commit for commit in copied.history if commit.version > table.version]
        made = [
            next(group).version for _, group in groupby(commits, lambda commit: commit.operation)
        ]
        assert len(made) >= 6, commits
        return made

    @pytest.fixture(scope="class")
    def killed(self, project, spark, original, versions, tmp_path_factory) -> dict[int, Table]:
        """A copy of the table for each commit of a drop, as the death at it has left it."""
        tables = {}
        for version in versions:
            folder, work = tmp_path_factory.mktemp(f"at_{version}"), tmp_path_factory.mktemp("work")
            shutil.copytree(original[1], folder, dirs_exist_ok=True)
            commit = folder / "_delta_log" / f"{version:020d}.json"
            process = subprocess.run(
                [sys.executable, SCRIPT, folder, work, commit],
                start_new_session=True,
                capture_output=True,
                check=False,
                env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"},
            )
            assert process.returncode == -signal.SIGKILL, process.stdout.decode()
            tables[version] = Table(spark, f"{project.test_schema}.at_{version}")
            spark.sql(f"create table {tables[version].name} using delta location '{folder}'")
        return tables

    def test_called_again_it_finishes_and_nothing_is_lost(self, spark, original, killed):
        rows = original[0].rows()
        for table in killed.values():
            # Whatever has been done, the rows are there, before and after.
            assert table.rows() == rows
        assert document(relations=[table.name for table in killed.values()])["failed"] == 0
        for table in killed.values():
            assert table.rows() == rows
            for column in COLUMNS:
                assert len(stored_types(spark, table.name, column)) == 1, (table.name, column)
            assert not features(table), table.name
            assert not document(relations=[table.name])["tables"][0]["stale_files"]
