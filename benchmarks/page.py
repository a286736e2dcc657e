"""`docs/benchmarks.md`, from results."""

from collections.abc import Iterable, Iterator

from benchmarks.harness import Benchmark
from benchmarks.processes import ROOT
from benchmarks.results import HEADING, row
from benchmarks.store import Results

PAGE = ROOT / "docs" / "benchmarks.md"
CHART = PAGE.with_suffix(".svg")

HEAD = """# Benchmarks

`make bench` measures two programs in turns, on one machine and in one run, and writes this page:
the ratios are what it is about. After a round that does not count there are five that do:
*seconds* are their median, with the fastest and the slowest in brackets, and the *ratio* is that
of the medians. Every run's tables are held against the rows and types that they have to have: a
wrong run is an error, not a time."""


def page(results: Results, benchmarks: Iterable[Benchmark]) -> str:
    """Render the page.

    Args:
        results: those of all the benchmarks.
        benchmarks: the benchmarks, in the order of the page.

    Returns:
        Markdown.

    Raises:
        Incomplete: one has no result.
    """
    shown = [*benchmarks]
    results = results.in_order(each.name for each in shown)
    parts = [
        HEAD,
        f"![Each ratio as a part of its aim]({CHART.name})",
        "\n".join(_table(results)),
        "## Where",
        "\n".join(_where(results)),
        "## How",
        f"`make bench ONLY={shown[0].name}` runs one of them.",
        *(_how(each, results.measured[each.name].commit) for each in shown),
    ]
    return "\n\n".join(parts) + "\n"


def _table(results: Results) -> Iterator[str]:
    yield HEADING
    yield from (row(each) for each in results.comparisons)


def _where(results: Results) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    for name, value in {**results.environment.machine, **results.environment.versions}.items():
        yield f"| {name} | {value} |"


def _how(benchmark: Benchmark, commit: str) -> str:
    return f"### {benchmark.name}\n\n{benchmark.method}\n\nMeasured at {commit}."
