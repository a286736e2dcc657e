"""Measure how long it takes to plan a very wide schema, compared with the planned ALTER."""

import itertools
import time

import agate
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import apart_in_work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from dbt.adapters.deltawiden.config.policy import OnSchemaChange, Policy
from dbt.adapters.deltawiden.delta.engine import read_engine
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart
from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.widening.planner import plan_changes
from dbt.adapters.deltawiden.widening.schema_diff import compare

FIELDS, FIELDS_QUICK = 100, 10
"""The number of structs in a table, and of fields in each struct."""
WIDENED = (1, 100)
POLICY = Policy(OnSchemaChange.APPEND_NEW_COLUMNS, type_widening=True)
METHOD = f"""\
The table has {FIELDS} structs with {FIELDS} `int` fields each. In the model's output, the first
field is a `bigint`, or the first {WIDENED[-1]} fields are. The time of the plan includes the
comparison of the two schemas, the decision and the text of the statement. It does not include
reading the schemas and what else the plan needs to know of the table. The time of the ALTER is the
time in which Delta runs that statement. Each round creates a new table and checks its types
afterwards."""


def schema(fields: int, widened: int) -> StructType:
    """Return a schema whose first leaves have a wider type.

    Args:
        fields: the number of structs, and of fields in each struct.
        widened: the number of leaves with the wider type.
    """
    types = itertools.chain(itertools.repeat(LongType(), widened), itertools.repeat(IntegerType()))
    structs = (
        StructType([StructField(f"f{number}", next(types)) for number in range(fields)])
        for _ in range(fields)
    )
    return StructType([StructField(f"s{number}", struct) for number, struct in enumerate(structs)])


class Wide:
    """Creates and widens tables with a wide schema.

    Args:
        spark: the session.
        fields: the number of structs, and of fields in each struct.
        widened: the number of leaves that are widened.
    """

    def __init__(self, spark: SparkSession, fields: int, widened: int) -> None:
        self._spark = spark
        self._table, self._source = schema(fields, 0), schema(fields, widened)
        self._names = (f"planning.t_{widened}_{number}" for number in itertools.count())

    def run(self) -> Measures:
        """Plan and run the ALTER once, on a new table.

        Returns:
            The seconds of the plan and of the ALTER.

        Raises:
            WrongResult: the table does not have the types of the model's output afterwards.
        """
        name = next(self._names)
        snapshot = self._make(name)
        # Read once, before the plan.
        _ = snapshot.all_properties, snapshot.partition_columns
        start = time.perf_counter()
        difference = compare(self._source, self._table)
        plan = plan_changes(difference, self._source, POLICY, snapshot, check=None)
        (statement,) = plan.statements
        planned = time.perf_counter()
        self._spark.sql(statement)
        altered = time.perf_counter()
        check(f"the schema of {name}", self._spark.table(name).schema, self._source)
        self._spark.sql(f"drop table {name}")
        return {"plan": planned - start, "alter": altered - planned}

    def _make(self, name: str) -> TableSnapshot:
        columns = ", ".join(f"{column.name} {type_sql(column.dataType)}" for column in self._table)
        self._spark.sql(
            f"create table {name} ({columns}) using delta "
            "tblproperties ('delta.enableTypeWidening' = 'true')"
        )

        def fetch_rows(query: str) -> list[agate.Row]:
            """Run a query, and return its rows as dbt does."""
            rows = self._spark.sql(query).collect()
            return [agate.Row(tuple(row), row.__fields__) for row in rows]

        engine = read_engine(fetch_rows)
        return TableSnapshot(name, lambda: engine, fetch_rows, schema=self._table)


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The plan, compared with its ALTER, for each number of widened leaves.

    Raises:
        WrongResult: a table has wrong types.
    """
    return apart_in_work_folder(compared, quick)


def compared(quick: bool) -> list[Comparison]:
    """Run the benchmark in a process that may start Spark."""
    spark = get_session(SparkStart.read({}))
    spark.sql("create schema planning")
    fields = FIELDS_QUICK if quick else FIELDS
    programs = {
        f"{fields**2:,} leaves, {widened} widened": Wide(spark, fields, widened).run
        for widened in WIDENED
    }
    return [
        Comparison(
            name, Sample("plan", taken["plan"]), Sample("its ALTER", taken["alter"]), aim=0.05
        )
        for name, taken in in_turns(programs, Rounds.of(quick)).items()
    ]


BENCHMARK = Benchmark("planning", METHOD, measure)
