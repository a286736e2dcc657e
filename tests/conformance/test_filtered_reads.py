"""A filter finds the same rows in a widened column as in values that were never widened.

One file has one value, so that the files' statistics decide which files a filter reads. The
expected rows come from a relation without files.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.backends.jvm_files import FilesByJvm
from dbt.adapters.deltawiden.delta.engine import Capability, Engine
from dbt.adapters.deltawiden.sql.identifiers import parse_path
from dbt.adapters.deltawiden.sql.types import parse_type
from tests.conformance.filters import PLACES, ROWS, Pair, pairs_at
from tests.conformance.report import Conformance
from tests.conformance.test_storage import NO_CHECKPOINTS
from tests.literals import literal
from tests.small import SMALL, settings_of

# All columns have statistics, not only the first 32.
PROPERTIES = (
    "'delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported', "
    "'delta.dataSkippingNumIndexedCols' = '-1', "
)

# Rows that are in one file with all other rows.
TOGETHER = 100

# The number of columns with filters in a query. The length of a statement is limited.
COLUMNS = 24


@pytest.fixture(autouse=True)
def _small_tables(spark: SparkSession) -> Iterator[None]:
    with settings_of(spark, SMALL):
        yield


def widen(spark: SparkSession, engine: Engine, table: str, pairs: list[Pair]) -> None:
    """Make the type changes of all pairs, as the adapter does."""
    floats = [pair for pair in pairs if has_float_statistics(pair)]
    if floats:
        FilesByJvm(spark, table).widen_floats([parse_path(pair.path) for pair in floats])
    changes = [f"{pair.path} type {pair.target}" for pair in pairs if pair not in floats]
    if engine.can(Capability.ALTER_SEVERAL_COLUMNS):
        changes = [", ".join(changes)]
    for change in changes:
        spark.sql(f"alter table {table} alter column {change}")


def has_float_statistics(pair: Pair) -> bool:
    in_statistics = pair.position in ("top level", "struct field", "nested struct")
    return in_statistics and (pair.source, pair.target) == ("float", "double")


def rows_of(pairs: list[Pair], value: Callable[[Pair, int], str], first: int = 0) -> str:
    """Select every row. A row is a partition of the query and becomes a file."""
    return " union all ".join(
        f"select {first + row} as k, "
        + ", ".join(f"{value(pair, row)} as {pair.column}" for pair in pairs)
        for row in range(ROWS)
    )


def create(spark: SparkSession, table: str, pairs: list[Pair]) -> None:
    columns = ", ".join(pair.definition for pair in pairs)
    partitions = ", ".join(p.column for p in pairs if p.position == "partition column")
    spark.sql(
        f"create table {table} (k int, {columns}) using delta "
        + (f"partitioned by ({partitions}) " if partitions else "")
        + NO_CHECKPOINTS.replace("(", f"({PROPERTIES}")
    )
    listed = ", ".join(["k", *(pair.column for pair in pairs)])
    for hint, first in (("", 0), ("/*+ coalesce(1) */", TOGETHER)):
        rows = rows_of(pairs, Pair.stored, first)
        spark.sql(f"insert into {table} ({listed}) select {hint} {listed} from ({rows})")


def in_parts(pairs: list[Pair]) -> Iterator[list[Pair]]:
    rest = iter(pairs)
    while part := list(islice(rest, COLUMNS)):
        yield part


Filter = tuple[Pair, str]
"""A filter on the column of a pair."""


def refused_pairs(pairs: Iterable[Pair]) -> set[str]:
    """Name the pairs that the adapter refuses, because a plain ALTER makes wrong reads of them.

    The name of a partition has a float's text, which is another number as double.
    """
    in_partitions = (pair for pair in pairs if pair.position == "partition column")
    names = {f"{pair.source} -> {pair.target}, {pair.position}" for pair in in_partitions}
    return names & {"float -> double, partition column"}


class FilteredReads:
    """The filters on one table, and the wrong ones."""

    def __init__(self, spark: SparkSession, table: str, pairs: list[Pair]):
        self.spark, self.table, self.tried = spark, table, 0
        flat = ", ".join(self._value(pair) for pair in pairs)
        rows = rows_of(pairs, Pair.widened)
        values = spark.sql(f"select {flat} from ({rows}) order by k").collect()
        self.values = dict(zip(pairs, map(list, zip(*values, strict=True)), strict=True))

    @staticmethod
    def _value(pair: Pair) -> str:
        operand = pair.place.operand.format(column=pair.column)
        reached = {
            "array element": f"{pair.column}[0]",
            "map key": f"map_keys({pair.column})[0]",
        }
        return reached.get(pair.position, operand)

    def wrong(self) -> list[str]:
        """List the filters that find other rows than in values that were never widened."""
        with ThreadPoolExecutor(2) as threads:
            tasks = [(part, row) for part in in_parts([*self.values]) for row in range(ROWS)]
            return [
                wrong
                for found in threads.map(lambda t: self._wrong_at(*t), tasks)
                for wrong in found
            ]

    def _wrong_at(self, pairs: list[Pair], row: int) -> list[str]:
        filters = [
            (pair, condition)
            for pair in pairs
            for condition in pair.filters(self.values[pair], row)
        ]
        selected = ", ".join(condition for _, condition in filters)
        # The values are in no file, so no file can be skipped.
        values = ", ".join(f"{pair.widened(row)} as {pair.column}" for pair in pairs)
        (answers,) = self.spark.sql(f"select {selected} from (select {values})").collect()
        self.tried += len(filters)
        return self._search(row, list(zip(filters, answers, strict=True)))

    def _search(self, row: int, filters: list[tuple[Filter, bool | None]]) -> list[str]:
        """Try filters together. If the result is wrong, find one wrong filter of each pair."""
        holding = [candidate for candidate, holds in filters if holds]
        others = [candidate for candidate, holds in filters if not holds]
        found = not holding or self._rows(row, " and ", holding) == {row, row + TOGETHER}
        if found and not (others and self._rows(row, " or ", others)):
            return []
        if len(filters) == 1:
            ((pair, text),) = (candidate for candidate, _ in filters)
            return [f"{pair.source} -> {pair.target}, {pair.position}: {text}"]
        middle = _middle(filters)
        wrong = self._search(row, filters[:middle])
        of_one_pair = filters[0][0][0] == filters[-1][0][0]
        return wrong if wrong and of_one_pair else wrong + self._search(row, filters[middle:])

    def _rows(self, row: int, joined: str, filters: Iterable[Filter]) -> set[int]:
        condition = joined.join(f"({expression})" for _, expression in filters)
        found = self.spark.sql(f"select k from {self.table} where {condition}").collect()
        return {hit.k for hit in found} & {row, row + TOGETHER}


def _middle(filters: list[tuple[Filter, bool | None]]) -> int:
    """Find where to halve filters: between two pairs, if there are two."""
    middle = len(filters) // 2
    borders = [n for n in range(1, len(filters)) if filters[n][0][0] != filters[n - 1][0][0]]
    return min(borders, key=lambda border: abs(border - middle), default=middle)


def wrong_merges(spark: SparkSession, table: str, reads: FilteredReads) -> list[str]:
    """List the pairs whose row a MERGE by the column does not find."""
    pairs = [pair for pair in reads.values if pair.position not in ("array element", "map key")]
    if not pairs:
        return []
    known = {name.split(",")[0] for name in refused_pairs(pairs)}
    alone = [[pair] for pair in pairs if f"{pair.source} -> {pair.target}" in known]
    together = [pair for pair in pairs if [pair] not in alone]
    return [text for part in (together, *alone) for text in _wrong_merge(spark, table, reads, part)]


def _wrong_merge(
    spark: SparkSession, table: str, reads: FilteredReads, pairs: list[Pair]
) -> list[str]:
    """Merge every value separately. A row that is not found is inserted again."""
    reads.tried += len(pairs)
    before = spark.table(table).count()
    values = rows_of(pairs, Pair.widened)
    on, given = (
        [pair.place.operand.format(column=f"{side}.{pair.column}") for pair in pairs]
        for side in ("t", "s")
    )
    keys = [f"{kept} <=> {new}" for kept, new in zip(on, given, strict=True)]
    # A MERGE can skip files by these values.
    some = [
        f"({key} is null or {key} in ({', '.join(literals(reads, pair))}))"
        for pair, key in zip(pairs, on, strict=True)
    ]
    spark.sql(
        f"merge into {table} t using ({values}) s on t.k % {TOGETHER} = s.k and "
        f"{' and '.join((*keys, *some))} when not matched then insert (k) values (-1)"
    )
    inserted = spark.table(table).count() - before
    spark.sql(f"delete from {table} where k = -1")
    names = ", ".join(f"{pair.source} -> {pair.target}" for pair in pairs)
    return [f"{names}, {pairs[0].position}: MERGE inserts {inserted} rows"] if inserted else []


def literals(reads: FilteredReads, pair: Pair) -> list[str]:
    values = (value for value in reads.values[pair] if value is not None)
    return sorted({literal(value, parse_type(pair.target)) for value in values})


@pytest.mark.slow
@pytest.mark.parametrize("position", PLACES)
def test_filters_find_in_a_widened_column_what_they_would_find_in_any(
    spark: SparkSession, engine: Engine, schema: str, conformance: Conformance, position: str
):
    pairs = pairs_at(position, engine)
    table = f"{schema}.filtered_{position.replace(' ', '_')}"
    create(spark, table, pairs)
    widen(spark, engine, table, pairs)
    reads = FilteredReads(spark, table, pairs)
    wrong = [*reads.wrong(), *wrong_merges(spark, table, reads)]
    conformance.filtered[position] = (len(pairs), reads.tried)
    by_pair = [(text.split(":")[0], text) for text in wrong]
    refused = refused_pairs(pairs)
    conformance.filtered_disagreements += [text for pair, text in by_pair if pair not in refused]
    conformance.filtered_refused += [text for pair, text in by_pair if pair in refused]
    assert {pair for pair, _ in by_pair} == refused, "\n".join(wrong)
