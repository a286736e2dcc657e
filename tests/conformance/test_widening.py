"""``rules`` against the engine: every pair of types, altered on a real table."""

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.session import SessionConnection
from dbt.adapters.deltawiden.widening.rules import find_rule
from dbt.adapters.deltawiden.widening.types import parse_type
from tests.conformance.types import WIDENED

# A checkpoint every ten commits, the default, would take most of the test's time.
PROPERTIES = (
    "'delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported', "
    "'delta.checkpointInterval' = '10000'"
)


def engine_accepts(spark: SparkSession, table: str, column: str, target: str) -> bool:
    try:
        spark.sql(f"alter table {table} alter column {column} type {target}")
    except (PySparkException, Py4JJavaError):
        return False
    return True


def test_rules_and_engine_agree_on_every_pair(spark: SparkSession, schema: str):
    engine = SessionConnection(spark).engine()
    disagreements, pairs, accepted = [], 0, 0
    for number, source in enumerate(WIDENED):
        table = f"{schema}.widening_{number}"
        targets = {f"c{i}": each for i, each in enumerate(WIDENED) if each != source}
        columns = ", ".join(f"{column} {source}" for column in targets)
        spark.sql(f"create table {table} ({columns}) using delta tblproperties ({PROPERTIES})")
        for column, target in targets.items():
            rule = find_rule(parse_type(source), parse_type(target))
            expected = rule is not None and engine.delta >= rule.since
            found = engine_accepts(spark, table, column, target)
            pairs, accepted = pairs + 1, accepted + found
            if found != expected:
                disagreements.append(f"{source} -> {target}: engine {found}, rules {expected}")
    assert disagreements == [], "\n".join(disagreements)
    # Both answers occur, or the test would not tell anything.
    assert pairs == len(WIDENED) * (len(WIDENED) - 1)
    assert 0 < accepted < pairs
    print(f"{pairs} pairs of {len(WIDENED)} types, {accepted} accepted, 0 disagreements")
