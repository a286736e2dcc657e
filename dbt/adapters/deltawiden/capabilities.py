"""Declare for dbt what this adapter can do in addition to dbt-spark."""

from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.adapters.spark.impl import SparkAdapter

_FULL = CapabilitySupport(support=Support.Full)

CAPABILITIES = CapabilityDict(
    {
        **SparkAdapter._capabilities,
        Capability.GetCatalogForSingleRelation: _FULL,
        # Batches that run at once replace their own rows each, and are tried again after a
        # conflict.
        Capability.MicrobatchConcurrency: _FULL,
        Capability.SchemaMetadataByRelations: _FULL,
        # One table after the other: no statement reads the history of several tables.
        Capability.TableLastModifiedMetadata: _FULL,
    }
)
"""What ``dbt.adapters.capability`` names, and whether it is supported."""
