"""Two dbt processes that widen and write the same tables at the same time.

A lane imports the tests, and says with its fixtures where the processes connect to.
"""

from collections.abc import Iterator

import pytest

from tests.functional.support import Table
from tests.servers.runner import Runner, two_runners

SCHEMA = "concurrent_runs"
MODEL = """
{{ config(materialized='incremental', alias='t_' ~ var('round'),
          incremental_strategy=var('strategy'), unique_key='id',
          on_schema_change='append_new_columns', type_widening=true) }}
select {{ var('id') }} as id, cast({{ var('n') }} as {{ var('type') }}) as n,
  named_struct('x', cast({{ var('n') }} as {{ var('type') }})) as s
  {% if var('new', none) %}, 'new' as {{ var('new') }} {% endif %}
"""
# What the first and the second run write into a table of smallint, and the type that it must have.
TYPES = [("int", "int", "int"), ("int", "bigint", "bigint"), ("bigint", "bigint", "bigint")]
STRATEGIES = [("append", "append"), ("merge", "merge"), ("append", "merge")]
NEW = [(None, None), ("a", "b"), ("a", "a"), (None, "b")]


@pytest.fixture(scope="module")
def runners(target, tmp_path_factory) -> Iterator[tuple[Runner, Runner]]:
    folder = tmp_path_factory.mktemp("rounds")
    with two_runners(folder, MODEL, {**target, "schema": SCHEMA}) as runners:
        yield runners


@pytest.fixture(scope="module")
def outcomes(spark, runners, rounds) -> list[dict[str, object]]:
    """Each round: what it was, what both runs have answered, and the table."""
    spark.sql(f"create schema if not exists {SCHEMA}")
    outcomes = []
    for number in range(rounds):
        types, strategies = TYPES[number % 3], STRATEGIES[number // 3 % 3]
        new, table = NEW[number % 4], Table(spark, f"{SCHEMA}.t_{number}")
        spark.sql(
            f"create table {table.name} using delta as select 1 as id, 1S as n, "
            "named_struct('x', 1S) as s"
        )
        for place, runner in enumerate(runners):
            n = {"int": 70_000, "bigint": 2**40}[types[place]]
            runner.begin(
                round=number, id=place + 2, n=n, type=types[place],
                strategy=strategies[place], new=new[place],
            )  # fmt: skip
        answers = [runner.end() for runner in runners]
        outcomes.append(
            {"types": types, "new": new, "answers": answers, "table": table, "round": number}
        )
    return outcomes


def test_every_run_succeeds(outcomes):
    answers = [answer for each in outcomes for answer in each["answers"]]
    assert [each for each in answers if each["status"] != "success"] == []


def test_no_row_is_lost_and_none_is_there_twice(outcomes):
    for each in outcomes:
        first, second = ({"int": 70_000, "bigint": 2**40}[name] for name in each["types"][:2])
        expected = [(1, 1, 1), (2, first, first), (3, second, second)]
        assert each["table"].rows("id", "n", "s.x") == expected, each["round"]


def test_the_schema_holds_what_both_have_written(outcomes):
    for each in outcomes:
        last = each["types"][2]
        new = {name: "string" for name in each["new"] if name}
        assert each["table"].types == {"id": "int", "n": last, "s": f"struct<x:{last}>", **new}
        assert each["table"].properties["delta.enableTypeWidening"] == "true"


def test_they_were_in_each_others_way(outcomes, rounds):
    """Else the rounds would show nothing."""
    conflicts = [answer["conflicts"] for each in outcomes for answer in each["answers"]]
    assert sum(1 for each in conflicts if each) >= rounds / 10, conflicts
