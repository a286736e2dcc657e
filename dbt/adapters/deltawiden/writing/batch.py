"""Select the rows of a table that belong to one batch of a microbatch model."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.identifiers import path_text, quote, read_name
from dbt.adapters.deltawiden.sql.raised_errors import (
    END_OF_MESSAGE,
    ROW_OUTSIDE_BATCH,
    failure_sql,
    value_or_failure_sql,
)
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.writing.columns import WrittenColumn


class NoBatch(ValueError):
    """The rows of a batch can't be distinguished from those of other batches."""


@dataclass(frozen=True)
class Batch:
    """The limits of a batch, of which ``end`` is the first moment after it, and their column."""

    column: str
    type: DataType
    start: datetime
    end: datetime

    @property
    def condition(self) -> str:
        """The condition for the rows in the batch, independent of the session's time zone."""
        start, end = (_literal(limit, self.type) for limit in (self.start, self.end))
        return f"{quote(self.column)} >= {start} and {quote(self.column)} < {end}"

    def checked_sql(self, model: str) -> str:
        """Render the batch's column for the SELECT, failing if a row is outside of the batch."""
        name = quote(self.column)
        before = (
            f"[{ROW_OUTSIDE_BATCH}] The model {model} has a row whose event time is not in the "
            f"batch: its column {path_text((self.column,))} is "
        )
        after = f", and the batch is from {self.start} to {self.end}. {END_OF_MESSAGE}"
        shown = f"coalesce(cast({name} as string), 'null')"
        failed = failure_sql(before, shown, after)
        return value_or_failure_sql(self.condition, name, failed)

    @property
    def text_check_query(self) -> str:
        """The query that checks whether each limit has a unique text in the session's time zone.

        Delta parses the condition of ``replace where`` from a text, in which a timestamp has no
        offset. In the hour that is repeated when daylight saving time ends, two moments have the
        same text. The query is empty if the column's type has no time zone.
        """
        if not isinstance(self.type, spark.TimestampType):
            return ""
        limits = [_literal(limit, self.type) for limit in (self.start, self.end)]
        exact = (f"cast(cast({limit} as string) as timestamp_ltz) = {limit}" for limit in limits)
        return f"select {' and '.join(exact)}"


def read_batch(
    columns: Iterable[WrittenColumn], event_time: str, start: datetime, end: datetime
) -> Batch:
    """Return the batch of a table's rows whose event time is between two moments.

    dbt filters the batch's input by the same limits, which it passes in UTC. So a timestamp without
    time zone is read as a time in UTC, and a date as its first moment in UTC.

    Raises:
        NoBatch: the table has no such column, the column's type is not a date or timestamp, or the
            column is a date and the batch does not consist of whole days.

    Source:
        https://docs.getdbt.com/docs/build/incremental-microbatch, "Timezones"
    """
    columns = list(columns)
    name = read_name(event_time)[-1]
    column = next((column for column in columns if column.name.lower() == name.lower()), None)
    if column is None:
        names = ", ".join(column.name for column in columns)
        raise NoBatch(f"event_time: the table has no column {name}; it has {names}.")
    if not isinstance(column.type, spark.DateType | spark.TimestampType | spark.TimestampNTZType):
        raise NoBatch(
            f"event_time: the column {name} is of type {type_text(column.type)}, which does not "
            "say in which batch a row is. Cast it in the model to date, timestamp or timestamp_ntz."
        )
    batch = Batch(column.name, column.type, _in_utc(start), _in_utc(end))
    if isinstance(column.type, spark.DateType) and not all(
        limit == limit.replace(hour=0, minute=0, second=0, microsecond=0)
        for limit in (batch.start, batch.end)
    ):
        raise NoBatch(
            f"event_time: the column {name} is a date, which has no time of day. "
            "Set batch_size to day, month or year, or select a timestamp."
        )
    return batch


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment


def _literal(moment: datetime, data_type: DataType) -> str:
    utc = moment.astimezone(timezone.utc)
    if isinstance(data_type, spark.DateType):
        return f"date'{utc:%Y-%m-%d}'"
    if isinstance(data_type, spark.TimestampNTZType):
        return f"timestamp_ntz'{utc:%Y-%m-%d %H:%M:%S.%f}'"
    return f"timestamp'{utc:%Y-%m-%d %H:%M:%S.%f}+00:00'"
