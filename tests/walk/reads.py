"""Filters on a table and the view over it, compared with the rows of the table."""

from collections.abc import Iterator
from datetime import date
from random import Random
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    DecimalType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StructType,
)

from tests.conformance.far_values import far_conditions
from tests.literals import literal
from tests.walk.exact import same
from tests.walk.judge import Violation
from tests.walk.stored import Contents, read_contents

_SKIPPED = date(1582, 10, 5), date(1582, 10, 14)
OPERATORS = ("=", "<", "<=", ">", ">=")
# How many filters a column of these types has with values that no file has.
BEYOND = 12
NUMBERS = (ByteType, ShortType, IntegerType, LongType, DecimalType)


def judge_filters(
    spark: SparkSession, name: str, contents: Contents, rng: Random
) -> Iterator[Violation]:
    """Yield the columns with a filter that is true for a row and does not find the row."""
    if not contents.rows:
        return
    number, other = rng.choice([*contents.rows]), rng.choice([*contents.rows])
    holding = [
        *_filters_that_hold(spark, contents, number, other),
        *_far_filters_that_hold(contents, number, other, rng),
    ]
    if holding and not _finds(spark, name, [text for _, text in holding], number):
        for column, text in holding:
            if not _finds(spark, name, [text], number):
                yield Violation("a filter finds nothing", column, f"id {number}: {text}")


def count_filters(contents: Contents) -> int:
    fields = contents.schema.fields
    types = [atom for field in fields for _, atom in _atoms(field.name, field.dataType)]
    of_numbers = sum(isinstance(data_type, NUMBERS) for data_type in types)
    return len(types) * (len(OPERATORS) + 1) + of_numbers * BEYOND


def _finds(spark: SparkSession, name: str, filters: list[str], number: int) -> bool:
    found = spark.sql(f"select id from {name} where {' and '.join(filters)}").collect()
    return number in {row.id for row in found}


def _filters_that_hold(
    spark: SparkSession, contents: Contents, number: int, other: int
) -> list[tuple[str, str]]:
    """Compare the row's value with another row's, as values that no table has."""
    filters: list[tuple[str, str, str]] = []
    for field in contents.schema.fields:
        for path, data_type in _atoms(field.name, field.dataType):
            value = _at(contents.rows[number], path)
            values = [value] if value is None else [value, _at(contents.rows[other], path)]
            if not all(map(_can_be_compared, values)):
                continue
            for written in (
                literal(compared, data_type) for compared in values if compared is not None
            ):
                texts = [f"{{}} {operator} {written}" for operator in OPERATORS]
                for text in (*texts, f"{{}} in ({written})"):
                    column = text.format(path)
                    filters.append((field.name, column, text.format(literal(value, data_type))))
            if value is None:
                filters.append((field.name, f"{path} is null", "true"))
    if not filters:
        return []
    (answers,) = spark.sql(f"select {', '.join(text for _, _, text in filters)}").collect()
    return [tried[:2] for tried, holds in zip(filters, answers, strict=True) if holds]


def _far_filters_that_hold(
    contents: Contents, number: int, other: int, rng: Random
) -> Iterator[tuple[str, str]]:
    """Yield filters with values that no file has. Python says that they are true for the row."""
    for field in contents.schema.fields:
        for path, data_type in _atoms(field.name, field.dataType):
            if isinstance(data_type, NUMBERS):
                values = _at(contents.rows[number], path), _at(contents.rows[other], path)
                conditions = far_conditions(*values, data_type, rng.randrange(10))
                holding = [text.format(on=path) for text, holds in conditions if holds]
                for text in rng.sample(holding, min(BEYOND, len(holding))):
                    yield field.name, text


def _can_be_compared(value: Any) -> bool:
    # A text of invalid bytes can't be written as a literal.
    if isinstance(value, str):
        return "\ufffd" not in value
    # Spark reads no row of a Parquet file for these days, which the Julian calendar skips.
    return type(value) is not date or not _SKIPPED[0] <= value <= _SKIPPED[1]


def _atoms(path: str, data_type: DataType) -> Iterator[tuple[str, DataType]]:
    if isinstance(data_type, StructType):
        for field in data_type.fields:
            yield from _atoms(f"{path}.{field.name}", field.dataType)
    elif not isinstance(data_type, ArrayType | MapType) and data_type.simpleString() != "void":
        yield path, data_type


def _at(row: dict[str, Any], path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = None if value is None else value[name]
    return value


def judge_view(
    spark: SparkSession, name: str, contents: Contents, columns: list[str]
) -> Iterator[Violation]:
    """Yield the columns of a view that do not have every value of the table.

    Args:
        columns: the columns of the table when the view was created.
    """
    if not set(columns) <= set(contents.schema.names):
        return  # A column was dropped, and a view that selects it fails.
    try:
        seen = read_contents(spark, name)
    except PySparkException as error:
        yield Violation("a view fails", "", str(error).split("\n")[0])
        return
    if seen.count != contents.count or set(seen.rows) != set(contents.rows):
        yield Violation("a view has other rows", "", f"{sorted(seen.rows)}")
        return
    types = {field.name: field.dataType for field in contents.schema.fields}
    for field in seen.schema.fields:
        for number, row in seen.rows.items():
            kept, column = contents.rows[number][field.name], types[field.name]
            if not same(kept, column, row[field.name], field.dataType):
                was = f"{kept!r} ({column.simpleString()})"
                details = f"id {number}: {was} is seen as {row[field.name]!r}"
                yield Violation("a view changes a value", field.name, details)
                break
