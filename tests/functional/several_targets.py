"""Runs dbt for several targets in one process, as a notebook or a scheduler does."""

import json
import sys
from typing import Any

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.embedded import start_spark
from dbt.adapters.deltawiden.spark.start import SparkStart

ANSI, TIME_ZONE = "spark.sql.ansi.enabled", "spark.sql.session.timeZone"
OVERWRITE = "spark.sql.sources.partitionOverwriteMode"


def run(target: str) -> dict[str, Any]:
    """Run the project for a target. Return its error or None, and the rows of the model."""
    done = dbtRunner().invoke(["run", "--target", target])
    failed = [
        str(result.message) for result in getattr(done.result, "results", []) if result.message
    ]
    error = None if done.success else str(done.exception or "\n".join(failed))
    return {"error": error, "zone": None if error else session().table(f"{target}.zone").head()[0]}


def session() -> SparkSession:
    """Return the session of the process."""
    return SparkSession.builder.getOrCreate()


def own(targets: list[str]) -> list[dict[str, Any]]:
    """Run the targets in a session that dbt starts."""
    return [run(target) for target in targets]


def foreign(targets: list[str]) -> list[dict[str, Any]]:
    """Run the targets in a session with Delta that exists before dbt runs."""
    start_spark(SparkStart.read({TIME_ZONE: "UTC", ANSI: "true", "spark.ui.port": "4567"}))
    spark = session()
    spark.sql("select 1 as n").createOrReplaceTempView("of_the_notebook")
    done = []
    for target in targets:
        result = run(target)
        result["after"] = [spark.conf.get(key) for key in (TIME_ZONE, ANSI, OVERWRITE)]
        done.append(result)
    return done


def without_delta(targets: list[str]) -> list[dict[str, Any]]:
    """Run the targets in a session with PySpark's defaults."""
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    return [run(target) for target in targets]


if __name__ == "__main__":
    scenario, *targets = sys.argv[1:]
    results = {"own": own, "foreign": foreign, "without_delta": without_delta}[scenario](targets)
    print("RESULTS" + json.dumps(results))
