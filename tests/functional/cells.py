"""The cells of the decision table: a model for each mode and strategy, run twice."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from tests.functional.support import Run, Table, dbt, in_part_slow, selected

MODES = ("ignore", "append_new_columns", "sync_all_columns", "fail")
STRATEGIES = ("append", "merge", "insert_overwrite", "microbatch")
AUTOMATIC = ("append_new_columns", "sync_all_columns")
CELLS = [(mode, strategy) for mode in MODES for strategy in STRATEGIES]
# These are INSERT statements, as append is.
_SLOW = ("insert_overwrite", "microbatch")


def _cell(*values: str) -> Any:
    return pytest.param(*values, marks=[pytest.mark.slow] if values[-1] in _SLOW else [])


every_strategy = pytest.mark.parametrize("strategy", in_part_slow(STRATEGIES, _SLOW))
# For a situation of a kind that another test has with a MERGE too.
alike_in_every_strategy = pytest.mark.parametrize(
    "strategy", in_part_slow(STRATEGIES, ("merge", *_SLOW))
)
every_cell = pytest.mark.parametrize(("mode", "strategy"), [_cell(*values) for values in CELLS])
automatic = pytest.mark.parametrize("mode", AUTOMATIC)

# One batch of one day, so that a microbatch model writes once in each run.
ONE_DAY = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02")
NEXT_DAY = ("--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03")


def cell(mode: str, strategy: str) -> str:
    return f"{mode}__{strategy}"


@dataclass(frozen=True)
class Before:
    """The state of a table before the second run."""

    id: str
    version: int
    types: dict[str, str]


@dataclass(frozen=True)
class TwoRuns:
    """The second run of all cells, and the state of the tables before it."""

    second: Run
    before: dict[str, Before]


class DecisionTable:
    """Run a situation in every cell once for the class. Its tests then read the result from Delta.

    A subclass has the columns of the first and of the second run as SQL. Every model also has an id
    (1, then 2) and a partition column.
    """

    first: ClassVar[dict[str, str]]
    second: ClassVar[dict[str, str]]
    config: ClassVar[dict[str, Any]] = {"type_widening": True}
    cells: ClassVar[list[tuple[str, str]]] = CELLS

    @pytest.fixture(scope="class")
    def built(self, request: pytest.FixtureRequest) -> list[tuple[str, str]]:
        """The cells of the strategies whose tests are selected; all if no test has a strategy."""
        strategies = selected(request, "strategy") or STRATEGIES
        return [(mode, strategy) for mode, strategy in self.cells if strategy in strategies]

    @pytest.fixture(scope="class")
    def models(self, built: list[tuple[str, str]]) -> dict[str, str]:
        return {f"{cell(m, s)}.sql": self._model(m, s) for m, s in built}

    @pytest.fixture(scope="class")
    def runs(self, built: list[tuple[str, str]], project: Any, spark: Any) -> TwoRuns:
        first = dbt("run", *ONE_DAY, step=1)
        assert {str(result.status) for result in first.results.values()} == {"success"}, (
            first.output
        )
        tables = {cell(m, s): Table(spark, f"{project.test_schema}.{cell(m, s)}") for m, s in built}
        self.prepare(tables)
        before = {n: Before(t.id, t.version, t.types) for n, t in tables.items()}
        return TwoRuns(dbt("run", *NEXT_DAY, step=2), before)

    def prepare(self, tables: dict[str, Table]) -> None:
        """Change the tables between the runs."""

    def _model(self, mode: str, strategy: str) -> str:
        config = {
            "materialized": "incremental",
            "incremental_strategy": strategy,
            "on_schema_change": mode,
            **self.config,
        }
        if strategy == "merge":
            config["unique_key"] = "id"
        if strategy in ("insert_overwrite", "microbatch"):
            config["partition_by"] = "step"
        if strategy == "microbatch":
            config |= {"event_time": "at", "batch_size": "day", "begin": "2024-01-01"}
        return (
            f"{{{{ config(**{config!r}) }}}}\n"
            "{% if var('step') == 1 %}\n"
            + self._select(1, self.first)
            + "{% else %}\n"
            + self._select(2, self.second)
            + "{% endif %}\n"
        )

    def _select(self, step: int, columns: dict[str, str]) -> str:
        own = {"id": str(step), "step": f"'{step}'", "at": f"timestamp'2024-01-0{step} 12:00:00'"}
        listed = ", ".join(f"{sql} as {name}" for name, sql in {**own, **columns}.items())
        return f"select {listed}\n"


def assert_untouched(table: Table, before: Before) -> None:
    """Assert that nothing was changed and that no row was written: either would be a commit."""
    assert (table.id, table.version) == (before.id, before.version)
