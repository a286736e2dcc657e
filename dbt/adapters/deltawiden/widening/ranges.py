"""Find what blocks a type change because the new type has a smaller range.

A date reaches to the year 5881580, and a timestamp only to 294247. ``ALTER TABLE`` reads no data:
with a later date in a file, it succeeds, and then no query can read that file.
"""

from collections.abc import Iterable, Iterator

from pyspark.sql.types import DataType, DateType, TimestampNTZType

from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.any_leaf import any_leaf_sql
from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.widening.refusals import Blocker, Reason

FIRST_DATE, LAST_DATE = "-290308-12-22", "+294247-01-10"
"""The first and the last day whose first moment is a 64-bit number of microseconds since 1970."""


def has_smaller_range(changes: Iterable[TypeChange]) -> bool:
    """Return whether the new type of a change does not have all values of the old one.

    A row that a deletion vector marks as deleted is in its file, which is read as a whole.
    """
    kinds = {(type(change.from_type), type(change.to_type)) for change in changes}
    return (DateType, TimestampNTZType) in kinds


def range_blockers(change: TypeChange, snapshot: TableSnapshot) -> Iterator[Blocker]:
    """Find the blockers of a type change in the values that the table has.

    One query finds a value that the new type does not have. It reads only the files whose
    statistics allow such a value.

    Source:
        measured on Delta 4.0 and 4.4; org.apache.spark.sql.catalyst.util.DateTimeUtils.daysToMicros
    """
    if not has_smaller_range([change]):
        return

    def out_of_range(value: str, data_type: DataType, path: Path) -> str | None:
        if path != change.path:
            return None
        return f"{value} < date'{FIRST_DATE}' or {value} > date'{LAST_DATE}'"

    column = snapshot.schema[change.path[0]]
    place = quote(column.name), column.dataType, (column.name,)
    condition = any_leaf_sql(*place, out_of_range)
    if condition and snapshot.has_row(condition):
        yield Blocker(Reason.OUT_OF_RANGE, condition)
