"""What planning a very wide schema costs, against the one ALTER that the plan leads to.

python -m benchmarks.planning
"""

import statistics
import tempfile
import time
from collections.abc import Callable

from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from benchmarks.project import spark_parameters
from dbt.adapters.deltawiden.session import get_session
from dbt.adapters.deltawiden.table_facts import read_engine, read_facts
from dbt.adapters.deltawiden.widening.diff import compare
from dbt.adapters.deltawiden.widening.plan import Plan, plan_changes
from dbt.adapters.deltawiden.widening.policy import OnSchemaChange, Policy
from dbt.adapters.deltawiden.widening.types import type_sql

STRUCTS, FIELDS = 100, 100
LEAVES = STRUCTS * FIELDS
ROUNDS = 5
POLICY = Policy(OnSchemaChange.APPEND_NEW_COLUMNS, type_widening=True)


def schema(widened: int) -> StructType:
    """A schema of 10,000 leaves, the first of which are wider."""
    leaves = [LongType() if number < widened else IntegerType() for number in range(LEAVES)]
    return StructType(
        [
            StructField(
                f"s{s}",
                StructType([StructField(f"f{f}", leaves[s * FIELDS + f]) for f in range(FIELDS)]),
            )
            for s in range(STRUCTS)
        ]
    )


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def one_round(spark: SparkSession, widened: int, number: int) -> tuple[float, float]:
    """Time a plan and its ALTER on a table of its own."""
    table, source = schema(0), schema(widened)
    name = f"planning.t_{widened}_{number}"
    columns = ", ".join(f"{each.name} {type_sql(each.dataType)}" for each in table)
    spark.sql(
        f"create table {name} ({columns}) using delta "
        "tblproperties ('delta.enableTypeWidening' = 'true')"
    )

    def ask(query: str) -> list:
        return spark.sql(query).collect()

    facts = read_facts(name, read_engine(ask), ask)
    plans: list[Plan] = []

    def plan() -> None:
        made = plan_changes(compare(source, table), source, table, POLICY, facts)
        plans.append(made)
        assert len(made.statements) == 1

    return seconds(plan), seconds(lambda: spark.sql(plans[0].statements[0]))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        spark = get_session(spark_parameters(folder))
        spark.sql("create schema planning")
        print(f"| {LEAVES} leaves, of which widen | plan | its ALTER | ratio |")
        print("|---|---|---|---|")
        for widened in (1, 100):
            times = [one_round(spark, widened, number) for number in range(ROUNDS)]
            plan, alter = (statistics.median(each) for each in zip(*times, strict=True))
            print(f"| {widened} | {plan:.3f} s | {alter:.3f} s | {plan / alter:.3f} |")
        spark.stop()


if __name__ == "__main__":
    main()
