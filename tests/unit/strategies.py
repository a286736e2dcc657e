"""Hypothesis strategies for types, names, and pairs of a table and a source."""

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.config.policy import OnLossyWrite, Policy
from dbt.adapters.deltawiden.delta.protocol import Compatibility
from tests.unit.schemas import (
    AUTOMATIC_MODES,
    DELTA_3_3,
    DELTA_4_0,
    DELTA_4_4,
    MAPPED,
    PLANNED_MODES,
    table_snapshot,
)

many_examples = settings(max_examples=6 * settings.default.max_examples)
"""For a cheap property, such as one of two types."""

Pair = tuple[DataType, DataType]
"""A type of the table and the type that the source has in its place."""

INTEGERS = (spark.ByteType(), spark.ShortType(), spark.IntegerType(), spark.LongType())
FLOATS = (spark.FloatType(), spark.DoubleType())

COLUMNS = ("id", "Amount", "my col", "a.b", "c`d", "größe", "🙂", "key", "select")
FIELDS = ("it's", "a.b `c`,<d>: #ö")

# Any text except the empty one can be a column's name. Lone surrogates are not text.
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
awkward_names = st.text("`.aB0ä 😀'\"\\", min_size=1, max_size=6)
paths = st.lists(st.one_of(names, awkward_names), min_size=1, max_size=4).map(tuple)


@st.composite
def decimals(draw: st.DrawFn, most_digits: int = 38) -> spark.DecimalType:
    precision = draw(st.integers(1, most_digits))
    return spark.DecimalType(precision, draw(st.integers(0, precision)))


integers = st.sampled_from(INTEGERS)
floats = st.sampled_from(FLOATS)
numbers = st.one_of(integers, floats, decimals())
atoms = st.one_of(
    numbers,
    st.sampled_from(
        [
            spark.StringType(),
            spark.BinaryType(),
            spark.BooleanType(),
            spark.DateType(),
            spark.TimestampType(),
            spark.TimestampNTZType(),
            spark.NullType(),
        ]
    ),
)


def nested(pairs: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    """Types of the table and of the source, the same around the leaves, up to two levels deep."""

    def around(inside: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
        return st.one_of(
            inside.map(lambda pair: _each_side(ArrayType, pair)),
            st.tuples(pairs, inside).map(lambda parts: _each_side(MapType, *parts)),
            st.lists(inside, min_size=1, max_size=2).map(lambda parts: _each_side(_struct, *parts)),
        )

    return st.one_of(pairs, pairs, around(pairs), around(around(pairs)))


def _each_side(build: Callable[..., DataType], *parts: Pair) -> Pair:
    table, source = zip(*parts, strict=True)
    return build(*table), build(*source)


def _struct(*parts: DataType) -> StructType:
    return StructType([StructField(*field) for field in zip(FIELDS, parts, strict=False)])


# Drawn small enough that 38 digits hold both.
_automatic_pairs = st.one_of(
    st.tuples(decimals(18), decimals(18)),
    st.tuples(decimals(18), integers),
    st.sampled_from(
        [
            (INTEGERS[narrow], INTEGERS[wide])
            for narrow in range(len(INTEGERS))
            for wide in range(narrow, len(INTEGERS))
        ]
    ),
    st.sampled_from(
        [
            (spark.FloatType(), spark.DoubleType()),
            (spark.FloatType(), spark.IntegerType()),
            (spark.DateType(), spark.TimestampNTZType()),
            (spark.DateType(), spark.NullType()),
            (spark.LongType(), spark.ShortType()),
            (spark.StringType(), spark.IntegerType()),
        ]
    ),
)


def _side_by_side(columns: list[tuple[str, Pair]]) -> tuple[StructType, StructType]:
    table = StructType([StructField(name, pair[0]) for name, pair in columns])
    return table, StructType([StructField(name, pair[1]) for name, pair in columns])


def _columns(pairs: st.SearchStrategy[Pair]) -> st.SearchStrategy[list[tuple[str, Pair]]]:
    return st.lists(
        st.tuples(st.sampled_from(COLUMNS), nested(pairs)),
        min_size=1,
        max_size=4,
        unique_by=lambda column: column[0],
    )


widenable_tables = _columns(_automatic_pairs).map(_side_by_side)
"""A table and a source for which every difference can be widened automatically."""


@st.composite
def _tables_with_sources(draw: st.DrawFn) -> tuple[StructType, StructType]:
    columns = draw(_columns(st.one_of(_automatic_pairs, st.tuples(atoms, atoms))))
    table, source = _side_by_side(columns)
    sides = draw(st.lists(_sides, min_size=len(columns), max_size=len(columns)))
    both = list(zip(table.fields, source.fields, sides, strict=True))
    return (
        StructType([column for column, _, side in both if side != "source"]),
        StructType([output for _, output, side in both if side != "table"]),
    )


_sides = st.sampled_from(["both", "both", "both", "table", "source"])

tables_with_sources = _tables_with_sources()
"""A table and a source that can differ in any way."""

compatibilities = st.frozensets(st.sampled_from(Compatibility))
policies = st.builds(
    Policy,
    on_schema_change=st.sampled_from(PLANNED_MODES),
    type_widening=st.sampled_from([None, True, False]),
    compatible_with=compatibilities,
    on_lossy_write=st.sampled_from(OnLossyWrite),
)
automatic_policies = st.builds(
    Policy, on_schema_change=st.sampled_from(AUTOMATIC_MODES), type_widening=st.just(True)
)

table_snapshots = st.builds(
    table_snapshot,
    properties=st.dictionaries(
        st.sampled_from(
            [
                "delta.enableTypeWidening",
                "delta.enableIcebergCompatV1",
                "delta.enableIcebergCompatV2",
                "delta.enableIcebergCompatV3",
            ]
        ),
        st.sampled_from(["true", "false"]),
    ),
    engine=st.sampled_from([DELTA_4_4, DELTA_4_0, DELTA_3_3]),
    format=st.sampled_from(["delta", "delta", "delta", "iceberg"]),
)
column_mapped_snapshots = st.sampled_from([table_snapshot(), table_snapshot({})]).map(
    lambda snapshot: table_snapshot({**snapshot.properties, **MAPPED})
)
