"""``value_check`` compared with exact arithmetic: values of each lossy pair on the engine."""

import math
import random
import re
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import CharType, DataType, DoubleType, FloatType

from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment
from dbt.adapters.deltawiden.writing.value_check import exact_condition
from tests.conformance.types import BOUNDARIES, STORED, types_lacking

SEED = 20240310
RANDOM_VALUES = 12

# Where digits, powers of two and casts that saturate are close to each other.
NUMBERS = (
    *("0", "1", "-1", "7", "7.5", "7.9", "0.1", "0.5", "0.25", "-0.75", "100.5", "19.99"),
    *("127", "128", "-128", "-129", "32767", "32768", "2147483647", "2147483648", "-2147483648"),
    *("16777216", "16777217", "9007199254740992", "9007199254740993", "4611686018427387904"),
    *("4611686018427387900", "9223372036854775807", "9223372036854775808", "9223372036854775296"),
    *("-9223372036854775808", "100000000000000000000", "0.0009765625", "0.0000000000000000000001"),
    *("100.00000381469727", "100.000003814697265625", "1.23456789012345678", "1.125", "3.140625"),
)
TEXTS = (
    *("7", "007", "+7", " 7", "7.0", "7.00", "7.9", "1e3", "abc", "", "true", "TRUE", "t", "NaN"),
    *("2024-01-01", "2024-1-1", "2024-13-45", "2024-01-01 10:11:12", "2024-01-01T10:11:12"),
    *("2024-01-01 10:11:12.5", "9223372036854775808", "0.1", "16777217", "ab", "ab   ", "abcde"),
)
MOMENTS = (
    *("2024-01-01 00:00:00", "2024-03-10 02:30:00", "2024-11-03 01:30:00"),
    "2024-11-03 00:00:00.000001",
)
COLUMNS = (*STORED, "char(5)")


def values_of(source: str, chosen: random.Random) -> list[str]:
    """Values of a type, as SQL that casts to it."""
    given = list(BOUNDARIES[source]) if source in BOUNDARIES else []
    kind = source.partition("(")[0]
    if kind in ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"):
        digits = [f"{chosen.uniform(-1, 1) * 10 ** chosen.randint(0, 19):.6f}" for _ in range(6)]
        halves = [str(chosen.randint(-(2**60), 2**60) / 2**n) for n in range(0, 60, 6)]
        given += [f"'{text}'" for text in (*NUMBERS, *digits, *halves)]
    if kind == "string":
        given += [f"'{text}'" for text in TEXTS]
    if kind == "timestamp_ntz":
        given += [f"timestamp_ntz'{text}'" for text in MOMENTS]
    return [f"try_cast({value} as {source})" for value in given]


def exact(value: object) -> object:
    """Return the mathematical value, independent of its type."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return repr(value)
        return Fraction(value)
    if isinstance(value, (int, Decimal)):
        return Fraction(value)
    return value


def is_exact(source: object, stored: object, shown: str | None, column: DataType) -> bool:
    """Return whether the stored value is the source's value."""
    if stored is None:
        return False
    if isinstance(source, str):
        if isinstance(column, CharType):
            return len(source) == column.length
        return shown == source  # the text of the stored value
    if isinstance(source, datetime) and isinstance(stored, date) and type(stored) is date:
        return source == datetime(stored.year, stored.month, stored.day)
    return exact(source) == exact(stored)


def pairs() -> list[tuple[str, str]]:
    sources = [*BOUNDARIES, "decimal(12,2)", "decimal(38,18)"]
    known = [source for source in dict.fromkeys(sources) if not re.match("interval|void", source)]
    return [
        (source, column)
        for source in known
        for column in COLUMNS
        if not types_lacking() & {source, column}
        and store_assignment(parse_type(source), parse_type(column)) is StoreAssignment.LOSSY
        and (column != "char(5)" or source == "string")
        and exact_condition("v", parse_type(source), parse_type(column)) is not None
    ]


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_a_value_passes_where_it_is_stored_exactly_and_nowhere_else(spark: SparkSession, ansi: str):
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", ansi)
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    chosen = random.Random(SEED)
    wrong, passed = [], 0
    for source in dict.fromkeys(source for source, _ in pairs()):
        columns = [column for other, column in pairs() if other == source]
        values = values_of(source, chosen)
        rows = f"values {', '.join(f'({value})' for value in values)} as t (v)"
        shown = []
        for column in columns:
            condition = exact_condition("v", parse_type(source), parse_type(column))
            stored = "v" if column == "char(5)" else f"try_cast(v as {column})"
            shown.append(f"coalesce({condition}, false), {stored}, cast({stored} as string)")
        # A float is read as the double that has its value.
        value = "cast(v as double)" if source == "float" else "v"
        found = session.sql(f"select {value}, {', '.join(shown)} from {rows}").collect()
        for row in found:
            for number, column in enumerate(columns):
                passes, stored, text = row[1 + 3 * number : 4 + 3 * number]
                if row[0] is None:
                    continue
                expected = is_exact(row[0], stored, text, parse_type(column))
                passed += passes
                if passes != expected and not is_known_caution(row[0], passes, column):
                    wrong.append(f"{row[0]!r} ({source}) in {column}: passes {passes}: {stored!r}")
    assert wrong == [], "\n".join(wrong)
    assert passed > 500


def is_known_caution(value: object, passes: bool, column: str) -> bool:
    """Return whether a value is refused although it would fit.

    Spark has no exact way to compare a floating-point number of 2**63 or more with a decimal, or
    one with more than 27 digits after the point.
    """
    if passes:
        return False
    number = exact(value)
    is_large = isinstance(number, Fraction) and abs(number) >= 2**63
    is_small = isinstance(number, Fraction) and (number * 10**27).denominator != 1
    text_of_small = isinstance(value, str) and column.startswith("decimal")
    return is_large or is_small or text_of_small


def test_the_values_read_back_by_spark_are_those_of_their_type():
    """This checks the oracle: a float that Python shows as 0.1 is another number than 0.1."""
    assert exact(0.1) != exact(Decimal("0.1"))
    assert exact(0.5) == exact(Decimal("0.50"))
    assert exact(True) != exact(1)
    assert {type(parse_type(name)) for name in ("float", "double")} == {FloatType, DoubleType}
