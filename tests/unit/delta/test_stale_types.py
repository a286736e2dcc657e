"""Columns of a data file that have an older type than the table's schema."""

import pytest
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from dbt.adapters.deltawiden.delta.stale_types import (
    PHYSICAL_NAME,
    StaleLeaf,
    misread_by_filters,
    stale_leaves,
    stale_partition_columns,
)
from dbt.adapters.deltawiden.sql.types import parse_type


def struct(**types) -> StructType:
    return StructType([StructField(name, data_type) for name, data_type in types.items()])


@pytest.mark.parametrize(
    ("stored", "table"),
    [
        (ByteType(), ShortType()),
        (ByteType(), IntegerType()),
        (ShortType(), LongType()),
        (IntegerType(), DecimalType(12, 2)),
        (FloatType(), LongType()),
        (DecimalType(10, 2), DecimalType(12, 2)),
        (DateType(), TimestampNTZType()),
    ],
)
def test_an_older_type_is_stale(stored, table):
    (leaf,) = stale_leaves(struct(a=stored), struct(a=table))
    assert (leaf.path, leaf.left_by_delta) == (("a",), False)


def test_filters_misread_columns_and_fields_but_nothing_inside_an_array_or_a_map():
    def nested(leaf):
        return struct(a=leaf, s=struct(x=leaf), arr=ArrayType(leaf), m=MapType(leaf, leaf))

    def misread(stored, table):
        found = stale_leaves(nested(stored), nested(table))
        return [leaf.path for leaf in found if leaf.is_misread]

    assert misread(DecimalType(8, 2), DecimalType(12, 2)) == [("a",), ("s", "x")]
    assert misread(IntegerType(), LongType()) == [("a",), ("s", "x")]
    assert misread(DecimalType(8, 2), DecimalType(12, 4)) == []


@pytest.mark.parametrize(
    ("stored", "table"),
    [
        (struct(a=IntegerType()), struct(a=IntegerType())),
        (struct(), struct(a=IntegerType())),
        (struct(a=IntegerType(), b=ByteType()), struct(a=IntegerType())),
        (struct(A=IntegerType()), struct(a=IntegerType())),
        (struct(a=StringType()), struct(a=TimestampType())),
        (struct(a=ArrayType(IntegerType(), False)), struct(a=ArrayType(IntegerType(), True))),
    ],
)
def test_a_current_missing_or_dropped_column_is_not_stale(stored, table):
    assert stale_leaves(stored, table) == ()


def test_every_position_is_checked():
    def nested(leaf):
        return struct(
            s=struct(x=leaf),
            arr=ArrayType(leaf),
            m=MapType(leaf, ArrayType(struct(y=leaf))),
        )

    assert stale_leaves(nested(ShortType()), nested(IntegerType())) == (
        StaleLeaf(("s", "x"), False),
        StaleLeaf(("arr", "element"), True),
        StaleLeaf(("m", "key"), True),
        StaleLeaf(("m", "value", "element", "y"), True),
    )


def test_names_in_files_are_physical_names():
    table = StructType(
        [
            StructField("a", LongType(), metadata={PHYSICAL_NAME: "col-1"}),
            StructField("col-1", IntegerType(), metadata={PHYSICAL_NAME: "col-2"}),
        ]
    )
    stored = StructType([StructField("col-1", ByteType()), StructField("col-2", IntegerType())])
    assert [leaf.path for leaf in stale_leaves(stored, table)] == [("a",)]


@pytest.mark.parametrize(
    ("text", "data_type", "is_stale"),
    [
        ("1.25", DecimalType(12, 4), True),
        ("7", DecimalType(12, 2), True),
        ("-7", DecimalType(12, 2), True),
        ("1.2500", DecimalType(12, 4), False),
        ("7", DecimalType(12, 0), False),
        ("0E-8", DecimalType(38, 10), True),
        ("0E-10", DecimalType(38, 10), False),
        ("2024-01-01", TimestampNTZType(), True),
        ("2024-01-01 00:00:00", TimestampNTZType(), False),
        ("2024-01-01", DateType(), False),
        ("7", LongType(), False),
        (None, DecimalType(12, 4), False),
        ("__HIVE_DEFAULT_PARTITION__", DecimalType(12, 4), False),
    ],
)
def test_a_partition_value_with_the_text_of_an_older_type_is_stale(text, data_type, is_stale):
    schema = StructType(
        [
            StructField("id", LongType()),
            StructField("P", data_type, metadata={PHYSICAL_NAME: "col-1"}),
        ]
    )
    values = {} if text is None else {"col-1": text}
    expected = (StaleLeaf(("P",), True),) if is_stale else ()
    assert stale_partition_columns(values, schema) == expected


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [
        ("decimal(8,2)", "decimal(12,2)"),
        ("decimal(9,0)", "decimal(10,0)"),
        ("decimal(18,2)", "decimal(19,2)"),
        ("decimal(1,1)", "decimal(38,1)"),
        ("decimal(20,2)", "decimal(38,2)"),
        ("decimal(21,0)", "decimal(22,0)"),
        ("tinyint", "bigint"),
        ("smallint", "bigint"),
        ("int", "bigint"),
    ],
)
def test_a_filter_can_misread_the_files(from_type: str, to_type: str):
    assert misread_by_filters(parse_type(from_type), parse_type(to_type))


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [
        ("decimal(8,2)", "decimal(9,2)"),  # both int32
        ("decimal(10,2)", "decimal(18,2)"),  # both int64
        ("decimal(20,2)", "decimal(21,2)"),  # both 9 bytes
        ("decimal(8,2)", "decimal(12,4)"),
        ("tinyint", "int"),
        ("smallint", "int"),
        ("int", "decimal(12,0)"),
        ("bigint", "decimal(20,0)"),
        ("int", "double"),
        ("float", "double"),
        ("date", "timestamp_ntz"),
        ("varchar(5)", "string"),
    ],
)
def test_no_filter_misreads_the_files(from_type: str, to_type: str):
    assert not misread_by_filters(parse_type(from_type), parse_type(to_type))
