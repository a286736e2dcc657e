"""Two dbt processes that widen the same table at the same time, on one server."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.support import Table
from tests.servers import rounds

SCHEMA = "concurrent_runs"
MODEL = """
{{ config(materialized='incremental', alias='t_' ~ var('round'),
          incremental_strategy=var('strategy'), unique_key='id',
          on_schema_change='append_new_columns', type_widening=true) }}
select {{ var('id') }} as id, cast({{ var('n') }} as {{ var('type') }}) as n,
  named_struct('x', cast({{ var('n') }} as {{ var('type') }})) as s
  {% if var('new', none) %}, 'new' as {{ var('new') }} {% endif %}
"""
# The types that both runs write to a smallint column, and the type that it must get.
TYPES = [("int", "int", "int"), ("int", "bigint", "bigint"), ("bigint", "bigint", "bigint")]
STRATEGIES = [("append", "append"), ("merge", "merge"), ("append", "merge")]
NEW = [(None, None), ("a", "b"), ("a", "a"), (None, "b")]
ROUNDS = 50


class Runner:
    """A process of dbt with its project."""

    def __init__(self, folder: Path, target: dict[str, object]) -> None:
        (folder / "models").mkdir(parents=True)
        (folder / "models" / "t.sql").write_text(MODEL)
        (folder / "dbt_project.yml").write_text("{name: rounds, profile: rounds}")
        profile = {"outputs": {"default": {**target, "schema": SCHEMA}}}
        (folder / "profiles.yml").write_text(json.dumps({"rounds": profile}))
        self._process = subprocess.Popen(
            [sys.executable, rounds.__file__, str(folder)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(folder / "errors.log").open("w"),
            text=True,
        )
        assert self._answer() == "ready\n"

    def begin(self, **variables: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(variables) + "\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, object]:
        return json.loads(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)


@pytest.fixture(scope="module")
def runners(target, tmp_path_factory) -> Iterator[tuple[Runner, Runner]]:
    with contextlib.ExitStack() as stack:
        started = []
        for name in ("first", "second"):
            folder = tmp_path_factory.mktemp("rounds") / name
            started.append(Runner(folder, target))
            stack.callback(started[-1].stop)
        yield started[0], started[1]


@pytest.fixture(scope="module")
def outcomes(spark, runners) -> list[dict[str, object]]:
    """All rounds with their types, the results of both runs, and the table."""
    spark.sql(f"create schema if not exists {SCHEMA}")
    outcomes = []
    for number in range(ROUNDS):
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
    answers = [answer for outcome in outcomes for answer in outcome["answers"]]
    assert [answer for answer in answers if answer["status"] != "success"] == []


def test_no_row_is_lost_or_duplicated(outcomes):
    for outcome in outcomes:
        first, second = ({"int": 70_000, "bigint": 2**40}[name] for name in outcome["types"][:2])
        expected = [(1, 1, 1), (2, first, first), (3, second, second)]
        assert outcome["table"].rows("id", "n", "s.x") == expected, outcome["round"]


def test_the_schema_has_the_changes_of_both_runs(outcomes):
    for outcome in outcomes:
        last = outcome["types"][2]
        new = {name: "string" for name in outcome["new"] if name}
        assert outcome["table"].types == {"id": "int", "n": last, "s": f"struct<x:{last}>", **new}
        assert outcome["table"].properties["delta.enableTypeWidening"] == "true"


def test_the_runs_were_in_conflict(outcomes):
    """The rounds are only meaningful if runs were in conflict."""
    conflicts = [answer["conflicts"] for outcome in outcomes for answer in outcome["answers"]]
    assert sum(1 for conflict in conflicts if conflict) >= 5, conflicts
