"""Measure `audit_lossy_writes` of a large table, compared with a join written by hand."""

from pathlib import Path

from benchmarks import large_tables
from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.large_tables import MEASURED, PROGRAM, ROWS, Size, measures, memory
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.workspace import SCHEMA, Run, Workspace
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

SHARE = 1_000
"""One row in so many has other digits in the model than in the table."""
STORED, PRODUCED = "decimal(12, 2)", "decimal(14, 4)"
AUDIT, JOIN, FEWER = "`audit_lossy_writes`", "a join by hand", "fewer rows"
QUERY = f"select * from {SCHEMA}.source"
MODEL = f"""\
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}}}
{QUERY}
"""
STATEMENT = f"""\
select count(*) as compared,
  count_if(not p.quantity <=> t.quantity) as quantity, count_if(not p.price <=> t.price) as price
from ({QUERY}) p join {SCHEMA}.lines t on p.id = t.id"""
METHOD = f"""\
An incremental model (`merge`, `unique_key: id`) selects all of its source: {ROWS:,} rows with
`id`, `quantity` and `price`. The price is a `{PRODUCED}` in the source and a
`{STORED}` in the table: one row in {SHARE:,} has lost digits, in every file.

`audit_lossy_writes` counts the rows whose values differ, by column. It also shows examples, and
counts the rows that only one side has and the keys that are not unique. The join by hand only
counts the rows whose values differ. PySpark runs it without dbt, with the same Spark settings:

```sql
{STATEMENT}
```

{large_tables.METHOD}"""


def make_tables(size: Size) -> None:
    """Create the source, and the model's table as it was stored without some digits."""
    spark = get_session(SparkStart.read({}))
    spark.sql(f"create schema {SCHEMA}")
    for name, price in {"source": PRODUCED, "lines": STORED}.items():
        rows = size.rows_sql(price, f"if(id % {SHARE} = 0, 0.0025, 0)")
        spark.sql(f"create table {SCHEMA}.{name} using delta as {rows}")
        (detail,) = spark.sql(f"describe detail {SCHEMA}.{name}").collect()
        check(f"the number of files of {name}", detail.numFiles, size.files)


class Lines:
    """The model and its table, in one size.

    Args:
        folder: the folder for them.
    """

    def __init__(self, folder: Path, size: Size) -> None:
        self._size = size
        self._runs: list[Run] = []
        self._workspace = Workspace(folder, {"lines": MODEL})
        self._workspace.build(make_tables, size)

    def audit(self) -> Measures:
        """Run the operation once.

        Raises:
            RunFailed: dbt failed.
            WrongResult: the operation has not found what it should find.
        """
        command = ("--quiet", "run-operation", "audit_lossy_writes", "--args", "{output: json}")
        run = self._workspace.run(PROGRAM, *command)
        self._runs.append(run)
        (table,) = run.document["tables"]
        columns = {".".join(each["path"]): each["changed_by_cast"] for each in table["columns"]}
        found = {"compared": table["rows"]["compared"], "quantity": 0, **columns}
        check("what the audit has found", found, self._wanted)
        return measures(run)

    def join(self) -> Measures:
        """Run the statement once, with the Spark of the last audit. As ``audit``."""
        run = self._workspace.run_script(self._runs[-1], query=STATEMENT)
        check("what the join has found", run.document, self._wanted)
        return measures(run)

    @property
    def _wanted(self) -> dict[str, int]:
        return {"compared": self._size.rows, "quantity": 0, "price": self._size.rows // SHARE}


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The operation, compared with the join, and its memory, compared with that for fewer rows.

    Raises:
        RunFailed: dbt failed.
        WrongResult: the operation or the join has a wrong result.
    """
    sizes = Size.both(quick)
    with work_folder() as folder:
        large, small = (Lines(folder / f"lines_{size.rows}", size) for size in sizes)
        programs = {AUDIT: large.audit, JOIN: large.join, FEWER: small.audit}
        taken = in_turns(programs, Rounds.of(quick, MEASURED))
    return [
        Comparison(
            f"{sizes[0].name}, of which 1 in {SHARE:,} has lost digits",
            *(Sample(name, taken[name]["whole"]) for name in (AUDIT, JOIN)),
            aim=1.2,
        ),
        memory(AUDIT, sizes, taken[AUDIT]["memory"], taken[FEWER]["memory"]),
    ]


BENCHMARK = Benchmark("auditing", METHOD, measure)
