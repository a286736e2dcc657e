"""The rows of a table that a write replaces, and the check that its own rows are among them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timezone

from dbt_common.exceptions import CompilationError
from pyspark.sql import types as spark
from pyspark.sql.types import DataType, DecimalType, TimestampType

from dbt.adapters.deltawiden.sql.identifiers import path_text, quote, read_name
from dbt.adapters.deltawiden.sql.raised_errors import (
    END_OF_MESSAGE,
    ROW_NOT_REPLACED,
    ROW_OUTSIDE_BATCH,
    failure_sql,
    value_or_failure_sql,
)
from dbt.adapters.deltawiden.sql.references import uses
from dbt.adapters.deltawiden.sql.types import every_type, type_text
from dbt.adapters.deltawiden.writing.columns import WrittenColumn


@dataclass(frozen=True)
class Batch:
    """The limits of a batch, of which ``end`` is the first moment after it, and their column.

    A row of the table is in the batch if it also meets ``also``, the model's own predicates.
    """

    column: str
    type: DataType
    start: datetime
    end: datetime
    also: "ReplaceWhere | None" = None

    @property
    def condition(self) -> str:
        """The condition for the rows in the batch, independent of the session's time zone."""
        return f"{self._limits} and {self.also.condition}" if self.also else self._limits

    @property
    def _limits(self) -> str:
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
        if self.also:
            not_selected = self.also.not_selected_sql(model, self.column)
            failed = f"case when {self._limits} then {not_selected} else {failed} end"
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
        CompilationError: the table has no such column, the column's type is not a date or
            timestamp, or it is a date and the batch does not consist of whole days.

    Source:
        https://docs.getdbt.com/docs/build/incremental-microbatch, "Timezones"
    """
    limits = _in_utc(start), _in_utc(end)
    has_parts = any(limit.time() != time() for limit in limits)
    column = event_time_column(columns, event_time, has_parts)
    return Batch(column.name, column.type, *limits)


def event_time_column(
    columns: Iterable[WrittenColumn], event_time: str, has_parts_of_days: bool
) -> WrittenColumn:
    """Return the column of a table by which a row is in a batch. The errors are ``read_batch``'s.

    Args:
        has_parts_of_days: whether a batch does not consist of whole days.
    """
    columns = list(columns)
    name = read_name(event_time)[-1]
    column = next((column for column in columns if column.name.lower() == name.lower()), None)
    if column is None:
        names = ", ".join(column.name for column in columns)
        raise CompilationError(f"event_time: the table has no column {name}; it has {names}.")
    if not isinstance(column.type, spark.DateType | spark.TimestampType | spark.TimestampNTZType):
        raise CompilationError(
            f"event_time: the column {name} is of type {type_text(column.type)}, which does not "
            "say in which batch a row is. Cast it in the model to date, timestamp or timestamp_ntz."
        )
    if isinstance(column.type, spark.DateType) and has_parts_of_days:
        raise CompilationError(
            f"event_time: the column {name} is a date, which has no time of day. "
            "Set batch_size to day, month or year, or select a timestamp."
        )
    return column


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment


def _literal(moment: datetime, data_type: DataType) -> str:
    utc = moment.astimezone(timezone.utc)
    if isinstance(data_type, spark.DateType):
        return f"date'{utc:%Y-%m-%d}'"
    if isinstance(data_type, spark.TimestampNTZType):
        return f"timestamp_ntz'{utc:%Y-%m-%d %H:%M:%S.%f}'"
    return f"timestamp'{utc:%Y-%m-%d %H:%M:%S.%f}+00:00'"


# What can be before a bracket in a condition that Spark passes to Delta as filters. Of functions of
# a column, Spark passes only startswith, endswith and contains. Delta reads them as LIKE, in which
# _ and % match other characters.
_BEFORE_BRACKET = frozenset(
    {
        *("and", "or", "not", "in", "cast", "decimal", "date", "timestamp", "to_date"),
        *("current_date", "current_timestamp", "now", "make_date", "trunc", "date_trunc"),
        *("date_add", "date_sub", "dateadd", "add_months", "last_day"),
    }
)
_BRACKET = re.compile(r"(\w+|`)\s*\(")
_LIST = re.compile(r"\bin\s*\(", re.IGNORECASE)
_COMMENT_OR_ESCAPE = re.compile(r"--|/\*|\bescape\b", re.IGNORECASE)

_FIXED_ZONE = re.compile(r"(Etc/)?(UTC|GMT|UCT)|Z|(UTC|GMT|UT)?[+-]\d{1,2}(:?\d{2})*")


@dataclass(frozen=True)
class ReplaceWhere:
    """The rows that the strategy ``replace_where`` replaces: those that meet all predicates."""

    predicates: Sequence[str]
    columns: Sequence[WrittenColumn]

    @property
    def column(self) -> str:
        """The name of the column whose expression has the check."""
        return self.columns[0].name

    @property
    def condition(self) -> str:
        """The condition for the rows to replace."""
        # A predicate may end with a comment.
        return " and ".join(f"({predicate}\n)" for predicate in self.predicates)

    @property
    def uses_moments(self) -> bool:
        """Whether the condition uses a timestamp, which has no offset in the text Delta reads."""
        return self._uses(TimestampType, self.predicates)

    @property
    def lists_decimals(self) -> bool:
        """Whether the condition may compare a decimal with a list, which Delta can't read as text.

        Source:
            docs/engine-defects.md, "`replace where` with a list of decimals fails"
        """
        return self._uses(DecimalType, [text for text in self.predicates if _LIST.search(text)])

    def _uses(self, data_type: type[DataType], predicates: Sequence[str]) -> bool:
        paths = [
            (column.name,)
            for column in self.columns
            if any(isinstance(part, data_type) for part in every_type(column.type))
        ]
        return any(uses(text, path) for text in predicates for path in paths)

    @property
    def has_functions(self) -> bool:
        """Whether the condition may call functions that have another meaning as Delta's text.

        Source:
            ``DeltaSourceUtils.translateFilters``
        """
        names = (name.lower() for text in self.predicates for name in _BRACKET.findall(text))
        return not _BEFORE_BRACKET.issuperset(names) or any(
            _COMMENT_OR_ESCAPE.search(text) for text in self.predicates
        )

    def checked_sql(self, model: str) -> str:
        """Render a column for the SELECT, failing if a row does not meet the condition."""
        failed = self.not_selected_sql(model, self.column)
        return value_or_failure_sql(self.condition, quote(self.column), failed)

    def not_selected_sql(self, model: str, column: str) -> str:
        """Render the failure of a row that does not meet the condition. It shows a column of it."""
        before = (
            f"[{ROW_NOT_REPLACED}] The model {model} has a row that incremental_predicates do not "
            f"select: {', '.join(self.predicates)}. In this row, {path_text((column,))} is "
        )
        shown = f"coalesce(left(cast({quote(column)} as string), 200), 'null')"
        return failure_sql(before, shown, f". {END_OF_MESSAGE}")


def has_no_offset_changes(time_zone: str) -> bool:
    """Return whether each time in a session's time zone is one moment: its offset never changes."""
    return bool(_FIXED_ZONE.fullmatch(time_zone))
