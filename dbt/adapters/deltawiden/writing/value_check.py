"""Check in the statement itself that a column stores a value exactly.

A value is checked by a cast to the column's type and back. For some pairs of types, this returns
the same value although the stored one is different or depends on the session's time zone. The rules
for those pairs are stricter: see ``never_exact`` and ``_equals_floating``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.partition_columns import can_lose_values
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.raised_errors import (
    END_OF_MESSAGE,
    LOSSY_PARTITION_VALUE,
    LOSSY_VALUE,
    failure_sql,
)
from dbt.adapters.deltawiden.sql.types import CONTAINERS, type_sql, type_text
from dbt.adapters.deltawiden.warnings import warn_once
from dbt.adapters.deltawiden.writing.partition_values import stored_condition
from dbt.adapters.deltawiden.writing.store_assignment import INTEGER_BITS, NUMBERS, kind_of

_SHOWN_CHARACTERS = 200
_MAX_LONG = 2**63 - 1

# The product of two decimals keeps all digits up to a precision of 38: here, 28 digits of a
# fraction and the 9 digits of 2**27.
_MAX_FRACTION_BITS = 27

# Pairs of kinds in which only null is stored exactly.
# - The stored value is of another kind: true is not 1, and 1 is not a moment.
# - A conversion between a timestamp and a date, a text or a timestamp without time zone depends on
#   the session's time zone. Another session reads another moment, and an hour that daylight saving
#   time repeats or skips is lost.
# - Bytes need not be UTF-8, and a variant contains more than the value that a cast returns.
_NEVER_EXACT = frozenset(
    {
        *(("boolean", number) for number in NUMBERS),
        *((number, "boolean") for number in NUMBERS),
        *((number, "timestamp") for number in NUMBERS),
        *(("timestamp", number) for number in NUMBERS),
        *(("interval", number) for number in NUMBERS),
        *((zoneless, "timestamp") for zoneless in ("string", "timestamp_ntz")),
        *(("timestamp", zoneless) for zoneless in ("date", "string", "timestamp_ntz")),
        ("binary", "string"),
        ("string", "binary"),
    }
)


@dataclass(frozen=True)
class ValueCheck:
    """Renders the check that a column stores a value exactly, and the error if it does not.

    Attributes:
        partition_columns: those, in lower case, whose values the table stores as text.
        shifts_moments: whether a timestamp in a partition depends on Java's time zone.
        texts: the types of columns that change some texts. A varchar of Delta's does not.
    """

    model: str
    table: str
    partition_columns: frozenset[str] = frozenset()
    shifts_moments: bool = False
    texts: tuple[type[DataType], ...] = (spark.CharType,)

    def has_to_check_partition(self, column: str, data_type: DataType) -> bool:
        """Return whether a column is a partition column that does not store all of its values."""
        return column.lower() in self.partition_columns and can_lose_values(data_type)

    def partition_sql(self, value: str, stored: str, column: str, data_type: DataType) -> str:
        """Render ``stored``, or a failure if a partition column does not store the value.

        The value is an SQL expression of the column's kind of type, and is used several times.
        """
        before = f"[{LOSSY_PARTITION_VALUE}] The model {self.model} has the value '"
        after = (
            f"' ({type_text(data_type)}) for the column {path_text((column,))} of {self.table}. "
            "The table is partitioned by this column. Partition values are stored as text, and "
            f"this text would be read as null or as another value. {END_OF_MESSAGE}"
        )
        failed = failure_sql(before, shown_sql(value, data_type), after)
        condition = stored_condition(value, data_type, self.shifts_moments)
        return f"case when {value} is null or ({condition}) then {stored} else {failed} end"

    def checked_sql(self, value: str, path: Path, source: DataType, column: DataType) -> str:
        """Render a value so that the statement fails if the column does not store it exactly.

        The value is an SQL expression of an atomic type, and is used several times.
        """
        failed = self._failure_sql(value, path, source, column)
        stored = _stored_sql(value, column)
        condition = exact_condition(value, source, column)
        if condition is None:
            return f"case when {value} is null then {_stored_sql('null', column)} else {failed} end"
        return f"case when {value} is null or ({condition}) then {stored} else {failed} end"

    def _failure_sql(self, value: str, path: Path, source: DataType, column: DataType) -> str:
        before = f"[{LOSSY_VALUE}] The model {self.model} has the value "
        after = (
            f" ({type_text(source)}) for the column {path_text(path)} of {self.table}, whose type "
            f"{type_text(column)} does not store it exactly. {END_OF_MESSAGE}"
        )
        return failure_sql(before, shown_sql(value, source), after)


def unchecked_columns_text(table: str, columns: Sequence[str]) -> str:
    """Render the warning about values that nothing checks. It is empty if there are no columns."""
    if not columns:
        return ""
    return (
        f"{table} may not store each value of these columns exactly: "
        f"{', '.join(path_text((name,)) for name in columns)}. on_lossy_write is warn, so that a "
        "value can be changed. Set on_lossy_write: error to stop at such a value; ignore hides "
        "this warning."
    )


def warn_unchecked_columns(table: str, columns: Sequence[str]) -> None:
    """Warn once of values that nothing checks. Under ``--warn-error``, this stops the run."""
    if columns:
        warn_once(unchecked_columns_text(table, columns))


def shown_sql(value: str, data_type: DataType) -> str:
    """Render the start of a value of any type as text for people."""
    shown = f"cast({value} as string)"
    if isinstance(data_type, CONTAINERS) or kind_of(data_type) == "variant":
        shown = f"to_json({value})"
    elif kind_of(data_type) == "binary":
        shown = f"hex({value})"
    return f"left({shown}, {_SHOWN_CHARACTERS})"


def _stored_sql(value: str, column: DataType) -> str:
    """Cast to the column's type, or to string for a char, because a cast would not pad it."""
    if isinstance(column, spark.CharType | spark.VarcharType):
        return f"cast({value} as string)"
    return f"cast({value} as {type_sql(column)})"


def never_exact(source: DataType, column: DataType) -> bool:
    """Return whether null is the only value of a type that a column stores exactly.

    Every other value becomes another kind of value, or depends on the time zone.
    """
    kinds = kind_of(source), kind_of(column)
    return kinds in _NEVER_EXACT or kinds[0] == "variant" or None in kinds


def exact_condition(value: str, source: DataType, column: DataType) -> str | None:
    """Render the condition under which a value that is not null is stored exactly.

    Args:
        column: the type of the column, for which ``store_assignment`` returns ``LOSSY``.

    Returns:
        A condition that is false or null if the value would be changed or refused, or None if no
        value is exact.

    Source:
        https://spark.apache.org/docs/latest/sql-ref-ansi-compliance.html#cast (try_cast)
    """
    if never_exact(source, column):
        return None
    if isinstance(column, spark.CharType):
        # A shorter text would be padded with spaces, and a longer one is refused.
        return f"char_length(cast({value} as string)) = {column.length}"
    if isinstance(column, spark.VarcharType):
        return f"char_length(cast({value} as string)) <= {column.length}"
    source_kind, column_kind = kind_of(source), kind_of(column)
    stored = f"try_cast({value} as {type_sql(column)})"
    back = f"try_cast({stored} as {type_sql(source)})"
    if source_kind == "string":
        # Compare texts, so that '007' is not 7. The casts remove a collation, under which different
        # texts can be equal.
        return f"cast({stored} as string) = cast({value} as string)"
    if source_kind == "integer" and column_kind == "decimal":
        return f"{stored} is not null"
    if source_kind == "integer" and column_kind == "floating":
        # 2**63 is out of range for bigint, but the cast returns the largest bigint.
        return f"try_cast({stored} as bigint) = {value} and {value} <> {_MAX_LONG}"
    if source_kind == "decimal" and column_kind == "floating":
        return _equals_floating(value, _scale(source), stored)
    if source_kind == "floating" and column_kind == "decimal":
        return _equals_floating(stored, _scale(column), value)
    if source_kind == "floating" and column_kind == "integer":
        bound = f"{2 ** INTEGER_BITS[type(column)]}.0"
        in_range = f"{value} >= -{_double(bound)} and {value} < {_double(bound)}"
        return f"{in_range} and {back} = {value}"
    return f"{back} = {value}"


def _equals_floating(number: str, scale: int, floating: str) -> str:
    """Render the condition under which a decimal and a binary floating-point number are equal.

    A cast can't decide it: Spark converts a floating-point number to decimal by its shortest
    decimal text. So the double closest to 0.1 becomes 0.1 again, although it is another number. The
    whole parts are compared as bigint. The fraction of the floating-point number has to be a
    multiple of ``2**-bits``, and is compared after both fractions are multiplied by ``2**bits``,
    which is exact on both sides. An exact fraction with n decimal digits (the ``scale`` of the
    decimal ``number``) has at most n binary digits.
    """
    exact = f"cast({floating} as double)"
    whole = f"try_cast({exact} as bigint)"
    conditions = [
        f"abs({exact}) < {_double(f'{2**63}.0')}",
        f"{whole} = try_cast({number} as bigint)",
    ]
    bits = min(scale, _MAX_FRACTION_BITS)
    fraction = f"({exact} - cast({whole} as double))"
    scaled = f"{fraction} * {_double(f'{2**bits}.0')}"
    decimals = f"({number} % 1)"
    kept = f"cast({decimals} as decimal({bits + 1},{bits}))"
    conditions += [
        f"{kept} = {decimals}",
        f"floor({scaled}) = {scaled}",
        f"{kept} * cast({2**bits} as decimal({len(str(2**bits))},0))"
        f" = cast(cast({scaled} as bigint) as decimal(10,0))",
    ]
    return " and ".join(conditions)


def _double(digits: str) -> str:
    return f"cast('{digits}' as double)"


def _scale(data_type: DataType) -> int:
    assert isinstance(data_type, spark.DecimalType)
    return int(data_type.scale)
