"""Values that a partition column does not store as they were written.

Spark names the folder of a partition by a text of its values, and Delta reads them out of that name
again. An empty text reads as null then, and so does the name that stands for null.
"""

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.partition_columns import can_lose_values
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.versions import Version

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""What stands for null in the name of a partition's folder."""


_JAVA_ZONE = "reflect('java.time.ZoneId', 'systemDefault')"

_TYPED_PARTITIONS = frozenset({"iceberg", "hudi"})


def keeps_partitions_as_text(file_format: str | None) -> bool:
    """Tell whether tables of a format store the values of partition columns as texts."""
    return file_format not in _TYPED_PARTITIONS


def has_moments(data_type: DataType) -> bool:
    """Tell whether a partition column's values depend on time zones."""
    return isinstance(data_type, spark.TimestampType)


def shifts_moments(delta: Version) -> bool:
    """Tell whether a version of Delta takes the session's time zone for Java's in a partition."""
    return delta < (4, 1)


def stored_condition(value: str, data_type: DataType, shifts: bool = False) -> str | None:
    """Render the condition under which a partition column stores a value that is not null.

    Args:
        value: an SQL expression of the column's type.
        data_type: that type.
        shifts: what ``shifts_moments`` says of the Delta that writes.

    Returns:
        A condition; None where the column stores every value.

    Source:
        Delta's protocol, "Partition Value Serialization": "an empty string for any type translates
        to a null partition value". The folder's name has the value as text, in which bytes that are
        no UTF-8 are replaced, and a timestamp is one of the session's time zone: without its
        offset, of the two moments in an hour that repeats it is the earlier one.
    """
    if not can_lose_values(data_type):
        return None
    if isinstance(data_type, spark.TimestampType):
        stored = f"try_cast(cast({value} as string) as timestamp) = {value}"
        return f"{stored} and {_is_same_in_java_sql(value)}" if shifts else stored
    # As bytes: a collation can take different texts for the same.
    stored = f"cast({value} as binary)"
    # By UTF-16, because Spark takes a text for UTF-8 whatever its bytes are.
    decoded = f"decode(encode(cast({value} as string), 'UTF-16'), 'UTF-16')"
    null = f"cast({literal(NULL_PARTITION)} as binary)"
    return (
        f"octet_length({value}) > 0 and {stored} <> {null} and cast({decoded} as binary) = {stored}"
    )


def _is_same_in_java_sql(moment: str) -> str:
    zones = "current_timezone()", _JAVA_ZONE
    in_session, in_java = (f"to_utc_timestamp({moment}, {zone})" for zone in zones)
    # The zones' names first: the last moments that there are can't be converted.
    return f"({zones[0]} = {zones[1]} or {in_session} = {in_java})"
