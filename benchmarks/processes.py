"""Run functions in separate processes. Each process has its own Spark, and ends it."""

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ParamSpec, TypeVar

from pyspark.errors import PySparkException

from benchmarks.spark import end_spark

ROOT = Path(__file__).parents[1]
BENCH = ROOT / ".bench"
"""The folder in which benchmarks work. Git ignores it."""

# These variables would change the settings of Spark, and the page does not describe that. With the
# last one, Python would compile our adapter, which no pip has compiled, at every start.
_VARIABLES = (
    *("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "MASTER"),
    "PYTHONDONTWRITEBYTECODE",
)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def environment(folder: Path) -> dict[str, str]:
    """Return the environment variables of a benchmark's processes.

    Args:
        folder: the benchmark's folder, which also has the temporary files.

    Returns:
        The variables of this process, without those that would distort the results.
    """
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    inherited = {key: value for key, value in os.environ.items() if key not in _VARIABLES}
    return {
        **inherited,
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(temporary),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "0",
    }


@contextmanager
def work_folder() -> Iterator[Path]:
    """Create a folder on the disk of the repository, and remove it at the end."""
    BENCH.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=BENCH, prefix="work-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def apart(
    function: Callable[Arguments, Result],
    folder: Path,
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> Result:
    """Call a function in a new process that works in a folder, and wait for its Spark to end.

    Args:
        function: a function of a module.
        folder: the folder to work in. Its parent is the benchmark's folder.
        arguments: the arguments of the function.
        options: the keyword arguments of the function.

    Returns:
        The return value of the function.

    Raises:
        RuntimeError: the function raised an exception of PySpark, whose text is in the message.
    """
    spawn = multiprocessing.get_context("spawn")
    start = (environment(folder.parent), folder)
    with ProcessPoolExecutor(1, spawn, initializer=_start, initargs=start) as pool:
        try:
            return pool.submit(_call, function, *arguments, **options).result()
        finally:
            pool.submit(end_spark).result()


def _call(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **options: Arguments.kwargs
) -> Result:
    try:
        return function(*arguments, **options)
    except PySparkException:
        # Another process can't load such an exception.
        raise RuntimeError(traceback.format_exc()) from None


def apart_in_work_folder(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function with ``apart``, in an empty folder that is removed at the end."""
    with work_folder() as folder:
        work = folder / "work"
        work.mkdir()
        return apart(function, work, *arguments)


def _start(variables: dict[str, str], folder: Path) -> None:
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
