"""The names in Delta's protocol: table features and table properties."""

from collections.abc import Mapping
from enum import Enum


class Compatibility(str, Enum):
    """Formats besides Delta that a table's type changes can be kept within."""

    ICEBERG_V2 = "iceberg_v2"
    DUCKLAKE = "ducklake"


FEATURE = "delta.feature."
"""What the name of a table feature follows in a table property that supports it,
https://docs.delta.io/latest/versioning.html."""
ENABLED = "delta.enableTypeWidening"
ROW_TRACKING = "delta.enableRowTracking"
COLUMN_MAPPING = "delta.columnMapping.mode"
WRITER_COMPATIBILITY = "delta.enableIcebergWriterCompatV1"
FEATURE_OF_WRITER_COMPATIBILITY = "icebergWriterCompatV1"
TYPE_WIDENING_FEATURE = "typeWidening"
PREVIEW_FEATURE = "typeWidening-preview"
WIDENING_FEATURES = (TYPE_WIDENING_FEATURE, PREVIEW_FEATURE)
CHECKPOINT_PROTECTION_FEATURE = "checkpointProtection"


def is_true(properties: Mapping[str, str], name: str) -> bool:
    """Tell whether a boolean table property is true, among properties as Delta shows them."""
    return properties.get(name, "").lower() == "true"


def widening_feature(properties: Mapping[str, str]) -> str:
    """Name the table feature of type widening among properties; empty where there is none."""
    return next((each for each in WIDENING_FEATURES if FEATURE + each in properties), "")
