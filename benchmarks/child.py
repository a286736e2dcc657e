"""One dbt command in a process of its own, with a watch on its statements; ``workspace`` starts it.

python -m benchmarks.child ORDER ANSWER
"""

import functools
import json
import pkgutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any


def main(order_file: str, answer_file: str) -> int:
    """Run dbt as the order says, and write down what was measured."""
    order = json.loads(Path(order_file).read_text())
    statements = watch_statements()
    calls = watch_calls(order["calls"]) if order["calls"] else {}

    from dbt.cli.main import dbtRunner

    result = dbtRunner().invoke(order["arguments"])
    finished = time.time()
    if not result.success:
        print(result.exception or "dbt has failed")
        return 1
    # What follows is not measured.
    measured = {"finished": finished, "statements": [*statements], "calls": calls}
    Path(answer_file).write_text(json.dumps({**measured, **look(order["tables"])}))
    return 0


def watch_statements() -> list[tuple[str, float]]:
    """Time every statement where it enters Spark, which runs a command before it returns.

    Both adapters' sessions run their statements there and fetch nothing of a write's answer.

    Returns:
        A list that grows: the text and the seconds of each statement that has ended.
    """
    from pyspark.sql import SparkSession

    ended: list[tuple[str, float]] = []
    run = SparkSession.sql

    @functools.wraps(run)
    def timed(session: SparkSession, sqlQuery: str, *arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return run(session, sqlQuery, *arguments, **options)
        finally:
            ended.append((sqlQuery, time.perf_counter() - start))

    SparkSession.sql = timed  # type: ignore[method-assign]
    return ended


def watch_calls(names: list[str]) -> dict[str, float]:
    """Time methods of classes.

    Args:
        names: where they are, as ``pkgutil.resolve_name`` reads it (``module:Class.method``).

    Returns:
        A dictionary that grows: by name, the seconds of all calls so far.
    """
    seconds: dict[str, float] = {}
    for name in names:
        owner, _, method = name.rpartition(".")
        of_class = pkgutil.resolve_name(owner)
        setattr(of_class, method, _timed(getattr(of_class, method), name, seconds))
    return seconds


def _timed(method: Callable[..., Any], name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    @functools.wraps(method)
    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return method(*arguments, **options)
        finally:
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start

    return timed


def look(tables: list[str]) -> dict[str, Any]:
    """Read what the run has left, and with which settings it ran, by the run's own session."""
    from pyspark.sql import SparkSession

    from benchmarks.spark import contents

    spark = SparkSession.builder.getOrCreate()
    return {
        "settings": {row.key: row.value for row in spark.sql("set").collect()},
        "contents": {each: asdict(contents(spark, each)) for each in tables},
    }


if __name__ == "__main__":
    from benchmarks.spark import end_spark

    try:
        code = main(*sys.argv[1:])
    finally:
        end_spark()
    sys.exit(code)
