"""Runs a dbt command on the table in a folder, and dies at a moment of the command.

python killed.py TABLE_FOLDER PROJECT_FOLDER DEATH COMMAND...

DEATH is a ``Death`` as JSON. The table is ``killed.t``. The statements of models are printed at the
end.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

from dbt.adapters.deltawiden.connections import DeltaWidenConnectionManager
from dbt.adapters.deltawiden.delta.backends import jvm_files
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart
from tests.small import SMALL

SCHEMA = "killed"
STARTED = "started"
"""A file in the project's folder. It is written when the command starts."""


@dataclass(frozen=True)
class Death:
    """When the process dies. It does not if there is neither a pattern nor a statement.

    Attributes:
        pattern: a pattern for files in the table's folder.
        files: how many files match it then.
        seconds: for how long it still lives.
        statement: the statement of the model before which it dies, counted from 0.
        files_in_a_commit: how many files the adapter rewrites in one commit.
    """

    pattern: str = ""
    files: int = 1
    seconds: float = 0
    statement: int | None = None
    files_in_a_commit: int | None = None


def after_commit(version: int, seconds: float = 0, **options: Any) -> Death:
    return Death(f"_delta_log/{version:020d}.json", seconds=seconds, **options)


def killed(
    table: Path, project: Path, death: Death, *command: str
) -> subprocess.CompletedProcess[str]:
    """Run a dbt command, with another Spark, in a process that dies.

    Args:
        table: the table's folder.
        project: the project's folder. It gets what is missing.
    """
    words = map(str, (table, project, json.dumps(asdict(death)), *command))
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, __file__, *words],
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"},
    )


def die() -> None:
    # Spark's JVM dies too.
    os.killpg(0, signal.SIGKILL)


def die_in_folder(table: Path, death: Death) -> None:
    while sum(1 for _ in table.glob(death.pattern)) < death.files:
        time.sleep(0.001)
    time.sleep(death.seconds)
    die()


def watch_statements(last: int | None) -> list[str]:
    """Return a list that gets the statements of models. The process dies before one of them."""
    ran: list[str] = []
    add_query = DeltaWidenConnectionManager.add_query

    def counted(
        self: DeltaWidenConnectionManager, sql: str, *arguments: Any, **options: Any
    ) -> Any:
        if "model." in self.get_thread_connection().name:
            if len(ran) == last:
                die()
            ran.append(sql)
        return add_query(self, sql, *arguments, **options)

    DeltaWidenConnectionManager.add_query = counted  # type: ignore[method-assign]
    return ran


def main(table: Path, project: Path, death: Death, *command: str) -> None:
    parameters = {
        "spark.sql.warehouse.dir": str(project / "warehouse"),
        # Only the table outlives the process.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",
        **SMALL,
    }
    settings = project / "dbt_project.yml"
    if not settings.exists():
        settings.write_text("{name: killed, profile: killed}")
    target = {"type": "deltawiden", "schema": SCHEMA, "server_side_parameters": parameters}
    (project / "profiles.yml").write_text(json.dumps({"killed": {"outputs": {"default": target}}}))
    spark = get_session(SparkStart.read(parameters))
    spark.sql(f"create schema {SCHEMA}")
    spark.sql(f"create table {SCHEMA}.t using delta location '{table}'")
    if death.files_in_a_commit:
        jvm_files._BATCH_FILES = death.files_in_a_commit
    ran = watch_statements(death.statement)
    (project / STARTED).touch()
    watch = threading.Thread(target=die_in_folder, args=(table, death), daemon=True)
    if death.pattern:
        watch.start()
    folders = ["--project-dir", str(project), "--profiles-dir", str(project)]
    dbtRunner().invoke([*command, *folders])
    if death.pattern:
        watch.join()
    print(json.dumps(ran))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Death(**json.loads(sys.argv[3])), *sys.argv[4:])
