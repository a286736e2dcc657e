"""Measure what dbt and the adapter add to a PySpark script that runs the same statements."""

from pathlib import Path

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.merge_models import Merges, Size, lasting
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.workspace import OUR_TARGET, OURS, Program, Run, added_options

SCRIPT = "PySpark script"
SMALL = Size(models=1, rows=1_000)
PROGRAM = Program(OURS, OUR_TARGET)
METHOD = f"""\
One `dbt run` of one of the models of `merges`, with a table of {SMALL.rows:,} rows, and one of all
its models. dbt-deltawiden has the smallest profile that it accepts, and dbt has parsed the project
before. A script runs the same statements without dbt:

- It is a Python process that imports `pyspark`, calls `SparkSession.builder.getOrCreate()`, and
  calls `SparkSession.sql` for each statement. It fetches no rows.
- The statements are those that the last `dbt run` gave to `SparkSession.sql`, in the same order.
  None is left out, also if it only reads the schema of a table.
- Spark's settings are those of the `dbt run`, in `spark-defaults.conf`. The JVM has the same
  options, jars and archive of classes. Settings and options are compared after each run.

Both start Spark in each run. The tables are restored before every run. The seconds are from the
start of the process to the end of the dbt command or of the script's last statement."""


def _compare(folder: Path, work: str, size: Size, rounds: Rounds, aim: float) -> Comparison:
    """Run models and the script of their statements in turns."""
    merges = Merges(folder, size)
    runs: list[Run] = []

    def run_dbt() -> Measures:
        runs.append(merges.run(PROGRAM))
        return {"whole": runs[-1].whole}

    def run_script() -> Measures:
        run = merges.run_script(runs[-1])
        check("Spark's settings", lasting(run.settings), lasting(runs[-1].settings))
        options = [added_options(each.java_options) for each in (run, runs[-1])]
        check("the JVM's options", *options)
        return {"whole": run.whole}

    taken = in_turns({OURS: run_dbt, SCRIPT: run_script}, rounds)
    return Comparison(work, *(Sample(name, each["whole"]) for name, each in taken.items()), aim)


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The whole run, of one small model and of the merges.

    Raises:
        RunFailed: dbt or the script failed.
        WrongResult: a table has wrong contents, or the two did not have the same Spark.
    """
    size, rounds = Size.of(quick), Rounds.of(quick)
    with work_folder() as folder:
        return [
            _compare(folder / "small", "one small merge: the whole run", SMALL, rounds, aim=1.5),
            _compare(folder / "merges", f"{size.models} merges: the same", size, rounds, aim=1.25),
        ]


BENCHMARK = Benchmark("script", METHOD, measure)
