"""Find the values that a partition column does not store unchanged.

Spark writes the values of a partition as text into the name of its folder, and Delta reads them
back from that name. An empty text is read as null, and so is the text that represents null.
A moment is the value of a timestamp. Its text depends on a time zone.
"""

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError
from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.partition_columns import can_lose_values, partition_columns
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.sql.identifiers import path_text, quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.versions import Version

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""The text that represents null in the name of a partition's folder."""


# The first moment of the year 1 in UTC, in microseconds.
_FIRST_YEAR = -62_135_596_800_000_000

_JAVA_ZONE = "reflect('java.time.ZoneId', 'systemDefault')"

_TYPED_PARTITIONS = frozenset({"iceberg", "hudi"})


def keeps_partitions_as_text(file_format: str | None) -> bool:
    """Return whether tables of a format store the values of partition columns as text."""
    return file_format not in _TYPED_PARTITIONS


def has_moments(data_type: DataType) -> bool:
    """Return whether the texts of a type's values depend on a time zone."""
    return isinstance(data_type, spark.TimestampType)


def shifts_moments(delta: Version) -> bool:
    """Return whether a Delta version confuses the session's time zone with Java's in partitions."""
    return delta < (4, 1)


def stored_condition(value: str, data_type: DataType, shifts: bool = False) -> str | None:
    """Render the condition under which a partition column stores a value that is not null.

    None if it stores every value.

    Source:
        Delta's protocol, "Partition Value Serialization": "an empty string for any type translates
        to a null partition value". The folder's name contains the value as text. Bytes that are not
        UTF-8 are replaced in it. A timestamp is in the session's time zone and has no offset: in an
        hour that is repeated, it is read as the earlier one of the two moments. Since
        4.1, Delta writes the year of a timestamp without its era.
    """
    if not can_lose_values(data_type):
        return None
    if isinstance(data_type, spark.TimestampType):
        has_text = f"try_cast(cast({value} as string) as timestamp_ltz) = {value}"
        if shifts:
            return f"{has_text} and {_is_same_in_java_sql(value)}"
        return f"{has_text} and year({value}) > 0 and unix_micros({value}) >= {_FIRST_YEAR}"
    # Compare bytes, because different texts can be equal under a collation.
    null = f"cast({literal(NULL_PARTITION)} as binary)"
    return (
        f"octet_length({value}) > 0 and cast({value} as binary) <> {null} and {is_utf8_sql(value)}"
    )


class MomentsMoved(CompilationError):
    """Rows that are written again would get into other partitions. Nothing was written."""


def require_moments_kept(
    backend: SqlBackend, table: SparkRelation, schema: StructType | None = None
) -> None:
    """Check that a Delta table's rows stay in their partitions if a statement writes them again.

    Another session can have written a timestamp whose text in this session's time zone is read as
    another moment.

    Args:
        schema: the table's, with marked partition columns. Without it, it is read now.

    Raises:
        MomentsMoved: a partition would become another one.
    """
    if not table.is_delta:
        return
    if schema is None:
        moments = [f for f in backend.partition_schema(table) if has_moments(f.dataType)]
    else:
        marked = partition_columns(schema)
        moments = [f for f in schema if has_moments(f.dataType) and f.name.lower() in marked]
    if not moments:
        return
    shifts, name = shifts_moments(backend.engine().delta), relation_sql(table)
    for column in moments:
        value = quote(column.name)
        stored = str(stored_condition(value, column.dataType, shifts))
        if shifts:
            # As a call, it would keep Spark from choosing the partitions by the condition.
            ((zone,),) = backend.fetch_rows(f"select {_JAVA_ZONE}")
            stored = stored.replace(_JAVA_ZONE, literal(str(zone)))
        kept = f"{value} is null or coalesce({stored}"
        query = f"select cast({value} as string) from {name} where not ({kept}, false)) limit 1"
        for row in backend.fetch_rows(query):
            raise MomentsMoved(
                f"{name} has a partition with the value '{row[0]}' of {path_text((column.name,))}. "
                "Rows of a partition that are written again get the value that Spark reads from "
                f"its text. In the time zone of this session, {backend.time_zone()}, this would be "
                "another timestamp. The statement that writes these rows did not run. Run it with "
                f"spark.sql.session.timeZone: UTC {IN_PROFILE}"
                f"{_WITH_JAVA if shifts else ''}. This changes what models compute of dates and "
                "hours, so set it in a target of its own. Or partition the table by a date instead."
            )


IN_PROFILE = (
    "in the server_side_parameters of the profile (for method: thrift or http, "
    "set:hiveconf:spark.sql.session.timeZone)"
)
"""Where a user sets the session's time zone."""

_WITH_JAVA = ", and with a Spark whose Java was started with -Duser.timezone=UTC"


def is_utf8_sql(value: str) -> str:
    """Render the condition that the bytes of a string or binary that is not null are UTF-8."""
    # Convert through UTF-16, because Spark assumes that every text is valid UTF-8.
    decoded = f"decode(encode(cast({value} as string), 'UTF-16'), 'UTF-16')"
    return f"cast({decoded} as binary) = cast({value} as binary)"


def _is_same_in_java_sql(moment: str) -> str:
    zones = "current_timezone()", _JAVA_ZONE
    in_session, in_java = (f"to_utc_timestamp({moment}, {zone})" for zone in zones)
    # Compare the names of the zones first, because the latest timestamps can't be converted.
    return f"({zones[0]} = {zones[1]} or {in_session} = {in_java})"
