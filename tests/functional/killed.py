"""Drops type widening from the table in a folder, and dies as soon as a given commit is there.

python killed.py TABLE_FOLDER WORK_FOLDER COMMIT_FILE
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from dbt.cli.main import dbtRunner

from dbt.adapters.deltawiden.spark.session import get_session


def die_at(file: Path) -> None:
    while not file.exists():
        time.sleep(0.001)
    # Spark's JVM dies too.
    os.killpg(0, signal.SIGKILL)


def main(table: str, work: Path, commit: Path) -> None:
    parameters = {
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        # Only the table outlives the process.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",
    }
    (work / "dbt_project.yml").write_text("{name: killed, profile: killed}")
    target = {"type": "deltawiden", "schema": "killed", "server_side_parameters": parameters}
    (work / "profiles.yml").write_text(json.dumps({"killed": {"outputs": {"default": target}}}))
    spark = get_session(parameters)
    spark.sql("create schema killed")
    spark.sql(f"create table killed.t using delta location '{table}'")
    threading.Thread(target=die_at, args=(commit,), daemon=True).start()
    folders = ["--project-dir", str(work), "--profiles-dir", str(work)]
    dbtRunner().invoke(
        ["run-operation", "drop_type_widening", "--args", "{relations: [t]}", *folders]
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
