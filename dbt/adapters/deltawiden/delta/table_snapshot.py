"""Read the properties, features and column metadata of a table."""

import json
from collections.abc import Callable, Mapping
from copy import copy
from functools import cached_property
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.column_metadata import (
    ColumnMetadata,
    earlier_changes,
    read_metadata,
)
from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.delta.protocol import (
    CATALOG_MANAGED_FEATURES,
    COLUMN_MAPPING,
    CONSTRAINT,
    FEATURE_PREFIX,
    STATISTICS_AS_TEXT,
    WIDENING_FEATURES,
    WRITER_COMPATIBILITY,
    Compatibility,
    is_true,
    may_have_computed_columns,
)
from dbt.adapters.deltawiden.delta.transaction_log import (
    FetchRows,
    changed_schemas,
    newest_schema,
    parsed,
)
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.describe_parser import names_with_default
from dbt.adapters.deltawiden.sql.identifiers import Path, quote, read_name
from dbt.adapters.deltawiden.sql.types import type_sql

REDACTED = "*********(redacted)"
"""What Spark shows in place of a value with a word that looks like a secret."""

_CLUSTERING = "clusteringColumns"
_UNIFORM = "delta.universalFormat.enabledFormats"
_ICEBERG_PROPERTIES = (
    "delta.enableIcebergCompatV1",
    "delta.enableIcebergCompatV2",
    "delta.enableIcebergCompatV3",
    *(name for name, _ in WRITER_COMPATIBILITY.values()),
)
# Delta's protocol, "Writer Requirements for Type Widening": it is enough that the feature is
# supported.
_ICEBERG_FEATURES = frozenset(
    {
        *("icebergCompatV1", "icebergCompatV2", "icebergCompatV3"),
        *(feature for _, feature in WRITER_COMPATIBILITY.values()),
    }
)


class TableSnapshot:
    """The state of a table as Spark and Delta report it. Each query runs when it is first needed.

    ``SHOW TBLPROPERTIES`` returns the properties and the table features. ``DESCRIBE DETAIL`` also
    counts the files. For that, Delta reads the whole state of the table, which can take seconds.
    Only the transaction log contains the metadata of the columns.

    Args:
        format: the provider. A table of another format than ``delta`` has no properties here.
        corrects_statistics: whether the connection can correct the statistics of data files.

    Source:
        https://docs.delta.io/latest/versioning.html (table features as table properties)
    """

    def __init__(
        self,
        name: str,
        read_engine: Callable[[], Engine],
        fetch_rows: FetchRows,
        format: str = "delta",
        schema: StructType | None = None,
        corrects_statistics: bool = False,
    ) -> None:
        self.name = name
        self._read_engine = read_engine
        self.format = format
        self.schema = schema or StructType()
        self._corrects_statistics = corrects_statistics
        self._fetch_rows = fetch_rows
        self._rows = name
        self._renamed: Callable[[str], str] = lambda name: name

    def with_properties(self, properties: Mapping[str, str]) -> "TableSnapshot":
        """Return a snapshot of the same table with additional properties."""
        changed = copy(self)
        changed.properties = {**self.properties, **properties}
        return changed

    def with_clustering(self, columns: tuple[Path, ...]) -> "TableSnapshot":
        """Return a snapshot of the same table with other clustering columns."""
        changed = copy(self)
        changed.clustering_columns = columns
        return changed

    def with_names(self, schema: StructType, rename: Callable[[Path], Path]) -> "TableSnapshot":
        """Return a snapshot after columns were renamed, with its schema in the same order."""
        changed = copy(self)
        columns = (
            quote(now.name)
            if now == after
            else f"cast({quote(now.name)} as {type_sql(after.dataType)}) as {quote(after.name)}"
            for now, after in zip(self.schema, schema, strict=True)
        )
        changed._rows = f"(select {', '.join(columns)} from {self._rows})"
        changed.schema = schema
        changed.clustering_columns = tuple(map(rename, self.clustering_columns))
        changed.partition_columns = tuple(rename((name,))[0] for name in self.partition_columns)
        changed.generation_expressions = {
            rename((name,))[0]: text for name, text in self.generation_expressions.items()
        }
        changed.identity = frozenset(rename((name,))[0] for name in self.identity)
        changed.defaults = frozenset(rename((name,))[0] for name in self.defaults)
        changed._renamed = lambda name: rename((self._renamed(name),))[0]
        return changed

    def read_now(self) -> "TableSnapshot":
        """Read the properties and features now, before they can change."""
        _ = self.all_properties
        return self

    @cached_property
    def engine(self) -> Engine:
        """The versions of Spark and Delta that run the table's statements."""
        return self._read_engine()

    @cached_property
    def all_properties(self) -> Mapping[str, str]:
        """The rows of SHOW TBLPROPERTIES: the properties, and the table features as properties."""
        if not self.is_delta:
            return {}
        rows = self._fetch_rows(f"show tblproperties {self.name}")
        shown = {str(row[0]): str(row[1]) for row in rows}
        return {**shown, **self._hidden} if REDACTED in shown.values() else shown

    @property
    def _hidden(self) -> Mapping[str, str]:
        """The properties that can have values which Spark hides, because a word looks secret.

        The words, such as url and token, can be in the name of a column. DESCRIBE DETAIL hides
        nothing.

        Source:
            ``spark.sql.redaction.options.regex`` and ``spark.redaction.regex``
        """
        clustered = map(read_name, _names(self._detail, "clusteringColumns"))
        clustering = {_CLUSTERING: json.dumps(list(clustered))}
        return {**parsed(self._detail["properties"]), **clustering}

    @cached_property
    def _detail(self) -> Mapping[str, Any]:
        if not self.is_delta:
            return {}
        detail: Mapping[str, Any] = self._fetch_rows(f"describe detail {self.name}")[0]
        return detail

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """The table properties."""
        return {
            key: text
            for key, text in self.all_properties.items()
            if not key.startswith(FEATURE_PREFIX)
        }

    @cached_property
    def features(self) -> frozenset[str]:
        """The table features of its protocol."""
        return frozenset(
            key.removeprefix(FEATURE_PREFIX)
            for key in self.all_properties
            if key.startswith(FEATURE_PREFIX)
        )

    @cached_property
    def location(self) -> str:
        """The path of the table's directory, whose log has every commit: ``require_own_log``."""
        self.require_own_log()
        return str(self._detail["location"])

    def require_own_log(self) -> None:
        """Check that the files of the table's log have every commit.

        Raises:
            DbtRuntimeError: the table is managed by its catalog, which can have newer commits.

        Source:
            https://github.com/delta-io/delta/blob/master/protocol_rfcs/catalog-managed.md
        """
        if found := self.features & CATALOG_MANAGED_FEATURES:
            raise DbtRuntimeError(
                f"{self.name} is managed by its catalog (table feature {', '.join(found)}): the "
                "newest commits can be in the catalog alone, so the files of the table's log do "
                "not say what is in the table now. dbt-deltawiden does not read or change such a "
                "log. Models without generated, identity or default columns can be run; for "
                "maintenance, use what the catalog offers."
            )

    @cached_property
    def description(self) -> str | None:
        """The comment on the table."""
        return self._detail["description"] or None

    @cached_property
    def partition_columns(self) -> tuple[str, ...]:
        """The names of the columns that the table is partitioned by."""
        return _names(self._detail, "partitionColumns")

    @cached_property
    def clustering_columns(self) -> tuple[Path, ...]:
        """The paths of the columns and nested fields that the table is clustered by.

        Source:
            Delta's ``DeltaTableV2.properties``, which lists them from the transaction log, in the
            names of the schema. DESCRIBE DETAIL has the same, as text, and also counts the files.
        """
        return tuple(map(tuple, json.loads(self.all_properties.get(_CLUSTERING, "[]"))))

    @cached_property
    def files(self) -> int | None:
        """The number of data files. None if Delta does not count them."""
        count = self._detail.get("numFiles")
        return int(count) if count is not None else None

    def has_row(self, condition: str) -> bool:
        """Return whether a row of the table meets a condition. This runs a query."""
        return bool(self._fetch_rows(f"select 1 from {self._rows} where {condition} limit 1"))

    @cached_property
    def size(self) -> int:
        """The size of the data files in bytes. 0 if Delta does not say."""
        return int(self._detail.get("sizeInBytes") or 0)

    @cached_property
    def column_metadata(self) -> ColumnMetadata:
        """The metadata of the columns, from the transaction log."""
        if not self.is_delta:
            return ColumnMetadata()
        return read_metadata(self._logged_schema)

    @cached_property
    def _logged_schema(self) -> str:
        return newest_schema(self.location, self._fetch_rows)

    @cached_property
    def changes(self) -> tuple[TypeChange, ...]:
        """The recorded type changes. Those of one leaf are in the order in which they were made."""
        return self.column_metadata.changes

    @cached_property
    def changes_in_log(self) -> tuple[TypeChange, ...]:
        """The type changes in all versions left in its log, also after the feature was dropped."""
        if not self.is_delta:
            return ()
        earlier = changed_schemas(self.location, self._fetch_rows, str(self._detail["id"]))
        return earlier_changes(self._logged_schema, (self._logged_schema, *earlier))

    @property
    def declared_texts(self) -> Mapping[str, str]:
        """The columns that are, or contain, a char or varchar, each with its declared type."""
        return {self._renamed(name): text for name, text in self.column_metadata.texts}

    @cached_property
    def generation_expressions(self) -> Mapping[str, str]:
        """The generated columns, each with its expression."""
        return dict(self._computed.generated)

    @property
    def comparable_expressions(self) -> Mapping[str, str]:
        """The ``generation_expressions`` without those of chars, which Spark pads for readers."""
        return {
            name: text
            for name, text in self.generation_expressions.items()
            if not self.declared_texts.get(name, "").startswith("char")
        }

    @cached_property
    def identity(self) -> frozenset[str]:
        """The names of the identity columns."""
        return frozenset(self._computed.identity)

    @cached_property
    def defaults(self) -> frozenset[str]:
        """The names of the columns with a default value."""
        if self.is_delta:
            return frozenset(self._computed.defaults)
        rows = self._fetch_rows(f"describe table {self.name}")
        return frozenset(names_with_default((str(row[0]), str(row[1] or "")) for row in rows))

    @property
    def _computed(self) -> ColumnMetadata:
        # Most tables can't have such columns. Then there is no need to read the log.
        may_have = may_have_computed_columns(self.features, self.properties)
        return self.column_metadata if may_have else ColumnMetadata()

    def has(self, table_property: str) -> bool:
        """Return whether a boolean table property is true."""
        return is_true(self.properties, table_property)

    @property
    def corrects_statistics(self) -> bool:
        """Whether the statistics of its data files can be corrected in its log."""
        can_correct = self._corrects_statistics and not self.features & CATALOG_MANAGED_FEATURES
        return can_correct and self.keeps_statistics_as_text

    @property
    def keeps_statistics_as_text(self) -> bool:
        """Whether its checkpoints have the text of each bound, as the commits have it.

        Source:
            Delta's ``FileBasedCheckpointProvider``: it makes the text anew of a float
        """
        return self.properties.get(STATISTICS_AS_TEXT, "").lower() != "false"

    @property
    def widening_features(self) -> list[str]:
        """The table features of type widening: the stable one, its preview, or both."""
        return [feature for feature in WIDENING_FEATURES if feature in self.features]

    @property
    def is_delta(self) -> bool:
        """Whether it is a Delta table."""
        return self.format == "delta"

    @property
    def is_iceberg(self) -> bool:
        """Whether it is an Iceberg table. A Delta table that Iceberg can also read is not one."""
        return self.format == "iceberg"

    @property
    def column_mapping(self) -> str:
        """The mode of column mapping: ``none``, ``name`` or ``id``."""
        return self.properties.get(COLUMN_MAPPING, "none").lower()

    @property
    def constraints(self) -> dict[str, str]:
        """The CHECK constraints, each with its expression."""
        return {
            key.removeprefix(CONSTRAINT): text
            for key, text in self.properties.items()
            if key.startswith(CONSTRAINT)
        }

    @property
    def computed_columns(self) -> frozenset[str]:
        """The columns, in lower case, that get a value if a write leaves them out."""
        return self.generated_or_identity_columns | frozenset(
            column.lower() for column in self.defaults
        )

    @property
    def generated_or_identity_columns(self) -> frozenset[str]:
        """The generated and identity columns, in lower case."""
        return frozenset(
            column.lower() for column in (*self.generation_expressions, *self.identity)
        )

    @property
    def compatible_with(self) -> frozenset[Compatibility]:
        """The formats with which the table stays compatible because of its own settings."""
        formats = self.properties.get(_UNIFORM, "").lower().replace(" ", "").split(",")
        is_iceberg = (
            "iceberg" in formats
            or bool(self.features & _ICEBERG_FEATURES)
            or any(self.has(name) for name in _ICEBERG_PROPERTIES)
        )
        return frozenset({Compatibility.ICEBERG_V2}) if is_iceberg else frozenset()

    @property
    def writer_compatibility(self) -> list[str]:
        """The versions of IcebergWriterCompat that are on."""
        return [
            version
            for version, (name, feature) in WRITER_COMPATIBILITY.items()
            if self.has(name) or feature in self.features
        ]


def _names(detail: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(parsed(detail.get(key) or []))
