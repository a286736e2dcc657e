"""Check the values of a seed's file against the types of its table before anything is written.

A cast would change some texts to another value or to null: 12345678901234567890 is not a bigint,
7.9 is not an int, and 2024-13-45 is not a date.
"""

import csv
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import agate
from dbt_common.exceptions import CompilationError, DbtRuntimeError
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.config.validation import read_model_policy
from dbt.adapters.deltawiden.sql.types import (
    MAX_DECIMAL_PRECISION,
    UnknownType,
    nearest_float,
    parse_type,
    type_text,
)
from dbt.adapters.deltawiden.warnings import warn_once
from dbt.adapters.deltawiden.writing.replacement import has_no_offset_changes
from dbt.adapters.deltawiden.writing.store_assignment import INTEGER_BITS

_MAX_SHOWN = 10
# In minutes, https://docs.oracle.com/javase/8/docs/api/java/time/ZoneOffset.html.
_MAX_OFFSET = 18 * 60
_MAX_ADJUSTED = 400  # The largest double has fewer digits.

# The time zone in which Spark reads a timestamp without a time zone, and the type that `timestamp`
# means, https://spark.apache.org/docs/latest/sql-ref-datatypes.html (spark.sql.timestampType).
_SESSION_QUERY = "select current_timezone(), typeof(cast(null as timestamp))"

# The spaces that Spark's casts remove, and only the digits that they read. Python's own `strip` and
# patterns take those of all languages, of which a cast makes null. Source: UTF8String.trimAll.
_SPACES = " \t\n\r\v\f"
_INTEGER = re.compile(r"[+-]?\d+(\.0*)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NAN_OR_INFINITY = re.compile(r"nan|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
# Numbers that can be codes, such as 02134 and +4930123: a column of numbers loses a character.
_CODE = re.compile(r"\s*(-?0\d|\+)", re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_TIME = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(:(?P<second>\d{1,2})(\.\d{1,6}0*)?"
    r"\s*(?P<zone>Z|[+-](\d{1,2}(:\d{2})?|\d{4})|UTC|GMT|[A-Za-z]+/[A-Za-z_/]+)?)?",
    re.ASCII,
)
_TOO_FINE = re.compile(r"[.,]\d{6}\d*[1-9]")
_BOOLEANS = frozenset({"true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"})


class SeedRefused(CompilationError):
    """A value of a seed's file does not fit its column's type; nothing was changed or written."""


@dataclass(frozen=True)
class _Cell:
    line: int
    column: str
    text: str
    type: DataType


def check_seed(
    seed: Mapping[str, Any],
    table: agate.Table,
    types: Mapping[str, str],
    fetch_rows: Callable[[str], Sequence[Any]],
) -> list[DataType]:
    """Check the values of a seed's file. Return the types of its columns that are known.

    Args:
        types: the Spark type of each column.

    Raises:
        SeedRefused: a column would not store a value exactly as it is in the file, and the seed's
            ``on_lossy_write`` is ``error``. The message names the file, the line, column and type
            of each such value, and a type that stores the column exactly.
        DbtRuntimeError: Python does not know the time zone of the session.
        EventCompilationError: ``--warn-error`` makes an error of the warning for ``warn``.
    """
    columns = {name: _parsed(text) for name, text in types.items()}
    zone_name = "UTC"
    if any(isinstance(column, spark.TimestampType) for column in columns.values()):
        zone_name, meant = fetch_rows(_SESSION_QUERY)[0]
        timestamps = [name for name, text in types.items() if text.lower() == "timestamp"]
        columns |= dict.fromkeys(timestamps, _parsed(meant))
    known = [column for column in columns.values() if column is not None]
    action = read_model_policy(seed["config"], seed["unique_id"]).on_lossy_write
    if action is OnLossyWrite.IGNORE:
        return known
    delimiter = str(seed["config"].get("delimiter") or ",")
    zone = _region(zone_name) if action is OnLossyWrite.WARN else _zone(zone_name)
    as_text = _as_text(seed)
    if refused := list(_refused(table, columns, as_text, delimiter, zone)):
        found = "\n".join(_lines(refused, table, as_text, delimiter))
        file = seed["original_file_path"]
        if action is OnLossyWrite.ERROR:
            raise SeedRefused(
                f"{file} has values that its table would not store exactly. Nothing was written.\n"
                f"{found}\nCorrect the file, or give the column another type in the seed's "
                "column_types. With on_lossy_write: warn or ignore, the seed stores what Spark "
                "makes of the values."
            )
        warn_once(f"values that the table does not store exactly:\n{found}", file)
    return known


def _lines(
    refused: Sequence[_Cell], table: agate.Table, as_text: Collection[str], delimiter: str
) -> Iterator[str]:
    for cell in refused[:_MAX_SHOWN]:
        given = f"line {cell.line}, column {cell.column}: {cell.text[:200]!r}"
        yield f"  {given} is not stored exactly as {type_text(cell.type)}"
    if len(refused) > _MAX_SHOWN:
        yield f"  and {len(refused) - _MAX_SHOWN} more"
    records = _records(table, delimiter)
    for name, declared in {cell.column: cell.type for cell in refused}.items():
        index = table.column_names.index(name)
        values = table.columns[index].values()
        texts = [
            record[index]
            for (_, record), value in zip(records, values, strict=True)
            if value is not None
        ]
        exact = type_text(_exact_type(texts, declared))
        if name.lower() in as_text or exact == "string" or not any(map(_CODE.match, texts)):
            yield f"  {exact} stores all of column {name}"
        else:
            text, number = (json.dumps({name: each}) for each in ("string", exact))
            yield f"  column_types: {text} stores all of column {name}, and {number} its numbers"


def _exact_type(texts: Sequence[str], declared: DataType) -> DataType:
    """Return a type that stores each text of a column, of the kind of its declared type first."""
    candidates: list[DataType] = (
        [spark.DoubleType()] if isinstance(declared, (spark.FloatType, spark.DoubleType)) else []
    )
    candidates += [spark.LongType(), *_decimals(texts), spark.DoubleType()]
    candidates += [spark.DateType(), spark.TimestampNTZType()]
    return next(
        (each for each in candidates if all(map(text_check(each), texts))), spark.StringType()
    )


def _decimals(texts: Sequence[str]) -> Iterator[DataType]:
    """Yield the smallest decimal that stores each text, if all are numbers and one does."""
    stripped = [text.strip(_SPACES) for text in texts]
    if not all(map(_NUMBER.fullmatch, stripped)):
        return
    numbers = [Decimal(text) for text in stripped]
    scale = max((max(0, -int(number.as_tuple().exponent)) for number in numbers), default=0)
    whole = max((max(0, number.adjusted() + 1) for number in numbers), default=0)
    if 0 < whole + scale <= MAX_DECIMAL_PRECISION:
        yield spark.DecimalType(whole + scale, scale)


def seed_values(seed: Mapping[str, Any], table: agate.Table) -> list[list[Any]]:
    """Return the values of each row of a seed's file.

    They are the file's texts for numbers and texts, and for columns that the seed gives a type. dbt
    has read each line break in a text as ``\\n``.
    """
    records = [row for _, row in _records(table, str(seed["config"].get("delimiter") or ","))]
    as_text = _as_text(seed)
    texts = [
        column.name.lower() in as_text or isinstance(column.data_type, agate.Text)
        for column in table.columns
    ]
    numbers = [isinstance(column.data_type, agate.Number) for column in table.columns]

    def written(record: Sequence[str], value: Any, index: int) -> Any:
        # A row of the file can be short: the values that it lacks are null.
        if value is None or not (texts[index] or numbers[index]):
            return value
        text = record[index]
        return text if texts[index] else _number_text(text.strip(_SPACES), value)

    return [
        [written(record, value, index) for index, value in enumerate(values)]
        for record, values in zip(records, table.rows, strict=True)
    ]


def _number_text(text: str, value: Decimal) -> str:
    """Return a number as Spark's casts read it: of the text 1e3 or 50%, a bigint would be null.

    dbt has read the value in the text, rounded to 28 digits.
    """
    found = _NUMBER.fullmatch(text)
    if found and not found[3]:
        return text
    number = Decimal(text) if found else value
    # Otherwise, no type has it.
    return f"{number:f}" if abs(number.adjusted()) < _MAX_ADJUSTED else text


def _as_text(seed: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns that the seed gives a type, in lower case.

    dbt parses the values of such a column if the case of its name in the file is another.
    """
    return frozenset(str(name).lower() for name in seed["config"].get("column_types") or {})


def _refused(
    table: agate.Table,
    types: Mapping[str, DataType | None],
    as_text: Collection[str],
    delimiter: str,
    zone: tzinfo | None,
) -> Iterator[_Cell]:
    checks = [
        (index, name, parsed, text_check(parsed, zone))
        for index, name in enumerate(table.column_names)
        if (parsed := types[name]) is not None
    ]
    for (line, texts), values in zip(_records(table, delimiter), table.rows, strict=True):
        for index, name, parsed, is_exact in checks:
            value = values[index]
            if value is None:
                continue  # dbt parsed it as null.
            if isinstance(value, date) and name.lower() not in as_text:
                # dbt parsed it. It accepts more date formats than Spark.
                is_kept = not _TOO_FINE.search(texts[index]) and not _is_moved(value, parsed, zone)
            elif isinstance(value, Decimal) and name.lower() not in as_text:
                text = texts[index].strip(_SPACES)
                number = _number_text(text, value) if _NUMBER.fullmatch(text) else text
                is_kept = not _CODE.match(text) and is_exact(number)
            else:
                is_kept = is_exact(texts[index])
            if not is_kept:
                yield _Cell(line, name, texts[index], parsed)


def _records(table: agate.Table, delimiter: str) -> list[tuple[int, list[str]]]:
    """Read the file's rows as text, each with the number of its first line. None for --empty."""
    if not len(table.rows):
        return []
    with Path(table.original_abspath).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        next(reader)
        records, line = [], reader.line_num + 1
        for record in reader:
            records.append((line, record))
            line = reader.line_num + 1
    return records


def _parsed(text: str) -> DataType | None:
    try:
        return parse_type(text)
    except UnknownType:
        return None  # This is left to Spark.


def _zone(name: str) -> tzinfo | None:
    """Return the time zone of the session. None if it is an offset, which skips no hour.

    Raises:
        DbtRuntimeError: Python does not know the zone, such as PST.
    """
    zone = _region(name)
    if zone is None and not has_no_offset_changes(name):
        raise DbtRuntimeError(
            f"The times of the seed can't be checked, because Python does not know {name}, the "
            "time zone of Spark's session. Nothing was written. Set spark.sql.session.timeZone to "
            "the name of a region, such as America/Los_Angeles. If it is one, install tzdata."
        )
    return zone


def _region(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _is_moved(value: date, column: DataType, zone: tzinfo | None) -> bool:
    """Return whether a column stores another time for one that dbt has parsed."""
    if isinstance(column, spark.TimestampNTZType):
        return isinstance(value, datetime) and value.tzinfo is not None
    return isinstance(column, spark.TimestampType) and _is_skipped(value, zone)


def _is_skipped(value: date, zone: tzinfo | None) -> bool:
    """Return whether a time zone skips a time, as it does when daylight saving time begins."""
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    if zone is None or moment.tzinfo is not None:
        return False
    try:
        shown = moment.replace(tzinfo=zone).astimezone(timezone.utc).astimezone(zone)
    except OverflowError:
        return False  # No zone skips a time in the first or the last day of all.
    return shown.replace(tzinfo=None) != moment


def text_check(column: DataType, zone: tzinfo | None = None) -> Callable[[str], bool]:
    """Return a function that checks whether a column of a type stores the value of a text."""
    if type(column) in INTEGER_BITS:
        limit = 1 << INTEGER_BITS[type(column)]
        return lambda text: _is_integer(text.strip(_SPACES), limit)
    if isinstance(column, spark.DecimalType):
        return lambda text: _is_decimal(text.strip(_SPACES), column.precision, column.scale)
    if isinstance(column, spark.DoubleType):
        return lambda text: _is_floating(text.strip(_SPACES), float)
    if isinstance(column, spark.FloatType):
        return lambda text: _is_floating(text.strip(_SPACES), nearest_float)
    if isinstance(column, spark.BooleanType):
        return lambda text: text.strip(_SPACES).lower() in _BOOLEANS
    if isinstance(column, spark.DateType):
        return lambda text: _is_date(text.strip(_SPACES))
    if isinstance(column, spark.TimestampType):
        return lambda text: _is_timestamp(text.strip(_SPACES), True, zone)
    if isinstance(column, spark.TimestampNTZType):
        return lambda text: _is_timestamp(text.strip(_SPACES), False, None)
    if isinstance(column, spark.CharType):
        return lambda text: len(text) == column.length
    if isinstance(column, spark.VarcharType):
        return lambda text: len(text) <= column.length
    return lambda text: True


def _is_integer(text: str, limit: int) -> bool:
    return bool(_INTEGER.fullmatch(text)) and -limit <= int(text.partition(".")[0]) < limit


def _is_decimal(text: str, precision: int, scale: int) -> bool:
    if not _NUMBER.fullmatch(text):
        return False
    _, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)  # It is not NaN.
    number = int("".join(map(str, digits)) or 0)
    while number and number % 10 == 0:
        number, exponent = number // 10, exponent + 1
    return not number or (-exponent <= scale and len(str(number)) + exponent <= precision - scale)


def _is_floating(text: str, as_stored: Callable[[str], float]) -> bool:
    """Return whether a floating-point number has the digits of a text, or equals it exactly."""
    if _NAN_OR_INFINITY.fullmatch(text):
        return True
    if not _NUMBER.fullmatch(text):
        return False
    number = Decimal(text)
    try:
        stored = as_stored(text)
        shown = (Decimal(f"{stored:.{digits}g}") for digits in range(1, 18))
        shortest = next(decimal for decimal in shown if as_stored(str(decimal)) == stored)
    except (OverflowError, InvalidOperation, StopIteration):
        return False  # It is infinite.
    return number in (shortest, Decimal(stored))


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    try:
        return found is not None and bool(date(*map(int, found.groups())))
    except ValueError:
        return False


def _is_offset(zone: str) -> bool:
    """Return whether Spark knows a time zone that is not the name of a region."""
    digits = re.sub(r"\D", "", zone)
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "")
    return int(minutes or 0) < 60 and int(hours or 0) * 60 + int(minutes or 0) <= _MAX_OFFSET


def _is_timestamp(text: str, takes_zone: bool, zone: tzinfo | None) -> bool:
    day, separator, clock = text.replace("T", " ", 1).partition(" ")
    found = _TIME.fullmatch(clock if separator else "00:00")
    if not _is_date(day) or found is None:
        return False
    try:
        hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
        at = time(hour, minute, second)
    except ValueError:
        return False
    given = found["zone"]
    if given is not None:
        if not takes_zone or "/" not in given:
            return takes_zone and _is_offset(given)
        zone = _region(given)
        if zone is None:
            return False
    year, month, day_of_month = map(int, day.split("-"))
    return not _is_skipped(datetime.combine(date(year, month, day_of_month), at), zone)
