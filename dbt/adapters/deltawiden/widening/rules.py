"""Which type changes a format and an engine can make in place: data, and the look-up in it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.engine import DELTA_3_2, DELTA_4_0, Capability
from dbt.adapters.deltawiden.delta.protocol import FEATURE, Compatibility
from dbt.adapters.deltawiden.sql.types import leaves
from dbt.adapters.deltawiden.sql.versions import Version


class Scale(Enum):
    """What a decimal's widening does to its scale."""

    KEPT = "kept"
    GROWN = "grown"


@dataclass(frozen=True)
class Rule:
    """One permitted type change.

    Attributes:
        source: the class of the column's type.
        target: the class of the type it may become.
        since: the first Delta version that makes the change.
        manual: only a person may ask for it, never a write.
        integer_digits: where the target is a decimal, the digits before its decimal point that
            Delta asks for at least.
        scale: where both are decimals, what happens to the scale.
        feature: a table feature that the target type needs in the protocol.
        recorded: a type change in Delta's sense, which needs the table property and is recorded
            in the schema. A longer varchar is not.
        nested: whether it is made inside a struct, array or map too. The length of a nested char or
            varchar stays, even where the statement that changes it succeeds.
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
    """A longer varchar, or text of any length: only the check of the length changes."""
    for source in (spark.CharType, spark.VarcharType):
        for target in (spark.VarcharType, spark.StringType):
            yield Rule(source, target, DELTA_3_2, recorded=False, nested=False, within=_BOTH)


def _rules_for_void() -> Iterator[Rule]:
    """A column of nulls becomes any type: there is no value to convert, and nothing to record."""
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
    of_a_length = (spark.CharType, spark.VarcharType)
    for target in storable:
        nested = target not in of_a_length
        yield Rule(spark.NullType, target, since, recorded=False, nested=nested, within=_BOTH)


# Delta's protocol, section "Type Widening", lists the changes, and those that Iceberg V2 lacks in
# "Writer Requirements for Type Widening". The first versions are in Delta's documentation, "Delta
# type widening"; that integers become decimal or double by hand only is said there too. DuckLake's
# are in its documentation, "Schema Evolution", section "Type Promotion". tests/conformance holds
# each row against the engine.
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


# Delta does not add these to a table that exists (DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT).
_FEATURES: dict[type[DataType], str] = {spark.TimestampNTZType: "timestampNtz"}


def feature_properties(types: Iterable[DataType], supported: Iterable[str] = ()) -> dict[str, str]:
    """Give the table properties without which an existing table can't have types.

    Args:
        types: the types that are to come into the table's schema.
        supported: the table features that the table has.

    Returns:
        Properties that support the table features that are lacking; none for a type that Delta
        brings the feature of by itself.
    """
    found = {_FEATURES.get(type(leaf)) for each in types for leaf in leaves(each)}
    needed = {feature for feature in found if feature} - set(supported)
    return {f"{FEATURE}{feature}": "supported" for feature in sorted(needed)}


def find_rule(source: DataType, target: DataType) -> Rule | None:
    """Find the rule that permits a type change in some Delta version.

    Args:
        source: the column's type.
        target: the type it is to become.

    Returns:
        The rule, or None where no Delta version makes the change, or the types are equal.
    """
    if source == target:
        return None
    for rule in RULES:
        of_these_classes = type(source) is rule.source and type(target) is rule.target
        if of_these_classes and _parameters_fit(rule, source, target):
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
        # A collation is not a length: Delta refuses to change it (collated strings).
        return target == spark.StringType()
    return True


def _decimal_fits(rule: Rule, source: spark.DecimalType, target: spark.DecimalType) -> bool:
    more_precision = target.precision - source.precision
    more_scale = target.scale - source.scale
    if rule.scale is Scale.KEPT:
        return more_scale == 0 and more_precision > 0
    return more_precision >= more_scale > 0


def manual_integer_digits(source: DataType) -> int:
    """Give the digits before the point that Delta asks of a decimal that an integer becomes."""
    digits = (rule.integer_digits for rule in RULES if rule.source is type(source))
    return max(digits, default=0)
