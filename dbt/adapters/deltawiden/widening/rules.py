"""The rules: which type changes formats and engines can make in place."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.engine import DELTA_3_2, DELTA_4_0, Capability
from dbt.adapters.deltawiden.delta.protocol import FEATURE_PREFIX, SUPPORTED, Compatibility
from dbt.adapters.deltawiden.sql.types import leaves
from dbt.adapters.deltawiden.sql.versions import Version


class Scale(Enum):
    """How the scale of a decimal changes in a widening."""

    KEPT = "kept"
    GROWN = "grown"


@dataclass(frozen=True)
class Rule:
    """One permitted type change.

    Attributes:
        manual: whether only a person may request the change, and never a write.
        integer_digits: if the new type is decimal, the minimum number of digits before the decimal
            point that Delta requires.
        feature: a table feature that the new type needs in the protocol.
        recorded: whether Delta treats it as a type change, which needs the table property and is
            recorded in the schema. Delta does not record a longer varchar.
        nested: whether the change is also possible inside a struct, array or map. The length of a
            nested char or varchar does not change, even if the statement succeeds.
    """

    from_type: type[DataType]
    to_type: type[DataType]
    since: Version
    manual: bool = False
    integer_digits: int = 0
    scale: Scale | None = None
    feature: str | None = None
    recorded: bool = True
    nested: bool = True
    also_in_formats: frozenset[Compatibility] = frozenset()


_BOTH = frozenset({Compatibility.ICEBERG_V2, Compatibility.DUCKLAKE})
_DUCKLAKE = frozenset({Compatibility.DUCKLAKE})


def _rules_for_text() -> Iterator[Rule]:
    """Yield the rules for a longer varchar or a string: only the check of the length changes."""
    for from_type in (spark.CharType, spark.VarcharType):
        for to_type in (spark.VarcharType, spark.StringType):
            yield Rule(
                from_type, to_type, DELTA_3_2, recorded=False, nested=False, also_in_formats=_BOTH
            )


def _rules_for_void() -> Iterator[Rule]:
    """Yield the rules for a void column: it can become any type, and Delta records no change."""
    storable: list[type[DataType]] = [
        spark.ByteType,
        spark.ShortType,
        spark.IntegerType,
        spark.LongType,
        spark.FloatType,
        spark.DoubleType,
        spark.DecimalType,
        spark.StringType,
        spark.VarcharType,
        spark.CharType,
        spark.BinaryType,
        spark.BooleanType,
        spark.DateType,
        spark.TimestampType,
        spark.TimestampNTZType,
    ]
    if hasattr(spark, "VariantType"):  # Spark 4.0
        storable.append(spark.VariantType)
    since = Capability.TYPE_A_VOID_COLUMN.value.delta
    with_length = (spark.CharType, spark.VarcharType)
    for to_type in storable:
        nested = to_type not in with_length
        yield Rule(
            spark.NullType, to_type, since, recorded=False, nested=nested, also_in_formats=_BOTH
        )


# Delta's protocol, section "Type Widening", lists the changes. Its section "Writer Requirements for
# Type Widening" lists the changes that Iceberg V2 lacks. Delta's documentation, "Delta type
# widening", names the first versions. It also says that integers become decimal or double only by
# hand. DuckLake's documentation, "Schema Evolution", section "Type Promotion", lists its changes
# without decimals. DuckDB's extension for DuckLake, 1.5.5, makes every decimal wider.
# tests/conformance checks each row with the engine.
RULES: tuple[Rule, ...] = (
    Rule(spark.ByteType, spark.ShortType, DELTA_3_2, also_in_formats=_BOTH),
    Rule(spark.ByteType, spark.IntegerType, DELTA_3_2, also_in_formats=_BOTH),
    Rule(spark.ByteType, spark.LongType, DELTA_4_0, also_in_formats=_BOTH),
    Rule(spark.ShortType, spark.IntegerType, DELTA_3_2, also_in_formats=_BOTH),
    Rule(spark.ShortType, spark.LongType, DELTA_4_0, also_in_formats=_BOTH),
    Rule(spark.IntegerType, spark.LongType, DELTA_4_0, also_in_formats=_BOTH),
    Rule(spark.FloatType, spark.DoubleType, DELTA_4_0, also_in_formats=_BOTH),
    Rule(spark.ByteType, spark.DoubleType, DELTA_4_0, manual=True),
    Rule(spark.ShortType, spark.DoubleType, DELTA_4_0, manual=True),
    Rule(spark.IntegerType, spark.DoubleType, DELTA_4_0, manual=True),
    Rule(spark.ByteType, spark.DecimalType, DELTA_4_0, manual=True, integer_digits=10),
    Rule(spark.ShortType, spark.DecimalType, DELTA_4_0, manual=True, integer_digits=10),
    Rule(spark.IntegerType, spark.DecimalType, DELTA_4_0, manual=True, integer_digits=10),
    Rule(spark.LongType, spark.DecimalType, DELTA_4_0, manual=True, integer_digits=20),
    Rule(spark.DecimalType, spark.DecimalType, DELTA_4_0, scale=Scale.KEPT, also_in_formats=_BOTH),
    Rule(
        spark.DecimalType,
        spark.DecimalType,
        DELTA_4_0,
        scale=Scale.GROWN,
        also_in_formats=_DUCKLAKE,
    ),
    Rule(spark.DateType, spark.TimestampNTZType, DELTA_4_0, feature="timestampNtz"),
    *_rules_for_text(),
    *_rules_for_void(),
)


# Delta does not add these to an existing table (DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT).
_FEATURES = {rule.to_type: rule.feature for rule in RULES if rule.feature is not None}


def feature_properties(types: Iterable[DataType], supported: Iterable[str] = ()) -> dict[str, str]:
    """Return the table properties that an existing table needs before it can have some types.

    They add the missing table features, unless Delta itself adds them.
    """
    found = {_FEATURES.get(type(leaf)) for data_type in types for leaf in leaves(data_type)}
    needed = {feature for feature in found if feature} - set(supported)
    return {f"{FEATURE_PREFIX}{feature}": SUPPORTED for feature in sorted(needed)}


def find_rule(from_type: DataType, to_type: DataType) -> Rule | None:
    """Find the rule for a type change in some Delta version. None if there is none."""
    if from_type == to_type:
        return None
    for rule in RULES:
        classes_match = type(from_type) is rule.from_type and type(to_type) is rule.to_type
        if classes_match and _parameters_fit(rule, from_type, to_type):
            return rule
    return None


def _parameters_fit(rule: Rule, from_type: DataType, to_type: DataType) -> bool:
    if isinstance(from_type, spark.NullType):
        return not isinstance(to_type, spark.StringType) or to_type == spark.StringType()
    if isinstance(to_type, spark.DecimalType):
        if isinstance(from_type, spark.DecimalType):
            return _decimal_fits(rule, from_type, to_type)
        return to_type.precision - to_type.scale >= rule.integer_digits
    if isinstance(to_type, spark.VarcharType):
        return bool(to_type.length >= from_type.length)  # type: ignore[attr-defined]
    if isinstance(to_type, spark.StringType):
        # A collation is not a length. Delta refuses to change it.
        return to_type == spark.StringType()
    return True


def _decimal_fits(rule: Rule, from_type: spark.DecimalType, to_type: spark.DecimalType) -> bool:
    more_precision = to_type.precision - from_type.precision
    more_scale = to_type.scale - from_type.scale
    if rule.scale is Scale.KEPT:
        return more_scale == 0 and more_precision > 0
    return more_precision >= more_scale > 0


def manual_integer_digits(from_type: DataType) -> int:
    """Return the digits before the point that Delta requires if an integer becomes a decimal."""
    digits = (rule.integer_digits for rule in RULES if rule.from_type is type(from_type))
    return max(digits, default=0)
