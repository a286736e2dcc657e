"""Runs the model of a folder's project, and dies before one of its statements.

python killed_run.py TABLE_FOLDER PROJECT_FOLDER STATEMENT

STATEMENT counts the statements of the model from 0. If there is no such statement, nothing dies and
all statements are printed.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

from dbt.adapters.deltawiden.connections import DeltaWidenConnectionManager
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

SCHEMA = "killed"


def die_before(statement: int) -> list[str]:
    """Make the process die before a statement, and return the list of the statements before it."""
    ran: list[str] = []
    add_query = DeltaWidenConnectionManager.add_query

    def counted(
        self: DeltaWidenConnectionManager, sql: str, *arguments: Any, **options: Any
    ) -> Any:
        if "model." in self.get_thread_connection().name:
            if len(ran) == statement:
                # Spark's JVM dies too.
                os.killpg(0, signal.SIGKILL)
            ran.append(sql)
        return add_query(self, sql, *arguments, **options)

    DeltaWidenConnectionManager.add_query = counted  # type: ignore[method-assign]
    return ran


def main(table: str, project: Path, statement: int) -> None:
    parameters = {
        "spark.sql.warehouse.dir": str(project / "warehouse"),
        # Only the table outlives the process.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",
    }
    target = {"type": "deltawiden", "schema": SCHEMA, "server_side_parameters": parameters}
    (project / "profiles.yml").write_text(json.dumps({"killed": {"outputs": {"default": target}}}))
    spark = get_session(SparkStart.read(parameters))
    spark.sql(f"create schema {SCHEMA}")
    spark.sql(f"create table {SCHEMA}.t using delta location '{table}'")
    ran = die_before(statement)
    folders = ["--project-dir", str(project), "--profiles-dir", str(project)]
    dbtRunner().invoke(["run", "--quiet", *folders])
    print(json.dumps(ran))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
