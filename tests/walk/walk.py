"""The walk: dbt runs models on real Delta whose output changes in every step."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TypeVar
from urllib.parse import urlparse

from pyspark.sql import SparkSession

from tests.delta_log import newest_version, operations
from tests.functional.cells import ONE_DAY
from tests.functional.support import Run, dbt
from tests.walk.judge import Step, Violation, differing_columns, judge, reproduction
from tests.walk.known import known_defect
from tests.walk.model import PARTITIONED, Output, Settings, model_text
from tests.walk.reads import count_filters, judge_filters, judge_view
from tests.walk.stored import Contents, read_contents

T = TypeVar("T")


@dataclass
class Findings:
    """The results of all steps.

    Attributes:
        steps: the number of steps by mode and result.
        filters: the number of filters on tables.
        views: the number of views that were read.
        violations: the violations, with the text that reproduces them.
        known: the number of violations by known defect.
    """

    steps: Counter[tuple[str, str]] = field(default_factory=Counter)
    filters: int = 0
    views: int = 0
    violations: list[str] = field(default_factory=list)
    known: Counter[str] = field(default_factory=Counter)

    @property
    def counts(self) -> dict[str, int]:
        """The counts for the report."""
        endings = Counter(ending for (_, ending), count in self.steps.items() for _ in range(count))
        return {
            "steps": self.steps.total(),
            **{f"steps {ending}": count for ending, count in sorted(endings.items())},
            "filters": self.filters,
            "views read": self.views,
        }

    def add_made(self, step: Step, found: list[Violation]) -> None:
        """Add the violations of a new table."""
        self._tell(step, found)

    def add(self, step: Step, found: list[Violation]) -> None:
        mode = step.settings.mode
        if mode == "ignore":
            mode = f"ignore, on_lossy_write {step.settings.lossy}"
        self.steps[mode, _outcome(step)] += 1
        self._tell(step, found)

    def _tell(self, step: Step, found: list[Violation]) -> None:
        for violation in found:
            reason = known_defect(step, violation)
            if reason:
                self.known[reason] += 1
                continue
            columns = [name.strip() for name in violation.column.split(",") if name]
            text = f"{violation.kind}: {violation.column} in {step.name}: {violation.details}\n"
            text += reproduction(step, columns or sorted(step.output.schema.names))
            print(text)
            self.violations.append(text)


def _outcome(step: Step) -> str:
    if step.message is not None:
        return "refused"
    if any(judge(replace(step, settings=replace(step.settings, lossy="error")))):
        return "written, with a loss that the model accepts"
    differing = differing_columns(step.output.schema, step.before.schema)
    return "written, of other types" if differing else "written"


@dataclass
class Walker:
    """One model of the walk; ``columns`` are the columns of its view."""

    name: str
    settings: Settings
    columns: list[str]


class Walk:
    """The models of one dbt project, which run together in each step."""

    def __init__(self, spark: SparkSession, schema: str, folder: Path, findings: Findings):
        self.spark, self.schema, self.folder = spark, schema, folder
        self.findings = findings
        self.warehouse = Path(urlparse(spark.conf.get("spark.sql.warehouse.dir")).path)
        self.walkers: list[Walker] = []
        self.contents: dict[str, Contents] = {}

    def begin(self, starts: dict[str, tuple[Settings, Output]]) -> None:
        """Create the tables and their views.

        Args:
            starts: the settings and the first contents of the table, by model.
        """
        for name, (settings, output) in starts.items():
            self.walkers.append(Walker(name, settings, output.schema.names))
            if settings.limited:
                self._create(name, settings, output)
            self._write(name, settings, output)
            view = f"{{{{ config(materialized='view') }}}} select * from {{{{ ref('{name}') }}}}"
            (self.folder / f"{name}_view.sql").write_text(view, encoding="utf-8")
        made_by_dbt = [walker for walker in self.walkers if not walker.settings.limited]
        run = self._run([walker.name for walker in made_by_dbt])
        assert {str(result.status) for result in run.results.values()} == {"success"}, run.output
        made = dbt("run", "-s", *(f"{walker.name}_view" for walker in self.walkers))
        assert {str(result.status) for result in made.results.values()} == {"success"}, made.output
        for step in _in_threads(
            lambda walker: self._made(walker, starts[walker.name][1], run), self.walkers
        ):
            self.findings.add_made(step, list(judge(step)))
            self.contents[step.name] = step.after
        for walker in self.walkers:
            if walker.settings.strategy == "microbatch":
                self._move_to_another_batch(walker.name)

    def _move_to_another_batch(self, name: str) -> None:
        """Give some rows another day, which no later step replaces."""
        table = self._table(name)
        self.spark.sql(f"update {table} set at = at + interval 48 hours where id % 2 = 0")
        self.contents[name] = read_contents(self.spark, table)

    def step(self, outputs: dict[str, Output], seed: int) -> list[Step]:
        """Run the models once more, and check their results.

        Args:
            outputs: the output of each model.
            seed: the seed for the choice of filters.

        Returns:
            The step of each model.
        """
        steps = []
        walkers = [walker for walker in self.walkers if walker.name in outputs]
        for walker in walkers:
            self._write(walker.name, walker.settings, outputs[walker.name])
        before = {w.name: newest_version(self._log(w.name)) for w in walkers}
        run = self._run([walker.name for walker in walkers])
        for step, violations in _in_threads(
            lambda w: self._judge(w, outputs[w.name], before[w.name], run, seed), walkers
        ):
            self.findings.add(step, violations)
            self.contents[step.name] = step.after
            steps.append(step)
        return steps

    def _made(self, walker: Walker, output: Output, run: Run) -> Step:
        """Check the creation of a table as a step from an empty table."""
        empty = Contents(output.schema, {}, 0)
        after = read_contents(self.spark, self._table(walker.name))
        return Step(walker.name, walker.settings, output, empty, after, [], None, run.output)

    def end(self) -> None:
        for walker in self.walkers:
            self.spark.sql(f"drop view if exists {self._table(walker.name)}_view")
            self.spark.sql(f"drop table if exists {self._table(walker.name)}")
            for name in (walker.name, f"{walker.name}_view"):
                (self.folder / f"{name}.sql").unlink()

    def _judge(
        self, walker: Walker, output: Output, version: int, run: Run, seed: int
    ) -> tuple[Step, list[Violation]]:
        name = walker.name
        succeeded = run.status(name) == "success"
        step = Step(
            name,
            walker.settings,
            output,
            self.contents[name],
            read_contents(self.spark, self._table(name)),
            operations(self._log(name), since=version),
            None if succeeded else run.message(name),
            run.output,
        )
        return step, [*judge(step), *self._judge_reads(walker, step, seed)]

    def _judge_reads(self, walker: Walker, step: Step, seed: int) -> Iterator[Violation]:
        table = self._table(walker.name)
        self.findings.filters += count_filters(step.after)
        self.findings.views += 1
        rng = Random(f"{seed}/{walker.name}/reads")
        yield from judge_filters(self.spark, table, step.after, rng)
        yield from judge_view(self.spark, f"{table}_view", step.after, walker.columns)

    def _create(self, name: str, settings: Settings, output: Output) -> None:
        columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in output.schema.fields)
        partitions = " partitioned by (part)" if settings.strategy in PARTITIONED else ""
        mapping = " tblproperties ('delta.columnMapping.mode' = 'name')"
        mapping = mapping if settings.column_mapping else ""
        self.spark.sql(
            f"create table {self._table(name)} ({columns}) using delta{partitions}{mapping}"
        )
        listed = ", ".join(output.schema.names)
        self.spark.sql(f"insert into {self._table(name)} ({listed}) {output.select()}")

    def _write(self, name: str, settings: Settings, output: Output) -> None:
        (self.folder / f"{name}.sql").write_text(model_text(settings, output), encoding="utf-8")

    def _run(self, names: list[str]) -> Run:
        return dbt("run", "-s", *names, *ONE_DAY)

    def _table(self, name: str) -> str:
        return f"{self.schema}.{name}"

    def _log(self, name: str) -> Path:
        return self.warehouse / f"{self.schema}.db" / name / "_delta_log"


def _in_threads(do: Callable[[Walker], T], walkers: list[Walker]) -> Iterator[T]:
    with ThreadPoolExecutor(2) as threads:
        yield from threads.map(do, walkers)
