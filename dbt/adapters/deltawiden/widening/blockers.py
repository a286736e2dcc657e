"""What a table holds that stands in the way of a change, whatever the types are."""

from collections.abc import Iterator

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.engine import DELTA_3_2, DELTA_4_0, Capability
from dbt.adapters.deltawiden.delta.protocol import PREVIEW_FEATURE, TYPE_WIDENING_FEATURE
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.sql.references import uses
from dbt.adapters.deltawiden.sql.types import every_type, leaves, type_text
from dbt.adapters.deltawiden.widening.refusals import Blocker, Reason
from dbt.adapters.deltawiden.widening.rules import Rule
from dbt.adapters.deltawiden.writing.store_assignment import is_storable

# The protocol change IcebergWriterCompatV1, "Allowed Supported list of features", and the legacy
# features that may be supported; whether those are active Delta checks when they are made so.
_FEATURES_OF_WRITER_COMPATIBILITY = frozenset(
    {
        *("appendOnly", "columnMapping", "icebergWriterCompatV1", "icebergCompatV2"),
        *("domainMetadata", "vacuumProtocolCheck", "v2Checkpoint", "inCommitTimestamp"),
        *("clustering", "timestampNtz", "typeWidening"),
        *("invariants", "changeDataFeed", "checkConstraints"),
        *("identityColumns", "generatedColumns"),
    }
)

# DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE; the protocol's "Writer Requirements for
# IcebergCompatV2" has the list of what is allowed.
_NOT_IN_ICEBERG = {
    "icebergCompatV1": ("ArrayType", "MapType", "NullType"),
    "icebergCompatV2": ("NullType", "VariantType"),
    "icebergCompatV3": ("NullType",),
}

# DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES
_NEEDS_COLUMN_MAPPING = frozenset(" ,;{}()\n\t=")


def type_change_blockers(
    path: Path, to_type: DataType, rule: Rule, facts: TableSnapshot
) -> Iterator[Blocker]:
    """Find what stands in the way of changing a leaf's type.

    Args:
        path: the leaf.
        to_type: the type it is to become.
        rule: the rule that permits the change.
        facts: the table.

    Returns:
        The obstacles; each is a refusal of its own.

    Source:
        the engine conditions named beside each, and IcebergWriterCompatV1's requirements
    """
    yield from _any_change_blockers(path, facts)
    if path[0] in facts.generated:  # DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH
        yield Blocker(Reason.GENERATED, facts.generated[path[0]])
    if path[0] in facts.identity:  # DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED
        yield Blocker(Reason.IDENTITY)
    if rule.recorded and rule.since > DELTA_3_2 and _is_preview_only(facts):
        yield Blocker(Reason.PREVIEW_ONLY)
    if facts.has_writer_compatibility:
        yield from _writer_compatibility_blockers(to_type, facts, widens=rule.recorded)


def new_field_blockers(path: Path, new: DataType, facts: TableSnapshot) -> Iterator[Blocker]:
    """Find what stands in the way of adding a column or nested field.

    Args:
        path: where it is to be.
        new: its type.
        facts: the table.

    Returns:
        The obstacles; each is a refusal of its own.

    Source:
        the engine conditions named beside each, and IcebergWriterCompatV1's requirements
    """
    if not facts.is_delta:
        return
    unknown = [each for each in leaves(new) if not is_storable(each)]
    if unknown:  # DELTA_UNSUPPORTED_DATA_TYPES
        yield Blocker(Reason.NOT_STORABLE, type_text(unknown[0]))
    if _has_void(path, new, facts):  # DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE
        yield Blocker(Reason.VOID)
    if facts.column_mapping == "none":
        names = [path[-1], *_names(new)]
        wrong = [each for each in names if _NEEDS_COLUMN_MAPPING & set(each)]
        if wrong:
            yield Blocker(Reason.NAME_NEEDS_COLUMN_MAPPING, quote(wrong[0]))
    yield from _of_iceberg(new, facts)
    if facts.has_writer_compatibility:
        # Spark names the new field's Parquet column after a UUID, not col-<id>.
        yield Blocker(Reason.WRITER_COMPATIBILITY_AND_NEW)
        yield from _writer_compatibility_blockers(new, facts, widens=False)


def drop_blockers(path: Path, facts: TableSnapshot) -> Iterator[Blocker]:
    """Find what stands in the way of dropping a column or nested field.

    Args:
        path: the column or field.
        facts: the table.

    Returns:
        The obstacles; each is a refusal of its own.
    """
    yield from _any_change_blockers(path, facts)
    folded = [each.lower() for each in facts.clustering_columns]
    if path[0].lower() in folded:  # DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN
        yield Blocker(Reason.GONE_AND_CLUSTERED_BY)


def _any_change_blockers(path: Path, facts: TableSnapshot) -> Iterator[Blocker]:
    for name, expression in facts.constraints.items():
        if uses(expression, path):  # DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE
            yield Blocker(Reason.CONSTRAINT, expression, quote(name))
    for name, expression in facts.generated.items():
        if uses(expression, path):  # DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE
            yield Blocker(Reason.INPUT_OF_GENERATED, expression, quote(name))


def _is_preview_only(facts: TableSnapshot) -> bool:
    return PREVIEW_FEATURE in facts.features and TYPE_WIDENING_FEATURE not in facts.features


def _writer_compatibility_blockers(
    becomes: DataType, facts: TableSnapshot, widens: bool
) -> Iterator[Blocker]:
    if facts.column_mapping != "id":
        yield Blocker(
            Reason.WRITER_COMPATIBILITY, f"column mapping is {facts.column_mapping}, not id"
        )
    forbidden = (spark.ByteType, spark.ShortType)
    for leaf in leaves(becomes):
        if isinstance(leaf, forbidden):
            yield Blocker(Reason.WRITER_COMPATIBILITY, f"a table with it has no {type_text(leaf)}")
    features = set(facts.features)
    if widens and facts.engine.delta < DELTA_4_0 and TYPE_WIDENING_FEATURE not in features:
        features.add(PREVIEW_FEATURE)  # which is what this Delta turns on
    others = sorted(features - _FEATURES_OF_WRITER_COMPATIBILITY)
    if others:
        yield Blocker(Reason.WRITER_COMPATIBILITY, f"it allows no {', '.join(others)}")


def _of_iceberg(new: DataType, facts: TableSnapshot) -> Iterator[Blocker]:
    for feature, lacking in _NOT_IN_ICEBERG.items():
        if feature in facts.features:
            found = [each for each in every_type(new) if type(each).__name__ in lacking]
            if found:
                yield Blocker(Reason.NOT_IN_ICEBERG, f"{feature}: {type_text(found[0])}")


def _has_void(path: Path, new: DataType, facts: TableSnapshot) -> bool:
    if not any(isinstance(each, spark.NullType) for each in leaves(new)):
        return False
    collections = (spark.ArrayType, spark.MapType)
    in_collection = any(isinstance(each, collections) for each in every_type(new)) or any(
        part in ("element", "key", "value") for part in path[1:-1]
    )
    return in_collection or not facts.engine.can(Capability.TYPE_A_VOID_COLUMN)


def _names(data_type: DataType) -> Iterator[str]:
    for each in every_type(data_type):
        if isinstance(each, spark.StructType):
            yield from each.names
