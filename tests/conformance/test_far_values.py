"""A filter with a value that no file holds finds the rows that Python says it must find."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.delta.stale_types import WIDENED_FROM, misread_by_filters
from dbt.adapters.deltawiden.spark.settings import SAFE_READS
from dbt.adapters.deltawiden.sql.types import parse_type
from tests.conformance.far_values import far_filters, values_in_files
from tests.conformance.filters import PLACES, ROWS, Pair, pairs_at
from tests.conformance.report import Conformance
from tests.conformance.test_filtered_reads import (
    TOGETHER,
    Filter,
    FilteredReads,
    create,
    refused_pairs,
    widen,
)
from tests.functional.plain_spark import DEFAULTS
from tests.functional.support import needs_delta_4
from tests.small import SMALL, settings_of

VECTORIZED = "spark.sql.parquet.enableVectorizedReader"

# The time to plan a condition grows with the square of its length: Delta compares its parts.
TOGETHER_IN_A_QUERY = 50

# Fields of structs and columns: Spark pushes no filter into an array or a map.
PUSHED = ("top level", "struct field", "nested struct")


@pytest.fixture(autouse=True)
def _small_tables(spark: SparkSession) -> Iterator[None]:
    with settings_of(spark, {**SMALL, **SAFE_READS}):
        yield


def compared_pairs(position: str, engine: Engine) -> list[Pair]:
    """List the pairs of numbers and dates."""
    pairs = [
        p for p in pairs_at(position, engine) if isinstance(parse_type(p.source), WIDENED_FROM)
    ]
    refused = refused_pairs(pairs)
    return [p for p in pairs if f"{p.source} -> {p.target}, {position}" not in refused]


def is_misread(pair: Pair) -> bool:
    types = parse_type(pair.source), parse_type(pair.target)
    return pair.position in PUSHED and misread_by_filters(*types)


class FarReads(FilteredReads):
    """The filters with values that no file holds, on one table.

    With a share of n, a row gets each n-th filter, and the next row gets others. The rows together
    get each operator with each far value.
    """

    def __init__(
        self, spark: SparkSession, table: str, pairs: list[Pair], share: int = 1, first: int = 0
    ):
        self.spark, self.table, self.tried = spark, table, 0
        self.values = {pair: values_in_files(pair) for pair in pairs}
        self.share, self.first = share, first

    def filters(self, pair: Pair, row: int) -> list[tuple[str, bool]]:
        filters = [*far_filters(pair, row, self.values[pair])]
        return filters[(row + self.first) % self.share :: self.share]

    def holding(self, pairs: list[Pair], row: int) -> list[tuple[Pair, str]]:
        return [(pair, text) for pair in pairs for text, holds in self.filters(pair, row) if holds]

    def finds(self, pairs: list[Pair], row: int) -> bool:
        holding = self.holding(pairs, row)
        return not holding or self._rows(row, " and ", holding) == {row, row + TOGETHER}

    def _rows(self, row: int, joined: str, filters: Iterable[Filter]) -> set[int]:
        rest = iter(filters)
        parts = iter(lambda: [*islice(rest, TOGETHER_IN_A_QUERY)], [])
        found = [super(FarReads, self)._rows(row, joined, part) for part in parts]
        return set.intersection(*found) if joined == " and " else set.union(*found)

    def _wrong_at(self, pairs: list[Pair], row: int) -> list[str]:
        tried = [((p, text), holds) for p in pairs for text, holds in self.filters(p, row)]
        self.tried += len(tried)
        return self._search(row, tried) if tried else []


def make(spark: SparkSession, engine: Engine, table: str, pairs: list[Pair]) -> None:
    """Create a table with a column for each pair, and widen the columns."""
    create(spark, table, pairs)
    widen(spark, engine, table, pairs)


@needs_delta_4
@pytest.mark.parametrize(
    ("position", "vectorized"),
    [("top level", True), pytest.param("struct field", False, marks=pytest.mark.slow)],
)
def test_filters_with_values_beyond_the_files_find_their_rows(
    spark: SparkSession, engine: Engine, schema: str, position: str, vectorized: bool
):
    pairs = [*filter(is_misread, compared_pairs(position, engine))]
    table = f"{schema}.beyond_{position.replace(' ', '_')}"
    make(spark, engine, table, pairs)
    reads = FarReads(spark, table, pairs)
    with settings_of(spark, {VECTORIZED: str(vectorized).lower()}):
        assert all(reads.finds(pairs, row) for row in range(3)), reads.wrong()
        changed_rows(reads, pairs, 1)
        with settings_of(spark, DEFAULTS):
            assert not reads.finds(pairs[:2], 0)


@pytest.mark.slow
@pytest.mark.parametrize("position", PLACES)
def test_all_filters_with_values_beyond_the_files_find_their_rows(
    spark: SparkSession, engine: Engine, schema: str, conformance: Conformance, position: str
):
    pairs = compared_pairs(position, engine)
    table = f"{schema}.all_beyond_{position.replace(' ', '_')}"
    make(spark, engine, table, pairs)
    readers = {
        vectorized: FarReads(spark, table, pairs, ROWS, first)
        for first, vectorized in enumerate(("true", "false"))
    }
    wrong: list[str] = []
    for vectorized, reads in readers.items():
        with settings_of(spark, {VECTORIZED: vectorized}):
            wrong += reads.wrong()
    conformance.beyond[position] = (len(pairs), sum(reads.tried for reads in readers.values()))
    conformance.beyond_disagreements += wrong
    assert wrong == []
    # `replace where` has no filter on a part of an array or a map.
    changes = CHANGES if position in (*PUSHED, "partition column") else CHANGES[:-1]
    for row in range(ROWS):
        changed_rows(readers["true"], pairs, row, [changes[row % len(changes)]])


@pytest.mark.slow
@needs_delta_4
@pytest.mark.parametrize("position", PLACES)
def test_with_the_settings_of_spark_only_the_known_pairs_are_misread(
    spark: SparkSession, engine: Engine, schema: str, position: str
):
    pairs = compared_pairs(position, engine)
    table = f"{schema}.misread_{position.replace(' ', '_')}"
    make(spark, engine, table, pairs)
    right = [pair for pair in pairs if not is_misread(pair)]
    some, reads = FarReads(spark, table, right, ROWS), FarReads(spark, table, pairs)
    with settings_of(spark, DEFAULTS):
        assert all(some.finds(right, row) for row in range(ROWS)), some.wrong()
        assert [pair for pair in pairs if is_misread(pair) and _all_found(reads, pair)] == []


def _all_found(reads: FarReads, pair: Pair) -> bool:
    try:
        return all(reads.finds([pair], row) for row in range(ROWS))
    except Exception as error:
        if "FAILED_READ_FILE" not in str(error):
            raise
        return False


CHANGES = (
    "delete from {table} where {condition}",
    "update {table} set k = -1 where {condition}",
    # Delta fails with an internal error if a list of decimals is in such a statement.
    "insert into {table} replace where {without_lists} select * from {table} where false",
)


def changed_rows(
    reads: FarReads, pairs: list[Pair], row: int, changes: Sequence[str] = CHANGES
) -> None:
    """Check that statements that change rows find what a query finds. Undo what they change."""
    spark, table = reads.spark, reads.table
    holding = reads.holding(pairs, row)
    texts = [f"({text})" for _, text in holding[:: 1 + len(holding) // TOGETHER_IN_A_QUERY]]
    texts.insert(0, f"k in ({row}, {row + TOGETHER})")
    condition = " and ".join(texts)
    without_lists = " and ".join([texts[0], *(text for text in texts[1:] if " in (" not in text)])
    for change in changes:
        before = {found.k for found in spark.table(table).collect()}
        (version,) = spark.sql(f"describe history {table} limit 1").select("version").head()
        spark.sql(change.format(table=table, condition=condition, without_lists=without_lists))
        gone = before - {found.k for found in spark.table(table).collect()}
        spark.sql(f"restore table {table} to version as of {version}")
        assert gone == {row, row + TOGETHER}, change
