"""What Delta says of a table and what the server says of itself, as values."""

import json
from collections.abc import Mapping
from typing import Any

from dbt.adapters.deltawiden.delta.column_metadata import ColumnMetadata, read_metadata
from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.delta.protocol import FEATURE
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows, newest_schema

_FEATURES_IN_METADATA = frozenset({"generatedColumns", "identityColumns", "allowColumnDefaults"})
# Delta's protocol, "Valid Feature Names in Table Features": the writer versions that have generated
# columns without naming the feature.
_LEGACY_WRITERS = ("4", "5", "6")


def read_snapshot(
    name: str, engine: Engine, fetch_rows: FetchRows, layout: bool = False, changes: bool = False
) -> TableSnapshot:
    """FetchRows for what has to be known of a Delta table besides its schema.

    ``SHOW TBLPROPERTIES`` has the properties and the table features. ``DESCRIBE DETAIL`` has them
    too, but counts the files, for which Delta must read the table's whole state: seconds, where the
    former takes a fraction of one. So it is asked only for what it alone has.

    Args:
        name: the table's name, quoted for a statement.
        engine: the versions that will run the table's statements.
        fetch_rows: runs a query.
        layout: whether the partitioning and clustering columns, and the number of files, are
            wanted.
        changes: whether the recorded type changes are wanted.

    Returns:
        The facts.

    Source:
        https://docs.delta.io/latest/versioning.html (table features as table properties)
    """
    listed = read_properties(name, fetch_rows)
    features = {key.removeprefix(FEATURE) for key in listed if key.startswith(FEATURE)}
    reads_log = changes or may_have_made_columns(features, listed)
    detail = _detail(name, fetch_rows) if layout or reads_log else {}
    metadata = _metadata_at(detail, fetch_rows) if reads_log else ColumnMetadata()
    return TableSnapshot(
        name=name,
        engine=engine,
        properties={key: text for key, text in listed.items() if not key.startswith(FEATURE)},
        features=frozenset(features),
        partition_columns=_names(detail, "partitionColumns"),
        clustering_columns=_names(detail, "clusteringColumns"),
        generated=dict(metadata.generated),
        identity=frozenset(metadata.identity),
        defaults=frozenset(metadata.defaults),
        changes=metadata.changes,
        files=_files(detail),
    )


def read_properties(name: str, fetch_rows: FetchRows) -> dict[str, str]:
    """FetchRows for a table's properties, among which Delta lists the supported table features.

    Args:
        name: the table's name, quoted for a statement.
        fetch_rows: runs a query.

    Returns:
        The properties.
    """
    return {str(row[0]): str(row[1]) for row in fetch_rows(f"show tblproperties {name}")}


def read_partition_columns(name: str, fetch_rows: FetchRows) -> tuple[str, ...]:
    """FetchRows for the names of a table's partition columns, in their order.

    Args:
        name: the table's name, quoted for a statement.
        fetch_rows: runs a query.

    Returns:
        The names; none where the table is not partitioned.
    """
    return _names(_detail(name, fetch_rows), "partitionColumns")


def _files(detail: Mapping[str, Any]) -> int | None:
    count = detail.get("numFiles")
    return int(count) if count is not None else None


def _metadata_at(detail: Mapping[str, Any], fetch_rows: FetchRows) -> ColumnMetadata:
    return read_metadata(newest_schema(str(detail["location"]), fetch_rows))


def _detail(name: str, fetch_rows: FetchRows) -> Mapping[str, Any]:
    detail: Mapping[str, Any] = fetch_rows(f"describe detail {name}")[0]
    return detail


def may_have_made_columns(features: set[str], properties: Mapping[str, str]) -> bool:
    """Tell whether a table can have columns whose values Delta makes where a write has none."""
    writer = properties.get("delta.minWriterVersion")
    return writer in _LEGACY_WRITERS or bool(features & _FEATURES_IN_METADATA)


def _names(detail: Mapping[str, Any], key: str) -> tuple[str, ...]:
    # dbt reads a list in a result as JSON.
    found = detail.get(key) or "[]"
    return tuple(json.loads(found) if isinstance(found, str) else found)
