"""Runs an operation on the table in a folder, and dies as soon as a given commit is there.

python killed.py OPERATION TABLE_FOLDER WORK_FOLDER COMMIT_FILE [FILES_IN_A_COMMIT]
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from dbt.cli.main import dbtRunner

from dbt.adapters.deltawiden.delta.backends import jvm_files
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart


def die_at(file: Path) -> None:
    while not file.exists():
        time.sleep(0.001)
    # Spark's JVM dies too.
    os.killpg(0, signal.SIGKILL)


def main(operation: str, table: str, work: Path, commit: Path) -> None:
    parameters = {
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        # Only the table outlives the process.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",
    }
    (work / "dbt_project.yml").write_text("{name: killed, profile: killed}")
    target = {"type": "deltawiden", "schema": "killed", "server_side_parameters": parameters}
    (work / "profiles.yml").write_text(json.dumps({"killed": {"outputs": {"default": target}}}))
    spark = get_session(SparkStart.read(parameters))
    spark.sql("create schema killed")
    spark.sql(f"create table killed.t using delta location '{table}'")
    threading.Thread(target=die_at, args=(commit,), daemon=True).start()
    folders = ["--project-dir", str(work), "--profiles-dir", str(work)]
    dbtRunner().invoke(["run-operation", operation, "--args", "{relations: [t]}", *folders])


if __name__ == "__main__":
    jvm_files._BATCH_FILES = int(sys.argv[5]) if sys.argv[5:] else jvm_files._BATCH_FILES
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
