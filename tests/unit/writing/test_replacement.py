"""Which conditions Delta reads in `replace where` as Spark does."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from dbt_common.exceptions import CompilationError
from pyspark.sql import types as spark

from dbt.adapters.deltawiden.writing.columns import WrittenColumn
from dbt.adapters.deltawiden.writing.replacement import ReplaceWhere, read_batch


@pytest.mark.parametrize(
    "condition",
    [
        "day >= '2024-01-02' and (id < 100 or id in (200, 300))",
        "day >= date_sub(current_date(), 3) and day < date '2024-02-01'",
        "amount > cast('1.5' as decimal(8, 2)) and not (`a b` is null)",
        "name like 'A%'",
    ],
)
def test_a_condition_of_comparisons_has_no_functions(condition: str):
    assert not ReplaceWhere([condition], ()).has_functions


@pytest.mark.parametrize(
    "condition",
    [
        "startswith(sku, 'A_')",
        "not ENDSWITH (sku, '_')",
        "contains/* the text */(sku, '_')",
        "sku like 'A\\\\%' escape '/'",
        "my_schema.is_old(sku)",
        "`is old`(sku)",
        "contains -- the text\n(sku, '_')",
    ],
)
def test_a_function_of_a_column_may_have_another_meaning_as_a_text(condition: str):
    assert ReplaceWhere(["id > 0", condition], ()).has_functions


START = datetime(2024, 11, 3, tzinfo=timezone.utc)
END = START + timedelta(days=1)


def columns(event_type: spark.DataType) -> list[WrittenColumn]:
    return [WrittenColumn("id", spark.LongType(), None), WrittenColumn("At", event_type, None)]


@pytest.mark.parametrize(
    ("event_type", "start", "end"),
    [
        (spark.DateType(), "date'2024-11-03'", "date'2024-11-04'"),
        (
            spark.TimestampType(),
            "timestamp'2024-11-03 00:00:00.000000+00:00'",
            "timestamp'2024-11-04 00:00:00.000000+00:00'",
        ),
        (
            spark.TimestampNTZType(),
            "timestamp_ntz'2024-11-03 00:00:00.000000'",
            "timestamp_ntz'2024-11-04 00:00:00.000000'",
        ),
    ],
)
def test_a_batch_has_its_first_moment_and_not_its_last(event_type, start, end):
    batch = read_batch(columns(event_type), "at", START, END)
    assert batch.condition == f"`At` >= {start} and `At` < {end}"


def test_limits_with_any_time_zone_are_moments():
    new_york = timezone(timedelta(hours=-5))
    batch = read_batch(columns(spark.TimestampNTZType()), "`at`", START.astimezone(new_york), END)
    assert "timestamp_ntz'2024-11-03 00:00:00.000000'" in batch.condition


def test_only_a_timestamp_has_a_text_that_depends_on_the_time_zone():
    assert read_batch(columns(spark.DateType()), "at", START, END).text_check_query == ""
    assert read_batch(columns(spark.TimestampNTZType()), "at", START, END).text_check_query == ""
    query = read_batch(columns(spark.TimestampType()), "at", START, END).text_check_query
    assert query.startswith("select cast(cast(timestamp'2024-11-03 00:00:00.000000+00:00' as")


@pytest.mark.parametrize(
    ("event_time", "event_type", "end", "expected"),
    [
        ("gone", spark.DateType(), END, "no column gone; it has id, At"),
        ("at", spark.StringType(), END, "the column at is of type string"),
        ("at", spark.DateType(), START + timedelta(hours=1), "Set batch_size to day"),
    ],
)
def test_a_time_that_does_not_determine_the_batch_is_refused(event_time, event_type, end, expected):
    with pytest.raises(CompilationError, match=expected):
        read_batch(columns(event_type), event_time, START, end)


def test_a_row_of_a_batch_also_meets_the_predicates():
    found = columns(spark.DateType())
    batch = read_batch(found, "at", START, END)
    limited = replace(batch, also=ReplaceWhere(["id = 1 -- ours", "id > 0 or id < 0"], found))
    assert limited.condition == f"{batch.condition} and (id = 1 -- ours\n) and (id > 0 or id < 0\n)"
    checked = limited.checked_sql("days")
    assert "is not in the batch" in checked
    assert "that incremental_predicates do not select: id = 1 -- ours, id > 0 or id < 0" in checked
