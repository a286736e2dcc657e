"""Measure the run time of dbt-deltawiden and of other programs on this machine.

python -m benchmarks [NAME ...]           run all benchmarks, or the named ones, and write the page
python -m benchmarks [NAME ...] --quick   run them with tiny sizes, and write nothing
python -m benchmarks --page               write the page from the saved results
"""

import argparse
import sys
from collections.abc import Iterable

from benchmarks import (
    auditing,
    checking,
    documentation,
    dropping,
    filtered_scan,
    kept_alive,
    large_merge,
    long_seed,
    many_models,
    many_tables,
    merges,
    newcomer,
    parsing,
    plan_many,
    planning,
    project,
    restoring,
    rewriting,
    script,
    seeds,
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
    for module in (
        merges,
        newcomer,
        project,
        seeds,
        long_seed,
        kept_alive,
        script,
        large_merge,
        many_models,
        widening,
        planning,
        many_tables,
        documentation,
        parsing,
        plan_many,
        dropping,
        checking,
        restoring,
        auditing,
        rewriting,
        filtered_scan,
    )
}
ERRORS = (RunFailed, WrongResult, widening.NoRoom)


def main(arguments: list[str]) -> int:
    """Run the command line.

    Args:
        arguments: the arguments, without the name of the program.

    Returns:
        The exit code. A ratio above its aim is a result, not an error.
    """
    options = _parse(arguments)
    try:
        if options.quick:
            for name in options.names or BENCHMARKS:
                _print_measured(name, quick=True)
        elif options.page:
            write_page()
        else:
            _measure(options.names or BENCHMARKS)
            write_page()
    except ERRORS as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="tiny sizes, only to test the code")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; accepted: {', '.join(BENCHMARKS)}")
    if options.page and (options.names or options.quick):
        parser.error("--page can't be combined with other arguments")
    return options


def _measure(names: Iterable[str]) -> None:
    """Run benchmarks, and save each result as soon as it exists."""
    environment = this_environment()
    for name in names:
        at = commit()
        comparisons = tuple(_print_measured(name, quick=False))
        measured = store.Measured(at, environment, comparisons)
        store.save(store.load().with_result(name, measured))


def _print_measured(name: str, quick: bool) -> list[Comparison]:
    print(f"{name}:", file=sys.stderr, flush=True)
    comparisons = BENCHMARKS[name].measure(quick)
    print("\n".join([HEADING, *map(row, comparisons)]), flush=True)
    return comparisons


def write_page() -> None:
    """Write the page and its chart from the saved results."""
    results = store.load().in_order(BENCHMARKS)
    PAGE.write_text(page(results, BENCHMARKS.values()), encoding="utf-8")
    draw(results.comparisons, CHART)
    print(f"wrote {PAGE} and {CHART}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
