"""Measure `plan` of many models, compared with `plan` of fewer."""

import json
from functools import partial
from pathlib import Path

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.many_tables import make_tables
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.workspace import Program, Workspace, with_the_same_spark

FEW, MANY = 50, 500
FEW_QUICK, MANY_QUICK = 3, 12
ROUNDS = 3
MODEL = """\
{{ config(materialized='incremental', file_format='delta', on_schema_change='append_new_columns',
    type_widening=true) }}
select id, cast(id as decimal(14, 2)) as amount from range(10)
"""
METHOD = f"""\
`dbt run-operation plan` of {MANY} incremental models, or of {FEW}. One of the two columns of each
model has a wider type than its Delta table, so each plan has an ALTER. The seconds are those of the
operation in `run_results.json`, divided by the number of models.

The start of Spark and dbt's parsing are not included. Nor are the first statements of a new JVM,
which are slower and would make the smaller number of models look slow: the same process plans
{FEW} other models first, which is not measured. Only {ROUNDS} rounds are measured, because a round
takes minutes."""


class Models:
    """A number of models to plan, and the same number of models to plan before them.

    Args:
        folder: the folder for them.
        number: the number of models that are planned.
        others: the number of models that are planned before.
    """

    def __init__(self, folder: Path, number: int, others: int) -> None:
        names = [f"t{each:04}" for each in range(number + others)]
        self._planned, self._before = names[:number], names[number:]
        self._workspace = Workspace(folder, dict.fromkeys(names, MODEL))
        self._workspace.build(make_tables, len(names))

    def plan(self, program: Program) -> Measures:
        """Plan the models once.

        Returns:
            The seconds of the operation per model.

        Raises:
            RunFailed: dbt failed.
            WrongResult: not each model would be widened.
        """
        run = self._workspace.run(
            program, *_command(self._planned, output="json"), before=_command(self._before)
        )
        tables = [each["table"] for each in run.document["tables"] if each["type_changes"]]
        widened = sorted(table.replace("`", "").rpartition(".")[2] for table in tables)
        check("the models that would be widened", widened, self._planned)
        return {"per model": run.models["plan"] / len(self._planned)}


def _command(models: list[str], output: str = "text") -> list[str]:
    arguments = json.dumps({"models": models, "output": output})
    return ["--quiet", "run-operation", "plan", "--args", arguments]


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The time per model.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a plan is wrong.
    """
    few, many = (FEW_QUICK, MANY_QUICK) if quick else (FEW, MANY)
    program, _ = with_the_same_spark()
    with work_folder() as folder:
        models = {
            f"{number} models": Models(folder / f"plan_{number}", number, few)
            for number in (many, few)
        }
        plans = {name: partial(each.plan, program) for name, each in models.items()}
        taken = in_turns(plans, Rounds.of(quick, measured=ROUNDS))
    of_many, of_few = (Sample(name, measured["per model"]) for name, measured in taken.items())
    return [Comparison("`plan`, per model", of_many, of_few, aim=1.1)]


BENCHMARK = Benchmark("plan_many", METHOD, measure)
