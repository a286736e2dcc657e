"""What the benchmarks of operations on a large table share: its rows, and a Spark with 1 GB."""

from dataclasses import dataclass

from benchmarks.harness import Measures
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.widening import MOST_ROWS_IN_A_SMALL_FILE, ROWS_A_FILE
from benchmarks.workspace import OUR_TARGET, OURS, ProcessRun, Program

ROWS, ROWS_QUICK, FEWER = 50_000_000, 50_000, 10
MEASURED = 3
PROGRAM = Program(
    OURS,
    OUR_TARGET,
    {
        "spark.driver.memory": "1g",
        # By default, OPTIMIZE would rewrite the whole table in one task.
        "spark.databricks.delta.optimize.maxFileSize": "134217728",
    },
)
METHOD = f"""\
Each run is a separate process with a new Spark, which has 1 GB of memory (`spark.driver.memory`).
The tables are restored before every run. The seconds are from the start of the process to the end
of the command or statement. The peak memory is the sum of the highest resident sizes (`VmHWM` in
Linux) of dbt's process and of its JVM, with {ROWS:,} rows and with {ROWS // FEWER:,}. There are
{MEASURED} measured rounds."""


@dataclass(frozen=True)
class Size:
    """The number of rows and files of a table."""

    rows: int
    files: int

    @classmethod
    def both(cls, quick: bool) -> tuple["Size", "Size"]:
        """Return the size of the large table, and of the one that its memory is compared with."""
        rows, in_file = (ROWS_QUICK, MOST_ROWS_IN_A_SMALL_FILE) if quick else (ROWS, ROWS_A_FILE)
        fewer = rows // FEWER
        return cls(rows, rows // in_file), cls(fewer, fewer // in_file)

    @property
    def name(self) -> str:
        return f"{self.rows:,} rows"

    def rows_sql(self, price: str, more: str = "0") -> str:
        """Return a query for the rows.

        Args:
            price: the type of the column ``price``, whose values are less than 10,000.
            more: an amount that is added to each price.
        """
        return (
            "select id, pmod(hash(id), 100000) as quantity, "
            f"cast(pmod(hash(id, 1), 1000000) / 100 + {more} as {price}) as price "
            f"from range(0, {self.rows}, 1, {self.files})"
        )


def measures(run: ProcessRun) -> Measures:
    """Return the seconds and the memory of a run.

    Raises:
        WrongResult: this system does not tell the memory.
    """
    check("whether this system tells the peak memory of a process", run.peak_memory > 0, True)
    return {"whole": run.whole, "memory": run.peak_memory}


def memory(
    operation: str, sizes: tuple[Size, Size], large: tuple[float, ...], small: tuple[float, ...]
) -> Comparison:
    """Compare the memory of an operation with that for fewer rows."""
    samples = (Sample(size.name, peaks) for size, peaks in zip(sizes, (large, small), strict=True))
    return Comparison(f"the peak memory of {operation}", *samples, aim=1.2, unit="GB")
