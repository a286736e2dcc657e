"""What has to be known of a table besides its schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.delta.protocol import (
    COLUMN_MAPPING,
    FEATURE_OF_WRITER_COMPATIBILITY,
    WIDENING_FEATURES,
    WRITER_COMPATIBILITY,
    Compatibility,
    is_true,
)
from dbt.adapters.deltawiden.delta.type_change import TypeChange

_CONSTRAINT = "delta.constraints."
_UNIFORM = "delta.universalFormat.enabledFormats"
_ICEBERG_PROPERTIES = (
    "delta.enableIcebergCompatV1",
    "delta.enableIcebergCompatV2",
    "delta.enableIcebergCompatV3",
    WRITER_COMPATIBILITY,
)
# Delta's protocol, "Writer Requirements for Type Widening": it is enough that the feature is
# supported.
_ICEBERG_FEATURES = frozenset(
    {"icebergCompatV1", "icebergCompatV2", "icebergCompatV3", FEATURE_OF_WRITER_COMPATIBILITY}
)


@dataclass(frozen=True)
class TableSnapshot:
    """What has to be known of a table besides its schema.

    Attributes:
        name: the table's name, quoted for a statement.
        engine: the versions that will run the statements.
        format: the provider, ``delta`` for a Delta table.
        properties: the table properties.
        features: the table features of its protocol.
        partition_columns: their names.
        clustering_columns: their names; of a nested one its first part.
        generated: the generated columns, each with its expression.
        identity: the names of the identity columns.
        defaults: the names of the columns with a default value.
        changes: the recorded type changes, where they were asked for; those of one leaf in the
            order in which they were made.
        schema: the table's schema, where it was asked for.
        files: how many data files it has, where the layout was asked for.
        corrects_statistics: whether the connection can correct the statistics of data files.
    """

    name: str
    engine: Engine
    format: str = "delta"
    properties: Mapping[str, str] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    partition_columns: tuple[str, ...] = ()
    clustering_columns: tuple[str, ...] = ()
    generated: Mapping[str, str] = field(default_factory=dict)
    identity: frozenset[str] = frozenset()
    defaults: frozenset[str] = frozenset()
    changes: tuple[TypeChange, ...] = ()
    schema: StructType = field(default_factory=StructType)
    files: int | None = None
    corrects_statistics: bool = False

    def has(self, table_property: str) -> bool:
        """Tell whether a boolean table property is true."""
        return is_true(self.properties, table_property)

    @property
    def widening_features(self) -> list[str]:
        """The table features of type widening: the stable one, its preview, or both."""
        return [each for each in WIDENING_FEATURES if each in self.features]

    @property
    def is_delta(self) -> bool:
        """Whether it is a Delta table."""
        return self.format == "delta"

    @property
    def column_mapping(self) -> str:
        """The mode of column mapping: ``none``, ``name`` or ``id``."""
        return self.properties.get(COLUMN_MAPPING, "none").lower()

    @property
    def constraints(self) -> dict[str, str]:
        """The CHECK constraints, each with its expression."""
        return {
            key.removeprefix(_CONSTRAINT): text
            for key, text in self.properties.items()
            if key.startswith(_CONSTRAINT)
        }

    @property
    def computed_columns(self) -> frozenset[str]:
        """The columns, in lower case, whose values Delta makes itself where a write has none."""
        return self.computed | frozenset(each.lower() for each in self.defaults)

    @property
    def computed(self) -> frozenset[str]:
        """The generated and identity columns, in lower case."""
        return frozenset(each.lower() for each in (*self.generated, *self.identity))

    @property
    def compatible_with(self) -> frozenset[Compatibility]:
        """The formats that the table itself keeps compatible with."""
        formats = self.properties.get(_UNIFORM, "").lower().replace(" ", "").split(",")
        is_iceberg = (
            "iceberg" in formats
            or bool(self.features & _ICEBERG_FEATURES)
            or any(self.has(each) for each in _ICEBERG_PROPERTIES)
        )
        return frozenset({Compatibility.ICEBERG_V2}) if is_iceberg else frozenset()

    @property
    def has_writer_compatibility(self) -> bool:
        """Whether IcebergWriterCompatV1 is on."""
        return self.has(WRITER_COMPATIBILITY) or FEATURE_OF_WRITER_COMPATIBILITY in self.features
