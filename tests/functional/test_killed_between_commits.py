"""A command that dies at any moment: the same command again ends as if nothing had happened."""

import json
import random
import shutil
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt_and_capture
from pyspark.sql import SparkSession

from tests.functional.killed import STARTED, Death, after_commit, killed
from tests.functional.support import Table, needs_delta_4

ROUNDS = 20
DATA_FILES = "*.parquet"


@dataclass(frozen=True)
class Case:
    """A command that changes a table in several commits.

    Attributes:
        table: the columns of the table.
        rows: queries for its rows. Each one is a file.
        properties: the table's properties.
        operation: the operation, or None for a run.
        arguments: of the operation.
        commits: the operations in the table's history that the command makes.
    """

    model: str
    table: str
    rows: Sequence[str]
    commits: Sequence[str]
    properties: str = ""
    operation: str | None = None
    arguments: Sequence[tuple[str, Any]] = ()

    def command(self, models: Sequence[str]) -> list[str]:
        if self.operation is None:
            return ["run", "--select", *models]
        arguments = {"models": list(models), **dict(self.arguments)}
        return ["run-operation", self.operation, "--args", json.dumps(arguments)]

    def make(self, spark: SparkSession, name: str, folder: Path) -> None:
        spark.sql(
            f"create table {name} ({self.table}) using delta location '{folder}' {self.properties}"
        )
        for query in self.rows:
            spark.sql(f"insert into {name} {query}")


CASES = {
    "run": Case(
        """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', type_widening=true, backfill_new_columns=true,
          renamed_columns={'amount': 'amt', 'address.zip': 'postcode'}) }}
select id, cast(id as bigint) * 1000000000 as amount, named_struct('zip', 'z' || id) as address,
  'v' || id as note
from range(1, 7) {% if is_incremental() %} where id > 3 {% endif %}
""",
        "id bigint, amt int, address struct<postcode: string>",
        [
            "select 0L, 0, named_struct('postcode', 'old')",
            "select id, id, named_struct('postcode', 'old') from range(1, 3, 1, 1)",
            "select id, id, named_struct('postcode', 'old') from range(3, 5, 1, 1)",
        ],
        [
            *("SET TBLPROPERTIES", "RENAME COLUMN", "RENAME COLUMN", "CHANGE COLUMN"),
            *("ADD COLUMNS", "MERGE", "MERGE", "UNSET TBLPROPERTIES", "Manual Update"),
        ],
        properties="tblproperties ('delta.columnMapping.mode' = 'name')",
    ),
    # Digits were lost in two columns. Row 2 also differs for another reason. The rows of the other
    # files have lost nothing, and no filter misreads a decimal whose scale has grown.
    "restore": Case(
        """
{{ config(materialized='incremental', unique_key='id', type_widening=true) }}
select id, cast(if(id = 0, 0, id + 0.25) as decimal(7,3)) as n,
  cast(if(id = 0, 0, id + 0.2367) as decimal(10,4)) as d, 'now' as note
from range(8)
""",
        "id bigint, n decimal(5,1), d decimal(8,2), note string",
        [
            "select id, id + 0.3, id + 0.24, if(id = 2, 'then', 'now') from range(2, 8, 1, 1)",
            "select 0L, 0, 0, 'now'",
            "select 9L, 1, 1.5, 'then'",
        ],
        ["SET TBLPROPERTIES", "CHANGE COLUMNS", "MERGE"],
        operation="restore_values",
    ),
    "backfill": Case(
        """
{{ config(materialized='incremental', unique_key='id') }}
select id, id * 2 as score, 'v' || id as note from range(8)
""",
        "id bigint, score bigint, note string",
        [
            "select id, null, 'old' from range(0, 4, 1, 1)",
            "select id, 1, 'old' from range(4, 8, 1, 1)",
            "select 9L, 9L, 'old'",
        ],
        ["MERGE"],
        operation="backfill_columns",
        arguments=[("columns", ["score"])],
    ),
}


def moments(version: int, original: Path, whole: Path, project: Path) -> list[Death]:
    """Return when commands die: after each commit, while each file is written, at random.

    Args:
        version: the version of the table in the folder ``original``.
        whole: the table's folder after a command that has not died.
        project: the folder of the project of this command.
    """
    commits = sorted((whole / "_delta_log").glob("*.json"))[version + 1 :]
    times = [path.stat().st_mtime for path in (project / STARTED, *commits)]
    waits = [after - before for before, after in pairwise(times)]
    before, after = (len([*folder.glob(DATA_FILES)]) for folder in (original, whole))
    found = [after_commit(version + number) for number in range(len(commits) + 1)]
    found += [Death(DATA_FILES, number) for number in range(before + 1, after + 1)]
    while len(found) < ROUNDS:
        number = random.randrange(len(waits))
        found.append(after_commit(version + number, waits[number] * random.uniform(0, 1.5)))
    return found


def die(case: Case, original: Path, folder: Path, death: Death) -> Path:
    """Run the command on a copy of a table until it dies. Return the copy."""
    table, project = folder / "table", folder / "project"
    shutil.copytree(original, table)
    (project / "models").mkdir(parents=True)
    (project / "models" / "t.sql").write_text(case.model)
    process = killed(table, project, death, *case.command(["t"]))
    expected = -signal.SIGKILL if death.pattern else 0
    assert process.returncode == expected, process.stdout + process.stderr
    return table


def state(table: Table) -> dict[str, Any]:
    return {"rows": table.rows(), "types": table.types, "properties": table.properties}


@pytest.mark.slow
@needs_delta_4
@pytest.mark.parametrize("name", CASES)
class TestKilled:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}_{k}.sql": CASES[name].model for name in CASES for k in range(ROUNDS)}

    def test_the_same_command_again_ends_as_one_that_has_not_died(
        self, project, spark: SparkSession, table, tmp_path: Path, name: str
    ):
        case, first = CASES[name], table(f"{name}_original")
        spark.sql(f"create schema if not exists {project.test_schema}")
        case.make(spark, first.name, tmp_path / "original")
        version = first.version
        run = partial(die, case, tmp_path / "original")
        whole = table(f"{name}_whole")
        location = run(tmp_path / "whole", Death())
        spark.sql(f"create table {whole.name} using delta location '{location}'")
        assert whole.operations(since=version) == [*case.commits]

        project_folder = tmp_path / "whole" / "project"
        deaths = moments(version, tmp_path / "original", location, project_folder)
        folders = [tmp_path / str(k) for k in range(len(deaths))]
        with ThreadPoolExecutor(2) as threads:
            locations = [*threads.map(run, folders, deaths)]
        dead = [table(f"{name}_{k}") for k in range(len(deaths))]
        for each, location in zip(dead, locations, strict=True):
            spark.sql(f"create table {each.name} using delta location '{location}'")
            # The steps are done as a whole, or not at all.
            then = f"select * from {whole.name} version as of {each.version}"
            assert each.operations(since=version) == [*case.commits[: each.version - version]]
            assert spark.table(each.name).schema == spark.sql(then).schema
            assert each.rows() == sorted(map(tuple, spark.sql(then).collect()), key=repr)
        # A process can be past a commit before it dies, so one or another version may be missing.
        versions = {each.version for each in dead}
        assert {version, whole.version} <= versions
        assert len(versions) > len(case.commits) / 2

        names = [each.name.partition(".")[2] for each in dead]
        results, printed = run_dbt_and_capture(case.command(names), expect_pass=None)
        assert {str(result.status) for result in results} == {"success"}, printed
        expected = state(whole)
        for each, death in zip(dead, deaths, strict=True):
            assert state(each) == expected, death
