"""Find what blocks a change of a table's schema, apart from the rules for types."""

from collections.abc import Iterable, Iterator, Set

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, DateType, StructType, TimestampNTZType

from dbt.adapters.deltawiden.config.policy import Policy
from dbt.adapters.deltawiden.delta.engine import DELTA_3_2, Capability
from dbt.adapters.deltawiden.delta.float_statistics import is_float_to_double
from dbt.adapters.deltawiden.delta.protocol import (
    PREVIEW_FEATURE,
    TYPE_WIDENING_FEATURE,
    Compatibility,
)
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.any_leaf import any_leaf_sql
from dbt.adapters.deltawiden.sql.describe_parser import (
    AmbiguousType,
    declared_type,
    read_described,
)
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, quote
from dbt.adapters.deltawiden.sql.references import uses
from dbt.adapters.deltawiden.sql.types import (
    contains,
    every_type,
    fields_in,
    is_in_map_key,
    leaves,
    type_in,
    type_text,
)
from dbt.adapters.deltawiden.widening.refusals import Blocker, Reason
from dbt.adapters.deltawiden.widening.rules import Rule
from dbt.adapters.deltawiden.writing.store_assignment import is_storable

# The protocol change IcebergWriterCompatV1, "Allowed Supported list of features", and the features
# that may be supported but not active.
_V1_FEATURES = frozenset(
    {
        *("appendOnly", "columnMapping", "icebergWriterCompatV1", "icebergCompatV2"),
        *("domainMetadata", "vacuumProtocolCheck", "v2Checkpoint", "inCommitTimestamp"),
        *("clustering", "timestampNtz", "typeWidening"),
        *("invariants", "changeDataFeed", "checkConstraints"),
        *("identityColumns", "generatedColumns"),
    }
)
# Only Delta Kernel has V3: ``IcebergWriterCompatV3MetadataValidatorAndUpdater``.
_FEATURES_OF_WRITER_COMPATIBILITY = {
    "V1": _V1_FEATURES,
    "V3": _V1_FEATURES - {"icebergWriterCompatV1"}
    | {
        *("icebergCompatV3", "icebergWriterCompatV3", "deletionVectors", "allowColumnDefaults"),
        "rowTracking",
        *("variantType", "variantType-preview", "variantShredding", "variantShredding-preview"),
        *("geospatial", "checkpointProtection", "typeWidening-preview", "catalogManaged"),
    },
}

# DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE. The protocol's "Writer Requirements for
# IcebergCompatV2" lists the allowed types.
_NOT_IN_ICEBERG = {
    "icebergCompatV1": ("ArrayType", "MapType", "NullType"),
    "icebergCompatV2": ("NullType", "VariantType"),
    "icebergCompatV3": ("NullType",),
}

# DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES
_NEEDS_COLUMN_MAPPING = frozenset(" ,;{}()\n\t=")


def type_change_blockers(
    path: Path, to_type: DataType, rule: Rule, snapshot: TableSnapshot
) -> Iterator[Blocker]:
    """Find the blockers of a change of a leaf's type.

    Source:
        the error conditions in the comments, and the requirements of IcebergWriterCompat
    """
    is_text = issubclass(rule.from_type, spark.CharType | spark.VarcharType)
    yield from _any_change_blockers(path, snapshot, keeps_type=is_text)
    if path[0] in snapshot.generation_expressions:  # DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH
        yield Blocker(Reason.GENERATED, snapshot.generation_expressions[path[0]])
    if path[0] in snapshot.identity:  # DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED
        yield Blocker(Reason.IDENTITY)
    if rule.recorded and rule.since > DELTA_3_2 and _is_preview_only(snapshot):
        yield Blocker(Reason.PREVIEW_ONLY)
    yield from _writer_compatibility_blockers(to_type, snapshot, widens=rule.recorded)


def new_field_blockers(path: Path, new: DataType, snapshot: TableSnapshot) -> Iterator[Blocker]:
    """Find the blockers of a new column or nested field.

    Source:
        the error conditions in the comments, and the requirements of IcebergWriterCompat
    """
    if not snapshot.is_delta:
        return
    if is_beside_char(path, snapshot):
        yield Blocker(Reason.BESIDE_CHAR)
    unknown = [leaf for leaf in leaves(new) if not is_storable(leaf)]
    if unknown:  # DELTA_UNSUPPORTED_DATA_TYPES
        yield Blocker(Reason.NOT_STORABLE, type_text(unknown[0]))
    if _has_void(path, new, snapshot):  # DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE
        yield Blocker(Reason.VOID)
    if any(isinstance(each, StructType) and is_unwritable(each) for each in every_type(new)):
        yield Blocker(Reason.NO_TYPED_FIELD)
    if snapshot.column_mapping == "none":
        names = [path[-1], *_names(new)]
        if wrong := [name for name in names if _NEEDS_COLUMN_MAPPING & set(name)]:
            yield Blocker(Reason.NAME_NEEDS_COLUMN_MAPPING, quote(wrong[0]))
    yield from _of_iceberg(new, snapshot)
    for version in snapshot.writer_compatibility:
        # Spark names the new field's Parquet column after a UUID, not after its id (col-<id>).
        yield Blocker(Reason.WRITER_COMPATIBILITY_AND_NEW, name=version)
    yield from _writer_compatibility_blockers(new, snapshot, widens=False)


def drop_blockers(path: Path, snapshot: TableSnapshot) -> Iterator[Blocker]:
    """Find the blockers of dropping a column or nested field."""
    yield from _any_change_blockers(path, snapshot)
    if len(path) > 1 and not is_beside_char(path, snapshot) and _moves_varchar(path, snapshot):
        yield Blocker(Reason.DROP_BEFORE_VARCHAR)
    # DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN. Delta drops a struct with a clustering column in it,
    # and then can't read the table's clustering any more.
    if any(folded(column[: len(path)]) == folded(path) for column in snapshot.clustering_columns):
        yield Blocker(Reason.GONE_AND_CLUSTERED_BY)


def _moves_varchar(path: Path, snapshot: TableSnapshot) -> bool:
    """Return whether Delta would check the length of another nested field after a drop.

    Delta finds a varchar in a struct by the position that it had when the column was declared.

    Source:
        measured on Delta 4.4; org.apache.spark.sql.delta.constraints.CharVarcharConstraint
    """
    text = snapshot.declared_texts.get(path[0])
    if text is None:
        return False
    try:
        struct: DataType | None = read_described(text)
    except AmbiguousType:
        return True
    for part in path[1:-1]:
        struct = type_in(struct, part)
    fields = fields_in(struct) if struct is not None else []
    names = [field.name.lower() for field in fields]
    if path[-1].lower() not in names:  # It was renamed, and the declaration was not.
        return True
    moved = fields[names.index(path[-1].lower()) :]
    return any(contains(field.dataType, spark.VarcharType) for field in moved)


def is_unwritable(struct: StructType) -> bool:
    """Return whether no field of a struct has a type: Delta refuses to write any row with it.

    Source:
        DELTA_CANNOT_WRITE_EMPTY_SCHEMA; Delta's protocol, "Void Type"
    """
    return all(isinstance(field.dataType, spark.NullType) for field in struct.fields)


def leaves_no_type(path: Path, table: StructType, output: StructType) -> bool:
    """Return whether a struct, or the table, ``is_unwritable`` without what the output lacks.

    Args:
        path: the path of a column or nested field of the table that the model's output lacks.
    """
    before: DataType | None = table
    after: DataType | None = output
    for part in path[:-1]:
        before, after = type_in(before, part), type_in(after, part)
    types = [
        data_type
        for field in (fields_in(after) if after else ())
        for data_type in (field.dataType, type_in(before, field.name))
    ]
    return all(each is None or isinstance(each, spark.NullType) for each in types)


def _any_change_blockers(
    path: Path, snapshot: TableSnapshot, keeps_type: bool = False
) -> Iterator[Blocker]:
    if is_beside_char(path, snapshot):
        yield Blocker(Reason.BESIDE_CHAR)
    for version in snapshot.writer_compatibility:
        if is_in_map_key(path, snapshot.schema):
            yield Blocker(Reason.WRITER_COMPATIBILITY, "the key of a map never changes", version)
    if keeps_type:  # For Delta, a char and a varchar are a string with a check of its length.
        return
    for name, expression in snapshot.constraints.items():
        # DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE
        if uses(expression, path, snapshot.schema):
            yield Blocker(Reason.CONSTRAINT, expression, quote(name))
    for name, expression in snapshot.generation_expressions.items():
        # DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE
        if uses(expression, path, snapshot.schema):
            yield Blocker(Reason.INPUT_OF_GENERATED, expression, quote(name))


def is_beside_char(path: Path, snapshot: TableSnapshot) -> bool:
    """Return whether a nested field is in a column that contains a char.

    Delta changes the type of the column, but not the declaration of its char in the metadata. To
    pad the char, Spark builds the value again in the declared type: a bigint that was an int is cut
    to 32 bits, and a new field is left out.
    """
    if len(path) == 1:
        return False
    columns = (column for column in snapshot.schema if column.name.lower() == path[0].lower())
    return any(contains(declared_type(column), spark.CharType) for column in columns)


def _is_preview_only(snapshot: TableSnapshot) -> bool:
    return PREVIEW_FEATURE in snapshot.features and TYPE_WIDENING_FEATURE not in snapshot.features


def _writer_compatibility_blockers(
    becomes: DataType, snapshot: TableSnapshot, widens: bool
) -> Iterator[Blocker]:
    for version in snapshot.writer_compatibility:
        for detail in _against_writer_compatibility(version, becomes, snapshot, widens):
            yield Blocker(Reason.WRITER_COMPATIBILITY, detail, version)


def _against_writer_compatibility(
    version: str, becomes: DataType, snapshot: TableSnapshot, widens: bool
) -> Iterator[str]:
    if snapshot.column_mapping != "id":
        yield f"column mapping is {snapshot.column_mapping}, not id"
    for leaf in leaves(becomes):
        if isinstance(leaf, (spark.ByteType, spark.ShortType)):
            yield f"it does not allow the type {type_text(leaf)}"
    # Delta itself refuses to activate the features that may only be supported.
    others = _features_with(snapshot, widens) - _FEATURES_OF_WRITER_COMPATIBILITY[version]
    if others:
        yield f"it does not allow {', '.join(sorted(others))}"


def _features_with(snapshot: TableSnapshot, widens: bool) -> Set[str]:
    """Return the table's features after the change."""
    features = snapshot.features
    is_stable = snapshot.engine.can(Capability.STABLE_TYPE_WIDENING)
    if widens and not is_stable and TYPE_WIDENING_FEATURE not in features:
        return features | {PREVIEW_FEATURE}
    return features


def _of_iceberg(new: DataType, snapshot: TableSnapshot) -> Iterator[Blocker]:
    for feature, lacking in _NOT_IN_ICEBERG.items():
        if feature in snapshot.features:
            found = [inner for inner in every_type(new) if type(inner).__name__ in lacking]
            if found:
                yield Blocker(Reason.NOT_IN_ICEBERG, f"{feature}: {type_text(found[0])}")


def _has_void(path: Path, new: DataType, snapshot: TableSnapshot) -> bool:
    if not contains(new, spark.NullType):
        return False
    around: list[DataType | None] = [snapshot.schema]
    for part in path[:-1]:
        around.append(type_in(around[-1], part))
    inside = (inner for inner in every_type(new) if contains(inner, spark.NullType))
    return any(
        isinstance(each, (spark.ArrayType, spark.MapType)) for each in (*around, *inside)
    ) or not snapshot.engine.can(Capability.TYPE_A_VOID_COLUMN)


def _names(data_type: DataType) -> Iterator[str]:
    for inner in every_type(data_type):
        if isinstance(inner, spark.StructType):
            yield from inner.names


# The other rules that Iceberg V2 also has start with a type that no Iceberg column has: Iceberg
# stores tinyint and smallint as int, and char and varchar as string.
_FROM_TYPES = (spark.IntegerType, spark.FloatType, spark.DecimalType)
_INT = (spark.ByteType, spark.ShortType, spark.IntegerType)


def iceberg_blockers(
    change: TypeChange, rule: Rule | None, policy: Policy, table: StructType
) -> Iterator[Blocker]:
    """Find the blockers of a type change of an Iceberg table.

    An Iceberg table needs no property for it, and every reader of Iceberg can read the table
    afterwards. So it is made unless the model sets ``type_widening: false``.

    Source:
        https://iceberg.apache.org/spec/#schema-evolution: int to long, float to double, and a
        decimal with more digits and the same scale. Iceberg never changes the key of a map.
    """
    if rule is None or not _is_in_iceberg(rule) or is_in_map_key(change.path, table):
        yield Blocker(Reason.NOT_IN_ICEBERG_TABLES)
    elif policy.type_widening is False:
        yield Blocker(Reason.TURNED_OFF)


def formats_with(change: TypeChange, rule: Rule, table: StructType) -> frozenset[Compatibility]:
    """Return the other formats in which a table that they read, too, can have a type change."""
    is_int = rule.from_type in _INT and rule.to_type in _INT
    if is_int or not is_in_map_key(change.path, table):
        return rule.also_in_formats
    return rule.also_in_formats - {Compatibility.ICEBERG_V2}


def _is_in_iceberg(rule: Rule) -> bool:
    return rule.from_type in _FROM_TYPES and Compatibility.ICEBERG_V2 in rule.also_in_formats


FIRST_DATE, LAST_DATE = "-290308-12-22", "+294247-01-10"
"""The first and the last day whose first moment is a 64-bit number of microseconds since 1970."""


def has_smaller_range(changes: Iterable[TypeChange]) -> bool:
    """Return whether the new type of a change does not have all values of the old one.

    A row that a deletion vector marks as deleted is in its file, which is read as a whole.
    """
    kinds = {(type(change.from_type), type(change.to_type)) for change in changes}
    return (DateType, TimestampNTZType) in kinds


def range_blockers(change: TypeChange, snapshot: TableSnapshot) -> Iterator[Blocker]:
    """Find the blockers of a type change in the values that the table has.

    A date reaches to the year 5881580, and a timestamp only to 294247. ``ALTER TABLE`` reads no
    data: with a later date in a file, it succeeds, and then no query can read that file. One query
    finds such a value. It reads only the files whose statistics allow one.

    Source:
        measured on Delta 4.0 and 4.4; org.apache.spark.sql.catalyst.util.DateTimeUtils.daysToMicros
    """
    if not has_smaller_range([change]):
        return

    def out_of_range(value: str, data_type: DataType, path: Path) -> str | None:
        if path != change.path:
            return None
        return f"{value} < date'{FIRST_DATE}' or {value} > date'{LAST_DATE}'"

    column = snapshot.schema[change.path[0]]
    place = quote(column.name), column.dataType, (column.name,)
    condition = any_leaf_sql(*place, out_of_range)
    if condition and snapshot.has_row(condition):
        yield Blocker(Reason.OUT_OF_RANGE, condition)


def is_partition_column(path: Path, snapshot: TableSnapshot) -> bool:
    """Return whether a table is partitioned by a column, whose name is in any case."""
    return path[0].lower() in (column.lower() for column in snapshot.partition_columns)


def partition_blockers(change: TypeChange, snapshot: TableSnapshot) -> Iterator[Blocker]:
    """Find the blockers of a change of a partition column's type.

    Delta stores partition values as text, and an ``ALTER TABLE`` does not change the text.

    Source:
        Delta's protocol, "Partition Value Serialization"; measured on Delta 4.0 and 4.4
    """
    if is_float_to_double(change):
        yield Blocker(Reason.PARTITIONED_BY_FLOAT)
    elif changes_text(change) and not snapshot.engine.can(Capability.COMPARE_PARTITION_VALUES):
        yield Blocker(Reason.PARTITION_TEXT, "4.3")


def changes_text(change: TypeChange) -> bool:
    """Return whether a partition value has another text after a change of its type."""
    before, after = change.from_type, change.to_type
    if isinstance(after, spark.DecimalType):
        # An integer is a decimal without scale.
        scale = before.scale if isinstance(before, spark.DecimalType) else 0
        return after.scale != scale
    return isinstance(after, spark.DoubleType | spark.TimestampNTZType)
