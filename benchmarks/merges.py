"""Measure the adapters' own time in merges without type changes, with the same Spark settings."""

import statistics
from functools import partial

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.merge_models import Merges, Size, lasting, outside_merge
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.workspace import OURS, THEIRS, Program, with_the_same_spark

FULL = Size.of(quick=False)
METHOD = f"""\
One `dbt run` of {FULL.models} incremental models (`merge`; `on_schema_change` is not set). Each
model merges into a Delta table of {FULL.rows:,} rows in four files. The tables are restored before
every run.

Both adapters run with the same Spark settings: `spark-defaults.conf` contains the settings that
dbt-deltawiden starts with. Only the configuration of Delta's jars differs. dbt-spark has
`spark.jars.packages`, which Spark resolves at every start. dbt-deltawiden stores the paths of the
jars at the first start and uses them afterwards.

The time beside the MERGE is the execution time of a model in `run_results.json`, less the time of
the `SparkSession.sql` call that runs the MERGE. Both adapters make this call. The first row of the
results has the median of the models of a run, and the second row has their mean. The mean is
higher, because the first model of a process waits for the JVM to load and compile code. The time of
the whole run begins with the start of the process."""


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The time beside the MERGE, and the whole run.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents, or the Spark settings were not the same.
    """
    with work_folder() as folder:
        merges = Merges(folder / "merges", Size.of(quick))
        settings: dict[str, dict[str, str]] = {}

        def run_once(program: Program) -> Measures:
            run = merges.run(program)
            settings[program.name] = lasting(run.settings)
            check("Spark's settings", settings[program.name], next(iter(settings.values())))
            outside = outside_merge(run)
            return {
                "median": statistics.median(outside),
                "mean": statistics.mean(outside),
                "whole": run.whole,
            }

        programs = {program.name: partial(run_once, program) for program in with_the_same_spark()}
        taken = in_turns(programs, Rounds.of(quick))

    def compared(work: str, measure: str, aim: float | None) -> Comparison:
        ours, theirs = (Sample(name, taken[name][measure]) for name in (OURS, THEIRS))
        return Comparison(work, ours, theirs, aim)

    models = Size.of(quick).models
    return [
        compared(f"{models} merges, no type changed: a model beside its MERGE", "median", aim=0.4),
        compared("the same, the mean of the models", "mean", aim=None),
        compared("the same run, whole, start-up included", "whole", aim=0.6),
    ]


BENCHMARK = Benchmark("merges", METHOD, measure)
