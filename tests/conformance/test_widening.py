"""``rules`` against the engine: every pair of types, in every position, altered on a real table."""

from collections.abc import Iterator
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
    """A type change in one position, with the column of its own that it is tried on."""

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
        """Whether the table has the new type: a statement can succeed and change nothing."""
        _, found = find_leaf((self.column, *POSITIONS[self.position].path.split(".")[1:]), table)
        return found == parse_type(self.target)


def pairs_of(source: str) -> Iterator[Pair]:
    for position in POSITIONS:
        if can_stand_in(source, position):
            targets = (each for each in WIDENED if each not in {source, *types_lacking()})
            for number, target in enumerate(targets):
                yield Pair(source, target, position, f"{position.replace(' ', '_')}_{number}")


@pytest.fixture
def cheap_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't read from the JVM what a refusal says, which takes longer than the refusal itself."""
    monkeypatch.setattr(captured, "convert_exception", lambda _: PySparkException("refused"))


def accepts(spark: SparkSession, table: str, changes: str) -> bool:
    try:
        spark.sql(f"alter table {table} alter column {changes}")
    except (PySparkException, Py4JJavaError):
        return False
    return True


def accepted_pairs(spark: SparkSession, schema: str, engine: Engine, source: str) -> set[Pair]:
    """Try all changes of one type; in one statement what the rules permit, where that works."""
    pairs = list(pairs_of(source))
    table = f"{schema}.widening_{WIDENED.index(source)}"
    columns = ", ".join(each.definition for each in pairs)
    spark.sql(f"create table {table} ({columns}) using delta tblproperties ({PROPERTIES})")
    accepted: set[Pair] = set()
    permitted = [each for each in pairs if each.permitted(engine)]
    together = ", ".join(each.change for each in permitted)
    if (
        permitted
        and engine.can(Capability.ALTER_SEVERAL_COLUMNS)
        and accepts(spark, table, together)
    ):
        accepted = set(permitted)
    alone = (each for each in pairs if each not in accepted)
    accepted |= {each for each in alone if accepts(spark, table, each.change)}
    after = spark.table(table).schema
    return {each for each in accepted if each.was_made(after)}


@pytest.mark.usefixtures("cheap_refusals")
def test_rules_and_engine_agree_on_every_pair_in_every_position(
    spark: SparkSession, engine: Engine, schema: str, conformance: Conformance
):
    sources = [each for each in WIDENED if each not in types_lacking()]
    with ThreadPoolExecutor(2) as threads:
        found = threads.map(lambda each: accepted_pairs(spark, schema, engine, each), sources)
        accepted = set().union(*found)
    pairs = [pair for source in sources for pair in pairs_of(source)]
    disagreements = [
        f"{each.source} -> {each.target}, {each.position}: engine {each in accepted}"
        for each in pairs
        if (each in accepted) != each.permitted(engine)
    ]
    for position in POSITIONS:
        tried = [each for each in pairs if each.position == position]
        taken = [each for each in tried if each in accepted]
        conformance.widening[position] = (len(tried), len(taken))
        # Both answers occur, or the test would not tell anything.
        assert 0 < len(taken) < len(tried)
    conformance.widening_disagreements = disagreements
    assert disagreements == [], "\n".join(disagreements)
