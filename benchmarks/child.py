"""Run one dbt command, and measure its statements. ``workspace`` starts this as a process.

python -m benchmarks.child ORDER ANSWER
"""

import functools
import json
import pkgutil
import re
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any


def main(order_file: str, answer_file: str) -> int:
    """Run the dbt command in the order file, and write the measurements to the answer file."""
    order = json.loads(Path(order_file).read_text())
    statements = watch_statements()
    calls = watch_calls(order["calls"]) if order["calls"] else {}

    from dbt.cli.main import dbtRunner

    if order["before"] and not dbtRunner().invoke(order["before"]).success:
        print("the command before the measured one failed")
        return 1
    result = dbtRunner().invoke(order["arguments"])
    finished = time.time()
    if not result.success:
        print(result.exception or "dbt failed")
        return 1
    # The time of the following is not measured.
    measured = {"finished": finished, "statements": [*statements], "calls": calls}
    Path(answer_file).write_text(json.dumps({**measured, **read_results(order["tables"])}))
    return 0


def watch_statements() -> list[tuple[str, float]]:
    """Measure every call of ``SparkSession.sql``, which runs a command before it returns.

    The sessions of both adapters run their statements with it, and fetch no rows after a write.

    Returns:
        The text and the seconds of each statement. The list grows when a statement has ended.
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
    """Measure the calls of methods and functions.

    Args:
        names: in the formats of ``pkgutil.resolve_name`` with a point before the last name
            (``module:Class.method``, ``module.function``).

    Returns:
        The seconds of all calls so far, by name. The dictionary grows when a call has ended.
    """
    seconds: dict[str, float] = {}
    for name in names:
        owner, _, called = name.rpartition(".")
        of = pkgutil.resolve_name(owner)
        setattr(of, called, _timed(getattr(of, called), name, seconds))
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


def read_results(tables: list[str]) -> dict[str, Any]:
    """Read memory, options, settings and the contents of tables after a run, with its session."""
    from pyspark.sql import SparkSession

    from benchmarks.spark import contents

    spark = SparkSession.builder.getOrCreate()
    java: Any = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
    return {
        # The following statements need memory, too.
        "peak_memory": peak_memory("self", java.getPid()),
        "java_options": [*java.getInputArguments()],
        "settings": {row.key: row.value for row in spark.sql("set").collect()},
        "contents": {table: asdict(contents(spark, table)) for table in tables},
    }


def peak_memory(*processes: str | int) -> int:
    """Return the sum of the peak resident sizes of processes so far, in bytes.

    It is 0 where the system has no such file for a process: only Linux has it.

    Source:
        proc_pid_status(5), ``VmHWM``: the peak resident set size, in kB of 1,024 bytes
    """
    files = [Path(f"/proc/{process}/status") for process in processes]
    peaks = [re.search(r"VmHWM:\s*(\d+) kB", file.read_text()) for file in files if file.exists()]
    return sum(int(found[1]) * 1024 for found in peaks if found)


if __name__ == "__main__":
    from benchmarks.spark import end_spark

    try:
        code = main(*sys.argv[1:])
    finally:
        end_spark()
    sys.exit(code)
