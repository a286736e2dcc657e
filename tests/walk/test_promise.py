"""The promise: after a run every value is stored exactly, or nothing is written."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from pyspark.sql import SparkSession

from tests.conformance.report import Conformance
from tests.functional.support import needs_delta_4
from tests.small import SMALL, settings_of
from tests.walk.drift import drifted, first_schema
from tests.walk.model import Output, Settings, all_settings, random_output
from tests.walk.walk import Findings, Walk

SEEDS = st.integers(0, 2**32 - 1)
MODELS = 10
CELLS = all_settings(Random(22))


def random_starts(
    prefix: str, cells: list[Settings], seed: int
) -> dict[str, tuple[Settings, Output]]:
    starts = {}
    for number, cell in enumerate(cells):
        name = f"{prefix}_{number}"
        rng = Random(f"{seed}/{name}")
        schema = first_schema(rng, cell.limited)
        output = random_output(rng, cell, schema, schema, [])
        # A column of a merge that does not exist yet can't be updated.
        starts[name] = cell, Output(schema, output.rows, [])
    return starts


def random_outputs(walk: Walk, seed: int) -> dict[str, Output]:
    outputs = {}
    for walker in walk.walkers:
        rng = Random(f"{seed}/{walker.name}")
        table = walk.contents[walker.name]
        schema = drifted(rng, table.schema, walker.settings.changes_columns)
        outputs[walker.name] = random_output(
            rng, walker.settings, schema, table.schema, [*table.rows]
        )
    return outputs


def machine(
    spark: SparkSession, schema: str, folder: Path, findings: Findings, other: int
) -> type[RuleBasedStateMachine]:
    """Make the state machine of walks in a project. A walk takes the next models.

    Args:
        other: 0, or the number of other walks, which begin with other models.
    """
    walks = iter(range(other * 1000, 10_000))

    class Promise(RuleBasedStateMachine):
        @initialize(seed=SEEDS)
        def begin(self, seed: int) -> None:
            number = next(walks)
            cells = [CELLS[(number * MODELS + n) % len(CELLS)] for n in range(MODELS)]
            self.walk = Walk(spark, schema, folder, findings)
            self.walk.begin(random_starts(f"walk{number}", cells, seed + other))

        @rule(seed=SEEDS)
        def step(self, seed: int) -> None:
            self.walk.step(random_outputs(self.walk, seed + other), seed + other)

        def teardown(self) -> None:
            if hasattr(self, "walk"):
                self.walk.end()

    return Promise


@needs_delta_4
class TestThePromise:
    @pytest.fixture(scope="class")
    def models(self):
        return {"nothing.sql": "select 1 as id"}

    @pytest.fixture(autouse=True)
    def _small_tables(self, spark: SparkSession) -> Iterator[None]:
        """Use settings for tables of ten rows: one task, and no code generation for a query."""
        with settings_of(spark, SMALL):
            yield

    @pytest.mark.parametrize(
        ("walks", "steps"),
        [
            pytest.param(1, 2, id="cut"),
            pytest.param(11, 6, id="whole", marks=pytest.mark.promise),
        ],
    )
    def test_every_value_is_stored_exactly_or_nothing_is_written(
        self,
        request: pytest.FixtureRequest,
        project,
        spark: SparkSession,
        conformance: Conformance,
        walks: int,
        steps: int,
    ):
        findings = Findings()
        folder = Path(project.project_root) / "models"
        other = request.config.getoption("--other-walks")
        run_state_machine_as_test(
            machine(spark, project.test_schema, folder, findings, other),
            settings=settings(
                max_examples=walks,
                # The report counts the start of a walk as a step.
                stateful_step_count=steps + 1,
                derandomize=True,
                database=None,
                deadline=None,
                # A failure has the text that reproduces it, so Hypothesis need not shrink the walk.
                phases=(Phase.generate,),
                suppress_health_check=list(HealthCheck),
            ),
        )
        conformance.promise = findings.counts
        conformance.promise_disagreements = [text.split("\n")[0] for text in findings.violations]
        print(findings.counts, dict(findings.steps), dict(findings.known), sep="\n")
        # Otherwise nothing was tried, or the oracle finds nothing.
        assert findings.counts["steps written, with a loss that the model accepts"] > 0
        assert findings.violations == [], "\n\n".join(findings.violations)
