"""``rules`` compared with the engine: every pair of types in every position of a real table."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions import captured
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.engine import Capability, Engine
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.widening.request import find_leaf
from dbt.adapters.deltawiden.widening.rules import find_rule
from tests.conformance.report import Conformance
from tests.conformance.types import POSITIONS, WIDENED, can_stand_in, types_lacking

# A checkpoint every ten commits, the default, would take most of the test's time.
PROPERTIES = (
    "'delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported', "
    "'delta.checkpointInterval' = '10000'"
)


@dataclass(frozen=True)
class Pair:
    """A type change in one position, with the column that it is tried on."""

    source: str
    target: str
    position: str
    column: str

    @property
    def definition(self) -> str:
        return f"{self.column} {POSITIONS[self.position].type.format(self.source)}"

    @property
    def change(self) -> str:
        return f"{self.column}{POSITIONS[self.position].path} type {self.target}"

    def permitted(self, engine: Engine) -> bool:
        rule = find_rule(parse_type(self.source), parse_type(self.target))
        nested = self.position != "top level"
        return rule is not None and engine.delta >= rule.since and (rule.nested or not nested)

    def was_made(self, table: StructType) -> bool:
        """Return whether the table has the new type. A statement can succeed and change nothing."""
        _, found = find_leaf((self.column, *POSITIONS[self.position].path.split(".")[1:]), table)
        return found == parse_type(self.target)


def pairs_of(source: str, positions: Sequence[str]) -> Iterator[Pair]:
    for position in positions:
        if can_stand_in(source, position):
            targets = (target for target in WIDENED if target not in {source, *types_lacking()})
            for number, target in enumerate(targets):
                yield Pair(source, target, position, f"{position.replace(' ', '_')}_{number}")


@pytest.fixture
def cheap_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't read the message of a refusal from the JVM, which takes longer than the refusal."""
    monkeypatch.setattr(captured, "convert_exception", lambda _: PySparkException("refused"))


def accepts(spark: SparkSession, table: str, changes: str) -> bool:
    try:
        spark.sql(f"alter table {table} alter column {changes}")
    except (PySparkException, Py4JJavaError):
        return False
    return True


def accepted_pairs(
    spark: SparkSession, schema: str, engine: Engine, source: str, pairs: Sequence[Pair]
) -> set[Pair]:
    """Try all changes of one type. If possible, one statement has all that the rules permit."""
    table = f"{schema}.widening_{WIDENED.index(source)}"
    columns = ", ".join(pair.definition for pair in pairs)
    spark.sql(f"drop table if exists {table}")
    spark.sql(f"create table {table} ({columns}) using delta tblproperties ({PROPERTIES})")
    accepted: set[Pair] = set()
    permitted = [pair for pair in pairs if pair.permitted(engine)]
    together = ", ".join(pair.change for pair in permitted)
    if (
        permitted
        and engine.can(Capability.ALTER_SEVERAL_COLUMNS)
        and accepts(spark, table, together)
    ):
        accepted = set(permitted)
    alone = (pair for pair in pairs if pair not in accepted)
    accepted |= {pair for pair in alone if accepts(spark, table, pair.change)}
    after = spark.table(table).schema
    return {pair for pair in accepted if pair.was_made(after)}


@pytest.mark.usefixtures("cheap_refusals")
@pytest.mark.parametrize(
    "positions",
    [
        pytest.param(("top level", "field in an array"), id="two positions"),
        pytest.param(tuple(POSITIONS), id="every position", marks=pytest.mark.slow),
    ],
)
def test_rules_and_engine_agree_on_every_pair(
    spark: SparkSession,
    engine: Engine,
    schema: str,
    conformance: Conformance,
    positions: Sequence[str],
):
    sources = [source for source in WIDENED if source not in types_lacking()]
    tried_pairs = {source: list(pairs_of(source, positions)) for source in sources}
    with ThreadPoolExecutor(2) as threads:
        found = threads.map(
            lambda source: accepted_pairs(spark, schema, engine, source, tried_pairs[source]),
            sources,
        )
        accepted = set().union(*found)
    pairs = [pair for source in sources for pair in tried_pairs[source]]
    disagreements = [
        f"{pair.source} -> {pair.target}, {pair.position}: engine {pair in accepted}"
        for pair in pairs
        if (pair in accepted) != pair.permitted(engine)
    ]
    for position in positions:
        tried = [pair for pair in pairs if pair.position == position]
        taken = [pair for pair in tried if pair in accepted]
        conformance.widening[position] = (len(tried), len(taken))
        # The test is only meaningful if both results occur.
        assert 0 < len(taken) < len(tried)
    conformance.widening_disagreements = disagreements
    assert disagreements == [], "\n".join(disagreements)
