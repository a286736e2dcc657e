"""Every example in every mode stores every value exactly, or the run names the value."""

from itertools import cycle, product
from pathlib import Path

import pytest
from pyspark.sql.types import CharType, DataType, StructField, StructType, VarcharType

from tests.functional.support import needs_delta_4
from tests.small import SMALL, settings_of
from tests.walk.drift import OWN
from tests.walk.examples import EXAMPLES, Example
from tests.walk.model import NOON, Output, Settings
from tests.walk.walk import Findings, Walk

MOST = max(len(example.loses) for example in EXAMPLES.values())
MODES = [("ignore", "error"), ("ignore", "warn"), ("append_new_columns", "error")]


def settings_for(example: Example, strategy: str, mode: str, lossy: str) -> Settings:
    limited = isinstance(example.table, CharType | VarcharType)
    return Settings(strategy, mode, lossy, True, False, limited)


def output_of(data_type: DataType, values: tuple[object, ...], first: int) -> Output:
    rows = [{"id": first + n, "part": 1, "at": NOON, "ca": value} for n, value in enumerate(values)]
    return Output(StructType([*OWN, StructField("ca", data_type)]), rows, [])


@needs_delta_4
@pytest.mark.promise
class TestExamples:
    @pytest.fixture(scope="class")
    def models(self):
        return {"nothing.sql": "select 1 as id"}

    def test_every_value_is_stored_exactly_or_nothing_is_written(self, project, spark):
        findings = Findings()
        walk = Walk(spark, project.test_schema, Path(project.project_root) / "models", findings)
        starts: dict[str, tuple[Settings, Output]] = {}
        steps: list[dict[str, Output]] = [{} for _ in range(1 + MOST)]
        # Seven strategies and three modes: each strategy takes its turn in each mode.
        rewrites = ("insert_overwrite", "merge", "replace_where", "merge", "delete+insert")
        turns = cycle(("append", "merge", *rewrites))
        for (name, example), (mode, lossy) in product(EXAMPLES.items(), MODES):
            model = f"{name}__{mode}__{lossy}"
            settings = settings_for(example, next(turns), mode, lossy)
            starts[model] = settings, output_of(example.table, (example.has,), 1)
            steps[0][model] = output_of(example.source, example.fits, 2)
            for number, value in enumerate(example.loses, 1):
                steps[number][model] = output_of(example.source, (value,), 100 + number)
        with settings_of(spark, SMALL):
            walk.begin(starts)
            made = [walk.step(outputs, seed) for seed, outputs in enumerate(steps)]
            walk.end()
        print(findings.counts, dict(findings.steps), dict(findings.known), sep="\n")
        assert findings.violations == [], "\n\n".join(findings.violations)
        stopped = {
            step.name: step.message
            for step in made[0]
            if (step.settings.mode, step.settings.lossy) == ("ignore", "error") and step.message
        }
        assert stopped == {}
