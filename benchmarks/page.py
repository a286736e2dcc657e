"""Render `docs/benchmarks.md` from the results."""

from collections.abc import Iterable, Iterator

from benchmarks.harness import Benchmark
from benchmarks.processes import ROOT
from benchmarks.results import HEADING, row
from benchmarks.store import Results

PAGE = ROOT / "docs" / "benchmarks.md"
CHART = PAGE.with_suffix(".svg")

HEAD = """# Benchmarks

This page compares the run time of dbt-deltawiden with dbt-spark, with PySpark scripts, with a full
refresh and with Delta's own `DROP FEATURE` and `OPTIMIZE`. `make bench` runs the benchmarks and
writes this page.

Each benchmark runs two programs in turns, on one machine and in one run. The first round is a
warm-up. Five measured rounds follow, or fewer where the method says so:

- *seconds*: the median of the measured rounds, with the fastest and the slowest one in brackets.
  A row about memory has GB (10^9 bytes)
- *ratio*: the first median divided by the second. The seconds depend on the machine, and two
  benchmarks can be from different machines, so compare the ratios
- *aim*: the highest ratio that meets our goal

After each run, the rows and types of the tables, or the result of a query, are compared with the
expected ones. If they differ, the benchmark stops with an error."""


def page(results: Results, benchmarks: Iterable[Benchmark]) -> str:
    """Render the page.

    Args:
        benchmarks: all benchmarks, in the order of the page. One without a result is left out.

    Returns:
        The page as Markdown.
    """
    shown = [*benchmarks]
    results = results.in_order(benchmark.name for benchmark in shown)
    parts = [
        HEAD,
        f"![Each ratio divided by its aim]({CHART.name})",
        "\n".join(_table(results)),
        "## Environments",
        "\n".join(_environments(results)),
        "## Methods",
        f"To run one benchmark, use `make bench ONLY={shown[0].name}`.",
        *(_method(each, results) for each in shown if each.name in results.measured),
    ]
    return "\n\n".join(parts) + "\n"


def _table(results: Results) -> Iterator[str]:
    yield HEADING
    yield from (row(comparison) for comparison in results.comparisons)


def _environments(results: Results) -> Iterator[str]:
    """Yield the lines of a table that has a column for each environment."""
    columns = [{**each.machine, **each.versions} for each in results.environments]
    numbers = [str(number) for number, _ in enumerate(columns, start=1)]
    yield f"| | {' | '.join(numbers)} |"
    yield f"|---|{'---|' * len(columns)}"
    for name in dict.fromkeys(name for column in columns for name in column):
        yield f"| {name} | {' | '.join(column.get(name, '') for column in columns)} |"


def _method(benchmark: Benchmark, results: Results) -> str:
    found = results.measured[benchmark.name]
    number = results.environments.index(found.environment) + 1
    measured = f"Measured at {found.commit}, in environment {number}."
    return f"### {benchmark.name}\n\n{benchmark.method}\n\n{measured}"
