"""How the functional tests read Delta tables and run dbt."""

import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest
from dbt.tests.util import run_dbt_and_capture
from pyspark.sql import Row, SparkSession

from tests.delta_log import local_log, newest_version, operations, table_id

needs_delta_4 = pytest.mark.skipif(
    version("delta-spark") < "4", reason="Delta 3.3 widens no more than byte and short"
)


@dataclass(frozen=True)
class Table:
    """A table as Delta reports it."""

    spark: SparkSession
    name: str

    @property
    def quoted(self) -> str:
        return ".".join(f"`{part}`" for part in self.name.split("."))

    @property
    def types(self) -> dict[str, str]:
        rows = self.spark.sql(f"describe {self.name}").collect()
        names = [row.col_name for row in rows]
        # The partitioning follows the columns, after a row that starts with '#'.
        end = next((i for i, name in enumerate(names) if name.startswith("#") or not name), None)
        return {row.col_name: row.data_type for row in rows[:end]}

    @property
    def history(self) -> list[Row]:
        """The commits, the oldest first."""
        return sorted(self.spark.sql(f"describe history {self.name}").collect())

    @property
    def version(self) -> int:
        log = local_log(self.spark, self.name)
        return newest_version(log) if log else int(self.history[-1].version)

    @property
    def id(self) -> str:
        log = local_log(self.spark, self.name)
        detail = f"describe detail {self.name}"
        return table_id(log) if log else str(self.spark.sql(detail).collect()[0].id)

    @property
    def properties(self) -> dict[str, str]:
        return {r.key: r.value for r in self.spark.sql(f"show tblproperties {self.name}").collect()}

    def operations(self, since: int) -> list[str]:
        log = local_log(self.spark, self.name)
        if log:
            return operations(log, since)
        return [row.operation for row in self.history if row.version > since]

    def user_metadata(self, operation: str) -> dict[str, Any]:
        (text,) = [r.userMetadata for r in self.history if r.operation == operation]
        return json.loads(text)

    def rows(self, *columns: str) -> list[tuple[Any, ...]]:
        """The rows, in order."""
        selected = self.spark.table(self.name).selectExpr(*columns) if columns else None
        frame = selected if selected is not None else self.spark.table(self.name)
        return sorted((tuple(row) for row in frame.collect()), key=repr)


@dataclass(frozen=True)
class Run:
    """One dbt invocation: its results by the name of the node, and its output."""

    results: dict[str, Any]
    output: str

    def status(self, node: str) -> str:
        return str(self.results[node].status)

    def message(self, node: str) -> str:
        """The node's error. dbt only prints the errors of the batches of a microbatch model."""
        result = self.results[node]
        if result.batch_results is None:
            return str(result.message)
        return self.output.split(f"Error in model {node} (", 1)[-1].split("compiled code at", 1)[0]

    def response(self, node: str) -> dict[str, Any]:
        return dict(self.results[node].adapter_response)


def in_part_slow(values: Iterable[str], slow: Collection[str]) -> list[Any]:
    """Return the values as parameters; make test leaves out the tests of the slow ones."""
    return [pytest.param(v, marks=[pytest.mark.slow] if v in slow else []) for v in values]


def selected(request: pytest.FixtureRequest, parameter: str) -> set[Any]:
    """Return the values of a parameter in the selected tests of the class."""
    tests = (item for item in request.session.items if getattr(item, "cls", None) is request.cls)
    parameters = (test.callspec.params for test in tests if hasattr(test, "callspec"))
    return {values[parameter] for values in parameters if parameter in values}


@contextmanager
def again_and_again(step: Callable[[], object]) -> Iterator[None]:
    """Repeat a step in another thread until the block ends."""
    ended = threading.Event()

    def take_steps() -> None:
        while not ended.is_set():
            step()

    thread = threading.Thread(target=take_steps)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def dbt(*arguments: str, **variables: Any) -> Run:
    """Run dbt in this process. A failed node does not raise an error."""
    command = [*arguments]
    if variables:
        command += ["--vars", json.dumps(variables, ensure_ascii=False)]
    results, output = run_dbt_and_capture(command, expect_pass=None)
    # The result of an operation has no node.
    nodes = [result for result in results or [] if hasattr(result, "node")]
    return Run({result.node.name: result for result in nodes}, output)
