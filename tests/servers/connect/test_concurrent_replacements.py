"""Two dbt processes that replace rows of the same table at the same time, on one server."""

from collections.abc import Iterator

import pytest

from tests.functional.support import Table
from tests.servers.runner import Runner, two_runners

SCHEMA = "concurrent_replacements"
MODEL = """
{{ config(materialized='incremental', alias='t_' ~ var('round'), unique_key='id',
          incremental_strategy=var('strategy'),
          incremental_predicates=var('predicates')) }}
select cast(id as int) as id, {{ var('writer') }} as writer
from range({{ var('low') }}, {{ var('high') }})
"""
ROUNDS = 50
# What the first and the second run replace in a table of the ids 0 to 19.
DISJOINT = ((0, 10), (10, 20))
OVERLAPPING = ((0, 10), (5, 15))


@pytest.fixture(scope="module")
def runners(target, tmp_path_factory) -> Iterator[tuple[Runner, Runner]]:
    folder = tmp_path_factory.mktemp("rounds")
    with two_runners(folder, MODEL, {**target, "schema": SCHEMA}) as runners:
        yield runners


@pytest.fixture(scope="module")
def outcomes(spark, runners) -> list[dict[str, object]]:
    """Each round: its ranges, the answers of both runs, and the rows of the table."""
    spark.sql(f"create schema if not exists {SCHEMA}")
    outcomes = []
    for number in range(ROUNDS):
        ranges = OVERLAPPING if number % 2 else DISJOINT
        strategy = "delete+insert" if number % 5 == 4 else "replace_where"
        table = Table(spark, f"{SCHEMA}.t_{number}")
        spark.sql(
            f"create table {table.name} using delta as "
            "select cast(id as int) as id, 0 as writer from range(20)"
        )
        for writer, (runner, (low, high)) in enumerate(zip(runners, ranges, strict=True), start=1):
            predicates = None if strategy == "delete+insert" else f"id >= {low} and id < {high}"
            runner.begin(
                round=number, strategy=strategy, writer=writer, low=low, high=high,
                predicates=predicates,
            )  # fmt: skip
        answers = [runner.end() for runner in runners]
        rows = table.rows("id", "writer")
        outcomes.append({"ranges": ranges, "answers": answers, "rows": rows, "round": number})
    return outcomes


def one_after_the_other(ranges: tuple[tuple[int, int], ...], order: tuple[int, ...]) -> list:
    writers = dict.fromkeys(range(20), 0)
    for writer in order:
        writers.update(dict.fromkeys(range(*ranges[writer - 1]), writer))
    return sorted(writers.items(), key=repr)


def test_every_run_succeeds(outcomes):
    answers = [answer for outcome in outcomes for answer in outcome["answers"]]
    assert [answer for answer in answers if answer["status"] != "success"] == []


def test_the_rows_are_those_of_one_run_after_the_other(outcomes):
    for outcome in outcomes:
        possible = [one_after_the_other(outcome["ranges"], order) for order in ((1, 2), (2, 1))]
        assert outcome["rows"] in possible, outcome["round"]


def test_some_runs_had_to_try_again(outcomes):
    """Otherwise the rounds would show nothing."""
    conflicts = [answer["conflicts"] for outcome in outcomes for answer in outcome["answers"]]
    assert sum(1 for count in conflicts if count) >= 5, conflicts
