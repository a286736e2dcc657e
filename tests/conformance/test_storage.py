"""``exactness`` against the engine: boundary values of every type, written and read back."""

from concurrent.futures import ThreadPoolExecutor

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, DayTimeIntervalType, YearMonthIntervalType

from dbt.adapters.deltawiden.widening.exactness import Storage, storage
from dbt.adapters.deltawiden.widening.types import parse_type
from tests.conformance.report import Conformance
from tests.conformance.types import BOUNDARIES, STORED, types_lacking

INTERVALS: dict[str, DataType] = {
    "interval day to second": DayTimeIntervalType(),
    "interval year to month": YearMonthIntervalType(),
}


# A checkpoint every ten commits, the default, would take most of the test's time.
NO_CHECKPOINTS = "tblproperties ('delta.checkpointInterval' = '10000')"


NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")

# Text that differs where values do. A time stamp's own text depends on the session's time zone.
SHOWN_AS = {"timestamp": "unix_micros({})", "binary": "hex({})", "variant": "to_json({})"}


def spark_type(text: str) -> DataType:
    return INTERVALS[text] if text in INTERVALS else parse_type(text)


def is_known_caution(source: str, column: str, found: Storage, expected: Storage) -> bool:
    """Whether the values come back by a cast, though what was stored is not the same value.

    0.1 as a double is not 0.1, and true is not 1. That a cast back gives the value again is no
    reason to store it so.
    """
    if (found, expected) != (Storage.EXACT, Storage.LOSSY):
        return False
    kinds = tuple(each.split("(")[0].split(" ")[0] for each in (source, column))
    return kinds in {
        ("decimal", "float"),
        ("decimal", "double"),
        ("string", "binary"),
        ("binary", "string"),
        *((number, "timestamp") for number in ("tinyint", "smallint", "int", "decimal")),
        *(("timestamp", number) for number in ("decimal", "double")),
        *(("boolean", number) for number in NUMBERS),
        *(("interval", number) for number in NUMBERS),
    }


def values_of(source: str) -> str:
    """Select a type's boundary values, each with its number."""
    return " union all ".join(
        f"select '{source}' as source, {number} as n, cast({value} as {source}) as v"
        for number, value in enumerate(BOUNDARIES[source])
    )


def observed(spark: SparkSession, table: str, source: str) -> Storage:
    """Write a type's boundary values to the table, and read them back as that type."""
    values = values_of(source)
    try:
        spark.sql(f"insert into {table} {values}")
    except AnalysisException:
        return Storage.IMPOSSIBLE
    except (PySparkException, Py4JJavaError):
        return Storage.LOSSY
    shown = SHOWN_AS.get(source, "string({})")
    back = "v" if source == "void" else f"cast(v as {source})"
    stored = spark.sql(
        f"select n, {shown.format(back)} from {table} where source = '{source}'"
    ).collect()
    written = spark.sql(f"select n, {shown.format('v')} from ({values})").collect()
    return Storage.EXACT if sorted(stored) == sorted(written) else Storage.LOSSY


def test_exactness_and_engine_agree_on_every_pair(
    spark: SparkSession, schema: str, conformance: Conformance
):
    lacking = types_lacking()
    columns = [each for each in STORED if each not in lacking]
    sources = [each for each in BOUNDARIES if each not in lacking]

    def stored_in(column: str) -> list[tuple[str, str, Storage]]:
        table = f"{schema}.storage_{columns.index(column)}"
        spark.sql(
            f"create table {table} (source string, n int, v {column}) using delta {NO_CHECKPOINTS}"
        )
        return [(source, column, observed(spark, table, source)) for source in sources]

    with ThreadPoolExecutor(2) as threads:
        seen = [each for found in threads.map(stored_in, columns) for each in found]
    disagreements = []
    for source, column, found in seen:
        expected = storage(spark_type(source), spark_type(column))
        if found is not expected and not is_known_caution(source, column, found, expected):
            disagreements.append(f"{source} in {column}: engine {found}, ours {expected}")
    conformance.stored, conformance.stored_disagreements = len(seen), disagreements
    assert disagreements == [], "\n".join(disagreements)
    assert {found for _, _, found in seen} == set(Storage)
