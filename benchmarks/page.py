"""Render `docs/benchmarks.md` from the results."""

from collections.abc import Iterable, Iterator

from benchmarks.harness import Benchmark
from benchmarks.processes import ROOT
from benchmarks.results import HEADING, row
from benchmarks.store import Results

PAGE = ROOT / "docs" / "benchmarks.md"
CHART = PAGE.with_suffix(".svg")

HEAD = """# Benchmarks

This page compares the run time of dbt-deltawiden with dbt-spark, with a full refresh and with
Delta's own `DROP FEATURE`. `make bench` runs the benchmarks and writes this page.

Each benchmark runs two programs in turns, on one machine and in one run. The first round is a
warm-up. Five measured rounds follow:

- *seconds*: the median of the five rounds, with the fastest and the slowest round in brackets
- *ratio*: the first median divided by the second. The seconds depend on the machine, so compare
  the ratios
- *aim*: the highest ratio that meets our goal

After each run, the rows and types of the tables are compared with the expected ones. If they
differ, the benchmark stops with an error."""


def page(results: Results, benchmarks: Iterable[Benchmark]) -> str:
    """Render the page.

    Args:
        results: the results of all benchmarks.
        benchmarks: the benchmarks, in the order of the page.

    Returns:
        The page as Markdown.

    Raises:
        Incomplete: a benchmark has no result.
    """
    shown = [*benchmarks]
    results = results.in_order(benchmark.name for benchmark in shown)
    parts = [
        HEAD,
        f"![Each ratio divided by its aim]({CHART.name})",
        "\n".join(_table(results)),
        "## Environment",
        "\n".join(_environment(results)),
        "## Methods",
        f"To run one benchmark, use `make bench ONLY={shown[0].name}`.",
        *(_method(benchmark, results.measured[benchmark.name].commit) for benchmark in shown),
    ]
    return "\n\n".join(parts) + "\n"


def _table(results: Results) -> Iterator[str]:
    yield HEADING
    yield from (row(comparison) for comparison in results.comparisons)


def _environment(results: Results) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    for name, value in {**results.environment.machine, **results.environment.versions}.items():
        yield f"| {name} | {value} |"


def _method(benchmark: Benchmark, commit: str) -> str:
    return f"### {benchmark.name}\n\n{benchmark.method}\n\nMeasured at {commit}."
