"""What one read of a Delta table's log finds."""

from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql.types import StructType


class DeltaTable(NamedTuple):
    """What the log of a Delta table says of it.

    Attributes:
        comment: the comment on the table.
        properties: the table properties, and the table features as properties.
    """

    schema: StructType
    comment: str | None
    properties: Mapping[str, str]
