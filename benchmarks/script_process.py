"""Run statements with PySpark alone. ``workspace`` starts this as a process.

python -m benchmarks.script_process ORDER ANSWER
"""

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.child import read_results
from benchmarks.spark import end_spark


def main(order_file: str, answer_file: str) -> None:
    """Run the statements in the order file, and write the measurements to the answer file."""
    order = json.loads(Path(order_file).read_text())
    spark = SparkSession.builder.getOrCreate()
    for statement in order["statements"]:
        last = spark.sql(statement)
    if order["is_query"]:
        (row,) = last.collect()
        print(json.dumps(row.asDict(recursive=True)))
    finished = time.time()
    # The time of the following is not measured.
    answer = {"finished": finished, **read_results(order["tables"])}
    Path(answer_file).write_text(json.dumps(answer))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    finally:
        end_spark()
