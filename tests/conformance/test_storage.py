"""``store_assignment`` compared with the engine: boundary values of every type are read back."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, DayTimeIntervalType, YearMonthIntervalType

from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment
from tests.conformance.report import Conformance
from tests.conformance.types import BOUNDARIES, STORED, types_lacking

INTERVALS: dict[str, DataType] = {
    "interval day to second": DayTimeIntervalType(),
    "interval year to month": YearMonthIntervalType(),
}


# A checkpoint every ten commits, the default, would take most of the test's time.
NO_CHECKPOINTS = "tblproperties ('delta.checkpointInterval' = '10000')"


# Values at the ends of a type's range, most of which Python does not have.
EXTREMES = {
    "date": (
        "date'-5877641-06-23'",
        "date'0000-02-29'",
        "date'1582-10-10'",
        "date'+5881580-07-11'",
    ),
    "timestamp": (
        "timestamp_micros(-9223372036854775808)",
        "timestamp_micros(-62135596800000001)",
        "timestamp_micros(9223372036854775807)",
    ),
    "timestamp_ntz": (
        "timestamp_ntz'-290308-12-21 19:59:05.224192'",
        "timestamp_ntz'-0001-12-31 23:59:59.999999'",
        "timestamp_ntz'1582-10-10 00:00:00'",
        "timestamp_ntz'+294247-01-10 04:00:54.775807'",
    ),
    "double": ("'-0.0'", "'2.2250738585072014e-308'", "'-1.7976931348623157e308'"),
    "decimal(38,0)": ("-99999999999999999999999999999999999999",),
    "decimal(38,38)": ("-0.99999999999999999999999999999999999999",),
    "string": ("'+5881580-07-11'", "cast(X'00' as string)"),
}

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")

# Texts that differ if the values differ. A timestamp's text depends on the session's time zone.
SHOWN_AS = {"timestamp": "unix_micros({})", "binary": "hex({})", "variant": "to_json({})"}


def spark_type(text: str) -> DataType:
    return INTERVALS[text] if text in INTERVALS else parse_type(text)


def is_known_caution(
    source: str, column: str, found: StoreAssignment, expected: StoreAssignment
) -> bool:
    """Return whether a cast restores the values although the stored value is another one.

    0.1 as a double is not 0.1, and true is not 1. The assignment is not exact although a cast back
    returns the value.
    """
    if (found, expected) != (StoreAssignment.EXACT, StoreAssignment.LOSSY):
        return False
    kinds = tuple(sql_type.split("(")[0].split(" ")[0] for sql_type in (source, column))
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
    """Select a type's boundary values, each with its number; in one task, which writes one file."""
    rows = " union all ".join(
        f"select '{source}' as source, {number} as n, cast({value} as {source}) as v"
        for number, value in enumerate((*BOUNDARIES[source], *EXTREMES.get(source, ())))
    )
    return f"select /*+ coalesce(1) */ * from ({rows})"


def shown(source: str, value: str) -> str:
    return f"string({SHOWN_AS.get(source, '{}').format(value)})"


def values_by_number(spark: SparkSession, source: str) -> dict[int, str | None]:
    rows = spark.sql(f"select n, {shown(source, 'v')} from ({values_of(source)})").collect()
    return {row[0]: row[1] for row in rows}


def write(spark: SparkSession, table: str, source: str) -> StoreAssignment:
    """Write a type's boundary values to the table. The result is exact if nothing was refused."""
    try:
        spark.sql(f"insert into {table} {values_of(source)}")
    except AnalysisException:
        return StoreAssignment.IMPOSSIBLE
    except (PySparkException, Py4JJavaError):
        return StoreAssignment.LOSSY
    return StoreAssignment.EXACT


def read_back(
    spark: SparkSession, table: str, sources: list[str]
) -> dict[str, dict[int, str | None]]:
    """Read the values that were written to the table, each as the type that it had."""
    back = {name: "v" if name == "void" else f"cast(v as {name})" for name in sources}
    cases = " ".join(f"when '{name}' then {shown(name, back[name])}" for name in sources)
    found: dict[str, dict[int, str | None]] = {name: {} for name in sources}
    query = f"select source, n, case source {cases} end from {table}"
    try:
        rows = spark.sql(query).collect()
    except (PySparkException, Py4JJavaError):
        # A value was stored as one that is not in the range of its own type.
        if len(sources) == 1:
            return found
        each = (
            read_back(spark, f"(select * from {table} where source = '{s}')", [s]) for s in sources
        )
        return {source: values for one in each for source, values in one.items()}
    for source, n, value in rows:
        found[source][n] = value
    return found


def observed(
    spark: SparkSession, table: str, column: str, values: Mapping[str, dict[int, str | None]]
) -> dict[str, StoreAssignment]:
    """Write every type's boundary values to a column, and read them back as their own type."""
    spark.sql(
        f"create table {table} (source string, n int, v {column}) using delta {NO_CHECKPOINTS}"
    )
    found = {source: write(spark, table, source) for source in values}
    taken = [source for source in values if found[source] is StoreAssignment.EXACT]
    back = read_back(spark, table, taken)
    return found | {
        source: StoreAssignment.LOSSY for source in taken if back[source] != values[source]
    }


@pytest.fixture
def lazy_variants(spark: SparkSession) -> Iterator[None]:
    """Cast a variant only in the query. By default Spark casts it for every row of the file."""
    setting = "spark.sql.variant.pushVariantIntoScan"
    spark.conf.set(setting, "false")
    yield
    spark.conf.unset(setting)


@pytest.mark.slow
@pytest.mark.usefixtures("lazy_variants")
def test_exactness_and_engine_agree_on_every_pair(
    spark: SparkSession, schema: str, conformance: Conformance
):
    lacking = types_lacking()
    columns = [column for column in STORED if column not in lacking]
    values = {
        source: values_by_number(spark, source) for source in BOUNDARIES if source not in lacking
    }

    def stored_in(column: str) -> list[tuple[str, str, StoreAssignment]]:
        found = observed(spark, f"{schema}.storage_{columns.index(column)}", column, values)
        return [(source, column, assignment) for source, assignment in found.items()]

    with ThreadPoolExecutor(2) as threads:
        seen = [triple for found in threads.map(stored_in, columns) for triple in found]
    disagreements = []
    for source, column, found in seen:
        expected = store_assignment(spark_type(source), spark_type(column))
        # A column refuses values that are not in its range.
        agrees = found is expected or (
            expected is StoreAssignment.IN_RANGE and found is StoreAssignment.LOSSY
        )
        if not agrees and not is_known_caution(source, column, found, expected):
            disagreements.append(f"{source} in {column}: engine {found}, ours {expected}")
    conformance.stored, conformance.stored_disagreements = len(seen), disagreements
    assert disagreements == [], "\n".join(disagreements)
    assert {found for _, _, found in seen} == set(StoreAssignment) - {StoreAssignment.IN_RANGE}
