"""Renames, additions, widenings, backfills and restores in random order keep every value."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from tests.conformance.report import Conformance
from tests.functional.support import needs_delta_4
from tests.small import SMALL, settings_of
from tests.walk.acts import Walker, first_walker
from tests.walk.repair_walk import Findings, RepairWalk
from tests.walk.repairs import Model

WALKS, STEPS = 2, 20
# Each strategy; a table without column mapping; columns that are dropped; files that stay old.
SETTINGS = (
    ("merge", "append_new_columns", True, None),
    ("merge", "append_new_columns", True, False),
    ("merge", "sync_all_columns", True, None),
    ("merge", "append_new_columns", False, False),
    ("append", "append_new_columns", True, False),
    ("delete+insert", "append_new_columns", True, None),
    ("delete+insert", "sync_all_columns", True, False),
    ("insert_overwrite", "append_new_columns", True, None),
)
LEAST = {
    "steps": WALKS * STEPS * len(SETTINGS),
    "steps refused": 25,
    "columns and fields renamed": 80,
    "nested fields renamed": 20,
    "columns and fields added": 15,
    "types widened": 100,
    "types widened of what the same run renamed": 20,
    "rows backfilled by runs": 40,
    "rows filled with a default": 12,
    "rows changed by backfill_columns": 50,
    "rows changed by restore_values": 60,
    "rows left, because not only a cast": 15,
    "rows without a partner": 15,
    "steps that leave a column to a person": 2,
    "files compacted": 1,
    "steps, full refresh": 6,
}
"""How often each thing is done at least, so that the walk shows something of each. The walk of
today does it about one and a half times as often. Other walks can have less. Most runs rewrite
older files themselves, so `rewrite_widened_files` seldom finds one."""


def walkers(seed: str) -> Iterator[Walker]:
    for number, settings in enumerate(SETTINGS):
        model = Model(f"repaired_{number}", *settings, StructType([]), {})
        yield first_walker(Random(f"{seed}/{number}"), model)


@needs_delta_4
@pytest.mark.promise
class TestRepairs:
    @pytest.fixture(scope="class")
    def models(self):
        return {"nothing.sql": "select 1 as id"}

    def test_each_table_has_exactly_the_rows_that_it_must_have(
        self,
        request: pytest.FixtureRequest,
        project,
        spark: SparkSession,
        conformance: Conformance,
    ):
        findings = Findings()
        folder = Path(project.project_root) / "models"
        other = request.config.getoption("--other-walks")
        with settings_of(spark, SMALL):
            for walk in range(WALKS):
                seed = f"repairs/{other}/{walk}"
                taken = RepairWalk(spark, project.test_schema, folder, findings)
                taken.begin(walkers(seed))
                for step in range(STEPS):
                    taken.step(Random(f"{seed}/{step}"))
                taken.end()
        for name, count in sorted(findings.counts.items()):
            print(f"{count:6} {name}")
        conformance.repairs = {name: findings.counts[name] for name in (*LEAST, "filters")}
        conformance.repairs_disagreements = [text.split("\n")[0] for text in findings.violations]
        assert findings.violations == [], "\n\n".join(findings.violations)
        too_few = {name: n for name, n in LEAST.items() if findings.counts[name] < n}
        assert other or too_few == {}, findings.counts
