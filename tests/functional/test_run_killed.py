"""A run that dies before any statement and runs again has the result of one run."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.functional.killed import Death, killed
from tests.functional.support import Table, dbt

# New columns, widened columns at two depths, and the property. No row is written twice.
MODEL = """
{{ config(materialized='incremental', incremental_strategy=STRATEGY, unique_key='id',
          on_schema_change='append_new_columns', type_widening=true,
          tblproperties={'delta.logRetentionDuration': 'interval 60 days'}) }}
select id, cast(n as bigint) * 100000 as n, named_struct('x', cast(n as bigint), 'y', 'new') as s,
  'new' as c
from values (1, 1), (2, 2), (3, 3) as v(id, n)
{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}
"""
STRATEGIES = ("append", "merge")


def state(table: Table) -> dict[str, object]:
    properties = {k: v for k, v in table.properties.items() if k.startswith("delta.")}
    return {"rows": table.rows(), "types": table.types, "properties": properties}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
class TestKilledRun:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{strategy}_{k}.sql": MODEL.replace("STRATEGY", repr(strategy))
            for strategy in STRATEGIES
            for k in range(30)
        }

    def test_the_same_table(self, project, spark: SparkSession, strategy, tmp_path: Path):
        original = tmp_path / "original"
        spark.sql(
            f"create table {project.test_schema}.original_{strategy} using delta "
            f"location '{original}' as select 1 as id, 1S as n, named_struct('x', 1) as s"
        )
        whole = self._killed(original, tmp_path, strategy, 1000)
        assert whole.returncode == 0, whole.stdout
        statements = json.loads(whole.stdout.splitlines()[-1])
        assert len(statements) >= 5, statements
        assert any("alter column" in statement for statement in statements)

        for k in range(len(statements)):
            dead = self._killed(original, tmp_path, strategy, k)
            assert dead.returncode == -signal.SIGKILL, dead.stdout + dead.stderr
        names = {k: f"{strategy}_{k}" for k in (*range(len(statements)), 1000)}
        for k, name in names.items():
            spark.sql(
                f"create table {project.test_schema}.{name} using delta "
                f"location '{tmp_path / str(k)}'"
            )
        expected = state(Table(spark, f"{project.test_schema}.{names.pop(1000)}"))
        assert [row[0] for row in expected["rows"]] == [1, 2, 3]
        again = dbt("run", "--select", *names.values())
        for k, name in names.items():
            assert again.status(name) == "success", again.output
            table = Table(spark, f"{project.test_schema}.{name}")
            assert state(table) == expected, f"killed before {statements[k]}"

    def _killed(
        self, original: Path, folder: Path, strategy: str, statement: int
    ) -> subprocess.CompletedProcess[str]:
        table, project = folder / str(statement), folder / f"project_{statement}"
        shutil.copytree(original, table)
        (project / "models").mkdir(parents=True)
        (project / "models" / "t.sql").write_text(MODEL.replace("STRATEGY", repr(strategy)))
        return killed(table, project, Death(statement=statement), "run", "--quiet")
