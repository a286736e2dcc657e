"""Names from Delta's protocol: table features and table properties."""

from collections.abc import Mapping, Set
from enum import Enum


class Compatibility(str, Enum):
    """Other formats with which a table can stay compatible when its types change."""

    ICEBERG_V2 = "iceberg_v2"
    DUCKLAKE = "ducklake"


FEATURE_PREFIX = "delta.feature."
SUPPORTED = "supported"
"""The prefix of the table property that marks a table feature as supported,
https://docs.delta.io/latest/versioning.html."""
TYPE_WIDENING_PROPERTY = "delta.enableTypeWidening"
ROW_TRACKING = "delta.enableRowTracking"
COLUMN_MAPPING = "delta.columnMapping.mode"
STATISTICS_AS_TEXT = "delta.checkpoint.writeStatsAsJson"
"""If this is false, checkpoints have the statistics of files only in the types of the columns."""
APPEND_ONLY = "delta.appendOnly"
CONSTRAINT = "delta.constraints."
"""The prefix of the table property that is a CHECK constraint."""
WRITER_COMPATIBILITY = {
    version: (f"delta.enableIcebergWriterCompat{version}", f"icebergWriterCompat{version}")
    for version in ("V1", "V3")
}
"""The table property and the table feature of each version of IcebergWriterCompat."""
TYPE_WIDENING_FEATURE = "typeWidening"
PREVIEW_FEATURE = "typeWidening-preview"
WIDENING_FEATURES = (TYPE_WIDENING_FEATURE, PREVIEW_FEATURE)
CATALOG_MANAGED_FEATURES = frozenset(
    {"catalogManaged", "catalogOwned-preview", "coordinatedCommits-preview"}
)
"""The table feature of a table whose commits its catalog accepts, and those of its previews."""
DELETION_VECTORS = "deletionVectors"
CHECKPOINT_PROTECTION_FEATURE = "checkpointProtection"


def is_true(properties: Mapping[str, str], name: str) -> bool:
    """Return whether a boolean table property is true in properties as Delta shows them."""
    return properties.get(name, "").lower() == "true"


_COMPUTED_COLUMN_FEATURES = frozenset(
    {"generatedColumns", "identityColumns", "allowColumnDefaults"}
)
# Delta's protocol, "Valid Feature Names in Table Features": the writer versions that have generated
# columns without naming the feature.
_LEGACY_WRITERS = ("4", "5", "6")


def may_have_computed_columns(features: Set[str], properties: Mapping[str, str]) -> bool:
    """Return whether a table can have columns that Delta computes if a write leaves them out."""
    writer = properties.get("delta.minWriterVersion")
    return writer in _LEGACY_WRITERS or bool(features & _COMPUTED_COLUMN_FEATURES)
