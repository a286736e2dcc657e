"""Ours against another program, on this machine.

python -m benchmarks [NAME ...] [--quick]   measure all benchmarks, or some
python -m benchmarks --page                 write the page, from what has been measured

A run of all writes the page, too.
"""

import argparse
import sys
from collections.abc import Iterable

from benchmarks import (
    checking,
    dropping,
    many_tables,
    merges,
    newcomer,
    planning,
    store,
    widening,
)
from benchmarks.chart import draw
from benchmarks.harness import Benchmark
from benchmarks.machine import commit, this_environment
from benchmarks.page import CHART, PAGE, page
from benchmarks.results import HEADING, Comparison, row
from benchmarks.spark import WrongResult
from benchmarks.workspace import RunFailed

BENCHMARKS: dict[str, Benchmark] = {
    module.BENCHMARK.name: module.BENCHMARK
    for module in (merges, newcomer, widening, planning, many_tables, dropping, checking)
}
ERRORS = (
    store.DifferentEnvironment,
    store.Incomplete,
    RunFailed,
    WrongResult,
    widening.NoRoom,
)


def main(arguments: list[str]) -> int:
    """Run what the command line asks for.

    Args:
        arguments: the command line's, without the program.

    Returns:
        The exit code. A ratio beyond its aim is a result, not an error.
    """
    options = _parse(arguments)
    try:
        if options.quick:
            for name in options.names or BENCHMARKS:
                _print_measured(name, quick=True)
        elif options.page:
            write_page()
        elif options.names:
            _measure(options.names)
        else:
            _measure_all()
            write_page()
    except ERRORS as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="tiny sizes; only shows that it works")
    parser.add_argument("--page", action="store_true", help="write the page, measure nothing")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    if options.page and (options.names or options.quick):
        parser.error("--page stands alone: it measures nothing")
    return options


def _measure_all() -> None:
    """Measure all, and keep each result as soon as it is there, in place of the earlier ones."""
    results = store.Results(this_environment())
    for name in BENCHMARKS:
        results = results.with_result(name, _measured(name))
        store.save(results)


def _measure(names: Iterable[str]) -> None:
    """Measure some, and keep each result beside the others, if they can stand on one page."""
    environment = this_environment()
    for name in names:
        measured = _measured(name)
        try:
            store.save(store.load(environment).with_result(name, measured))
        except store.DifferentEnvironment as error:
            print(f"Not kept. {error}", file=sys.stderr)


def _measured(name: str) -> store.Measured:
    at = commit()
    return store.Measured(at, tuple(_print_measured(name, quick=False)))


def _print_measured(name: str, quick: bool) -> list[Comparison]:
    print(f"{name}:", file=sys.stderr, flush=True)
    comparisons = BENCHMARKS[name].measure(quick)
    print("\n".join([HEADING, *map(row, comparisons)]), flush=True)
    return comparisons


def write_page() -> None:
    """Write the page and its chart, from what has been measured.

    Raises:
        Incomplete: a benchmark has no result.
        DifferentEnvironment: the results are of another machine or of other versions.
    """
    results = store.load(this_environment()).in_order(BENCHMARKS)
    PAGE.write_text(page(results, BENCHMARKS.values()), encoding="utf-8")
    draw(results.comparisons, CHART)
    print(f"wrote {PAGE} and {CHART}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
