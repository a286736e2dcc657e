"""The rules: which type changes formats and engines can make in place."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.engine import DELTA_3_2, DELTA_4_0, Capability
from dbt.adapters.deltawiden.delta.protocol import FEATURE_PREFIX, Compatibility
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
        source: the class of the column's type.
        target: the class of the new type.
        since: the first Delta version that makes the change.
        manual: whether only a person may request the change, and never a write.
        integer_digits: for a decimal target, the minimum number of digits before the decimal point
            that Delta requires.
        scale: for two decimals, how the scale changes.
        feature: a table feature that the target type needs in the protocol.
        recorded: whether Delta treats it as a type change, which needs the table property and is
            recorded in the schema. Delta does not record a longer varchar.
        nested: whether the change is also possible inside a struct, array or map. The length of a
            nested char or varchar does not change, even if the statement succeeds.
        within: the other formats that make the same change.
    """

    source: type[DataType]
    target: type[DataType]
    since: Version
    manual: bool = False
    integer_digits: int = 0
    scale: Scale | None = None
    feature: str | None = None
    recorded: bool = True
    nested: bool = True
    within: frozenset[Compatibility] = frozenset()


_BOTH = frozenset({Compatibility.ICEBERG_V2, Compatibility.DUCKLAKE})
_ICEBERG = frozenset({Compatibility.ICEBERG_V2})


def _rules_for_text() -> Iterator[Rule]:
    """Yield the rules for a longer varchar or a string: only the check of the length changes."""
    for source in (spark.CharType, spark.VarcharType):
        for target in (spark.VarcharType, spark.StringType):
            yield Rule(source, target, DELTA_3_2, recorded=False, nested=False, within=_BOTH)


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
    for target in storable:
        nested = target not in with_length
        yield Rule(spark.NullType, target, since, recorded=False, nested=nested, within=_BOTH)


# Delta's protocol, section "Type Widening", lists the changes. Its section "Writer Requirements for
# Type Widening" lists the changes that Iceberg V2 lacks. Delta's documentation, "Delta type
# widening", names the first versions. It also says that integers become decimal or double only by
# hand. DuckLake's documentation, "Schema Evolution", section "Type Promotion", lists its changes.
# tests/conformance checks each row with the engine.
RULES: tuple[Rule, ...] = (
    Rule(spark.ByteType, spark.ShortType, DELTA_3_2, within=_BOTH),
    Rule(spark.ByteType, spark.IntegerType, DELTA_3_2, within=_BOTH),
    Rule(spark.ByteType, spark.LongType, DELTA_4_0, within=_BOTH),
    Rule(spark.ShortType, spark.IntegerType, DELTA_3_2, within=_BOTH),
    Rule(spark.ShortType, spark.LongType, DELTA_4_0, within=_BOTH),
    Rule(spark.IntegerType, spark.LongType, DELTA_4_0, within=_BOTH),
    Rule(spark.FloatType, spark.DoubleType, DELTA_4_0, within=_BOTH),
    Rule(spark.ByteType, spark.DoubleType, DELTA_4_0, manual=True),
    Rule(spark.ShortType, spark.DoubleType, DELTA_4_0, manual=True),
    Rule(spark.IntegerType, spark.DoubleType, DELTA_4_0, manual=True),
    Rule(spark.ByteType, spark.DecimalType, DELTA_4_0, manual=True, integer_digits=10),
    Rule(spark.ShortType, spark.DecimalType, DELTA_4_0, manual=True, integer_digits=10),
    Rule(spark.IntegerType, spark.DecimalType, DELTA_4_0, manual=True, integer_digits=10),
    Rule(spark.LongType, spark.DecimalType, DELTA_4_0, manual=True, integer_digits=20),
    Rule(spark.DecimalType, spark.DecimalType, DELTA_4_0, scale=Scale.KEPT, within=_ICEBERG),
    Rule(spark.DecimalType, spark.DecimalType, DELTA_4_0, scale=Scale.GROWN),
    Rule(spark.DateType, spark.TimestampNTZType, DELTA_4_0, feature="timestampNtz"),
    *_rules_for_text(),
    *_rules_for_void(),
)


# Delta does not add these to an existing table (DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT).
_FEATURES = {rule.target: rule.feature for rule in RULES if rule.feature is not None}


def feature_properties(types: Iterable[DataType], supported: Iterable[str] = ()) -> dict[str, str]:
    """Return the table properties that an existing table needs before it can have some types.

    Args:
        types: the types that will be added to the table's schema.
        supported: the table features that the table has.

    Returns:
        The properties that add the missing table features. Empty if Delta itself adds the features.
    """
    found = {_FEATURES.get(type(leaf)) for data_type in types for leaf in leaves(data_type)}
    needed = {feature for feature in found if feature} - set(supported)
    return {f"{FEATURE_PREFIX}{feature}": "supported" for feature in sorted(needed)}


def find_rule(source: DataType, target: DataType) -> Rule | None:
    """Find the rule that allows a type change in some Delta version.

    Args:
        source: the column's type.
        target: the column's new type.

    Returns:
        The rule. None if no Delta version makes the change, or if the types are equal.
    """
    if source == target:
        return None
    for rule in RULES:
        classes_match = type(source) is rule.source and type(target) is rule.target
        if classes_match and _parameters_fit(rule, source, target):
            return rule
    return None


def _parameters_fit(rule: Rule, source: DataType, target: DataType) -> bool:
    if isinstance(source, spark.NullType):
        return not isinstance(target, spark.StringType) or target == spark.StringType()
    if isinstance(target, spark.DecimalType):
        if isinstance(source, spark.DecimalType):
            return _decimal_fits(rule, source, target)
        return target.precision - target.scale >= rule.integer_digits
    if isinstance(target, spark.VarcharType):
        return bool(target.length >= source.length)  # type: ignore[attr-defined]
    if isinstance(target, spark.StringType):
        # A collation is not a length. Delta refuses to change it.
        return target == spark.StringType()
    return True


def _decimal_fits(rule: Rule, source: spark.DecimalType, target: spark.DecimalType) -> bool:
    more_precision = target.precision - source.precision
    more_scale = target.scale - source.scale
    if rule.scale is Scale.KEPT:
        return more_scale == 0 and more_precision > 0
    return more_precision >= more_scale > 0


def manual_integer_digits(source: DataType) -> int:
    """Return the digits before the point that Delta requires if an integer becomes a decimal."""
    digits = (rule.integer_digits for rule in RULES if rule.source is type(source))
    return max(digits, default=0)
