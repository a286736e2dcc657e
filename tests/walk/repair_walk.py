"""The walk over renames, additions, widenings, backfills and restores, with real dbt and Delta."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path as File
from random import Random
from typing import Any, TypeVar
from urllib.parse import urlparse

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from tests.delta_log import newest_version, operations
from tests.functional.operate import document
from tests.functional.support import Run as DbtRun
from tests.functional.support import dbt
from tests.literals import literal
from tests.walk.acts import Act, Walker, draw
from tests.walk.casts import Path, children, in_order
from tests.walk.exact import same
from tests.walk.judge import UNCLEAR, Violation
from tests.walk.model import Row
from tests.walk.reads import count_filters, judge_filters
from tests.walk.repairs import (
    ID,
    PART,
    Edit,
    Model,
    Operation,
    Outcome,
    Run,
    Stored,
    after_backfill,
    after_restore,
    after_run,
)
from tests.walk.stored import Contents, read_contents

T = TypeVar("T")


@dataclass
class Findings:
    """The results of all steps.

    Attributes:
        counts: how often each thing was done, and in how many rows.
        violations: what was wrong, with the text that reproduces it.
    """

    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Done:
    """What dbt has said of a step.

    Attributes:
        error: the text of the error. Empty if there was none.
        response: the adapter's response of a run, or an operation's document for the table.
        printed: the output of the invocation.
    """

    error: str
    response: Mapping[str, Any]
    printed: str = ""


class RepairWalk:
    """The models of one dbt project. Each takes an act of its own in each step."""

    def __init__(self, spark: SparkSession, schema: str, folder: File, findings: Findings):
        self.spark, self.schema, self.folder, self.findings = spark, schema, folder, findings
        self.warehouse = File(urlparse(spark.conf.get("spark.sql.warehouse.dir")).path)
        self.walkers: list[Walker] = []

    def begin(self, walkers: Iterable[Walker]) -> None:
        """Create the tables."""
        self.walkers = list(walkers)
        for walker in self.walkers:
            self._write(walker.model, Run())
        made = dbt("run", "-s", *(walker.model.name for walker in self.walkers))
        assert {str(result.status) for result in made.results.values()} == {"success"}, made.output
        for walker in self.walkers:
            walker.table = Stored(walker.model.schema, dict(walker.model.rows))
            found = read_contents(self.spark, self._table(walker.model.name))
            assert not list(judge_rows(found, walker.table))

    def end(self) -> None:
        for walker in self.walkers:
            self._forget(walker.model.name)

    def step(self, rng: Random) -> None:
        """Take an act of each model, and check its table."""
        drawn = [(walker, draw(rng, walker)) for walker in self.walkers]
        before = list(self._in_threads(self._prepare, drawn))
        done = self._run_all([act for _, act in drawn])
        ready = [
            (walker, act, version, done[act.model.name], Random(rng.random()))
            for (walker, act), version in zip(drawn, before, strict=True)
        ]
        judged = list(self._in_threads(self._judge, ready))
        for (walker, act, *_), (texts, counts) in zip(ready, judged, strict=True):
            self.findings.counts.update(counts)
            self.findings.violations += texts
            if texts:
                # What the table has is not what the oracle knows, so the model goes no further.
                self.walkers.remove(walker)
                self._forget(act.model.name)

    def _prepare(self, walker: Walker, act: Act) -> int:
        """Write the model and run the statements of plain SQL. Return the table's version."""
        name = act.model.name
        run = act.does if isinstance(act.does, Run) else Run()
        self._write(act.model, run)
        for edit in act.edits:
            self.spark.sql(edit_sql(edit, self._table(name), walker.table.schema))
            walker.table = edit.made(walker.table)
        return newest_version(self._log(name))

    def _run_all(self, acts: Sequence[Act]) -> dict[str, Done]:
        """Run dbt for all acts, in as few invocations as they need."""
        done: dict[str, Done] = {}
        for is_full in (False, True):
            names = [
                act.model.name
                for act in acts
                if isinstance(act.does, Run) and act.does.is_full is is_full
            ]
            if names:
                run = dbt("run", *(["--full-refresh"] if is_full else []), "-s", *names)
                done |= {name: _of_run(run, name) for name in names}
        groups: dict[str, list[str]] = {}
        for act in acts:
            if isinstance(act.does, Operation):
                arguments = json.dumps([act.does.name, _arguments(act.does)])
                groups.setdefault(arguments, []).append(act.model.name)
        for text, names in groups.items():
            operation, arguments = json.loads(text)
            found = document(operation, models=names, **arguments)["tables"]
            done |= {
                name: Done(each.get("error", ""), each)
                for name in names
                for each in found
                if re.search(rf"\b{name}\b", each["table"])
            }
        return done

    def _judge(
        self, walker: Walker, act: Act, version: int, done: Done, rng: Random
    ) -> tuple[list[str], Counter[str]]:
        """Check a step. Return what is wrong, as texts, and what the step has done."""
        name = act.model.name
        outcome = expected(act, walker.table)
        made = operations(self._log(name), since=version)
        found = read_contents(self.spark, self._table(name))
        violations = [
            *judge_answer(act, outcome, done, made),
            *judge_rows(found, outcome.table),
            *judge_filters(self.spark, self._table(name), found, rng),
        ]
        shown = reproduction(act, walker.table, done)
        texts = [f"{v.kind}: {v.column} in {name}: {v.details}\n{shown}" for v in violations]
        for text in texts:
            print(text)
        counts = Counter(counted(act, outcome, done))
        counts["filters"] = count_filters(found)
        walker.goes_on(act, outcome)
        return texts, counts

    def _write(self, model: Model, run: Run) -> None:
        self._file(model.name, "sql").write_text(model_text(model, run), encoding="utf-8")
        contract = self._file(model.name, "yml")
        if run.defaults:
            contract.write_text(json.dumps(contract_of(model, run)), encoding="utf-8")
        else:
            contract.unlink(missing_ok=True)

    def _forget(self, name: str) -> None:
        self.spark.sql(f"drop table if exists {self._table(name)}")
        for suffix in ("sql", "yml"):
            self._file(name, suffix).unlink(missing_ok=True)

    def _file(self, name: str, suffix: str) -> File:
        return self.folder / f"{name}.{suffix}"

    def _table(self, name: str) -> str:
        return f"{self.schema}.{name}"

    def _log(self, name: str) -> File:
        return self.warehouse / f"{self.schema}.db" / name / "_delta_log"

    def _in_threads(self, do: Callable[..., T], each: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        with ThreadPoolExecutor(2) as threads:
            yield from threads.map(lambda given: do(*given), each)


def _of_run(run: DbtRun, name: str) -> Done:
    if run.status(name) == "success":
        return Done("", run.response(name), run.output)
    return Done(run.message(name), {}, run.output)


def _arguments(operation: Operation) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if operation.columns:
        arguments["columns"] = list(operation.columns)
    if operation.above is not None:
        arguments["where"] = f"{ID} > {operation.above}"
    return arguments


def expected(act: Act, table: Stored) -> Outcome:
    """Ask the oracle what an act must lead to."""
    if isinstance(act.does, Run):
        return after_run(act.model, act.does, table)
    if act.does.name == "backfill_columns":
        return after_backfill(act.model, act.does, table)
    if act.does.name == "restore_values":
        return after_restore(act.model, act.does, table)
    return Outcome(table)


def judge_rows(found: Contents, wanted: Stored) -> Iterator[Violation]:
    """Yield where the contents of a table are not those that it must have."""
    if in_order(found.schema) != in_order(wanted.schema):
        details = f"{found.schema.simpleString()}, not {wanted.schema.simpleString()}"
        yield Violation("other columns", "", details)
        return
    if found.count != len(found.rows) or found.rows.keys() != wanted.rows.keys():
        details = f"ids {sorted(found.rows)} ({found.count} rows), not {sorted(wanted.rows)}"
        yield Violation("wrong rows", "", details)
        return
    types = children(wanted.schema)
    for column in found.schema.fields:
        for number, row in found.rows.items():
            value, stored = wanted.rows[number][column.name], row[column.name]
            if not same(value, types[column.name], stored, column.dataType):
                details = f"id {number}: {stored!r}, not {value!r} ({column.dataType})"
                yield Violation("another value", column.name, details)


def judge_answer(act: Act, outcome: Outcome, done: Done, made: list[str]) -> Iterator[Violation]:
    """Yield what dbt has said or committed that is not what the oracle says."""
    unclear = [text for text in UNCLEAR if text in done.error]
    if unclear:
        yield Violation("unclear error", "", f"{unclear}: {done.error}")
    if outcome.refused is not None:
        if outcome.refused not in done.error:
            yield Violation("not refused", "", f"{outcome.refused!r} is not in {done.error!r}")
        if made:
            yield Violation("refused, and changed the table", "", f"{made}")
        return
    if bool(outcome.failure) is not bool(done.error) or outcome.failure not in done.error:
        yield Violation("failed", "", f"{done.error!r}, not {outcome.failure!r}")
        return
    if isinstance(act.does, Run):
        yield from _judge_run(act, outcome, done, made)
    elif outcome.counts:
        yield from _judge_operation(outcome, done, made)


def _judge_run(act: Act, outcome: Outcome, done: Done, made: list[str]) -> Iterator[Violation]:
    said = {
        "renamed": {(tuple(r["path"]), tuple(r["from"])) for r in _listed(done, "renamed_columns")},
        "widened": {tuple(change["path"]) for change in _listed(done, "type_changes")},
        "backfilled": set(_listed(done, "backfilled_columns")),
        "commits of renames": made.count("RENAME COLUMN"),
    }
    # The paths of renames have the outer names that the table has then.
    wanted = {
        "renamed": {(new, old) for new, old in outcome.renamed.items()},
        "widened": set(outcome.changed),
        "backfilled": set(outcome.backfilled),
        "commits of renames": len(outcome.renamed),
    }
    for what, value in wanted.items():
        if said[what] != value:
            yield Violation(f"said of {what}", "", f"{said[what]}, not {value}")
    rows = next(iter(outcome.backfilled.values()), None)
    printed = re.findall(rf"`{act.model.name}`: backfilled .* in (\d+) row", done.printed)
    if printed != ([str(rows)] if outcome.backfilled else []):
        yield Violation("said of backfilled rows", "", f"{printed}, not {rows}")


def _listed(done: Done, key: str) -> list[Any]:
    return list(done.response.get(key) or ())


def _judge_operation(outcome: Outcome, done: Done, made: list[str]) -> Iterator[Violation]:
    rows = done.response["rows"]
    differing = {k: (rows[k], n) for k, n in outcome.counts.items() if rows[k] != n}
    if differing:
        yield Violation("other counts", "", f"{differing}")
    changed = outcome.counts["to_change"]
    if (done.response.get("updated") or 0) != changed:
        yield Violation("other rows updated", "", f"{done.response.get('updated')}, not {changed}")
    if made.count("MERGE") != bool(changed) or (made and not changed):
        yield Violation("other commits", "", f"{made} for {changed} rows")
    widened = {tuple(change["path"]) for change in _listed(done, "type_changes")}
    if widened != outcome.changed:
        yield Violation("said of widened", "", f"{widened}, not {set(outcome.changed)}")


def counted(act: Act, outcome: Outcome, done: Done) -> Iterator[str]:
    """Yield the names of what a step has done, each as often as it has done it."""
    yield "steps"
    yield f"steps, {act.kind}"
    if outcome.refused is not None:
        yield "steps refused"
        yield f"refused: {outcome.refused}"
        return
    if outcome.failure:
        yield "steps that leave a column to a person"
    if outcome.renamed and outcome.changed:
        yield "runs with renames and widenings"
    sizes = {
        "columns and fields renamed": len(outcome.renamed),
        "nested fields renamed": sum(len(path) > 1 for path in outcome.renamed),
        "columns and fields added": len(outcome.added),
        "types widened": len(outcome.changed),
        "types widened of what the same run renamed": len(_renamed_and_widened(outcome)),
        "rows backfilled by runs": next(iter(outcome.backfilled.values()), 0),
        "rows filled with a default": outcome.filled,
    }
    if isinstance(act.does, Operation):
        is_rewritten = done.response.get("state") == "rewritten"
        sizes |= {
            f"rows changed by {act.does.name}": outcome.counts.get("to_change", 0),
            "rows without a partner": outcome.counts.get("only_stored", 0),
            "rows left, because not only a cast": outcome.counts.get("not_explained", 0),
            "files rewritten": is_rewritten * int(done.response.get("stale_files", 0)),
            "files compacted": int(done.response.get("files_removed", 0)),
        }
    for name, size in sizes.items():
        yield from [name] * size


def _renamed_and_widened(outcome: Outcome) -> set[Path]:
    return {p for p in outcome.changed if any(p[: len(n)] == n for n in outcome.renamed)}


def edit_sql(edit: Edit, table: str, schema: StructType) -> str:
    """Write the statement of another adapter, which casts each value to the table's column."""
    column = children(schema)[edit.column].simpleString()
    rows = ", ".join(f"({n}, {literal(value, edit.type)})" for n, value in edit.values.items())
    return (
        f"merge into {table} t using (select * from values {rows} as v (n, x)) s on t.{ID} = s.n "
        f"when matched then update set t.{edit.column} = cast(s.x as {column})"
    )


def model_text(model: Model, run: Run) -> str:
    """Write a model: all of its rows, and those that a run writes."""
    config: dict[str, Any] = {
        "materialized": "incremental",
        "incremental_strategy": model.strategy,
        "unique_key": ID,
        "on_schema_change": model.mode,
        "type_widening": True,
    }
    if model.has_mapping:
        config["tblproperties"] = {"delta.columnMapping.mode": "name"}
    if model.strategy == "insert_overwrite":
        config["partition_by"] = PART
    if model.rewrites is not None:
        config["rewrite_widened_files"] = model.rewrites
    if run.renamed:
        config["renamed_columns"] = {".".join(path): old for path, old in run.renamed.items()}
    if run.backfills:
        config["backfill_new_columns"] = True
    listed = ", ".join(f"{key}={value!r}" for key, value in config.items())
    full = list(model.rows.values())
    if model.repeated is not None:
        full.append(model.rows[model.repeated])
    written = [model.rows[number] for number in run.written]
    return (
        f"{{{{ config({listed}) }}}}\n"
        f"{{% if is_incremental() %}}\n{values_sql(model.schema, written or full)}\n"
        f"{{% else %}}\n{values_sql(model.schema, full)}\n{{% endif %}}\n"
    )


def values_sql(schema: StructType, rows: Iterable[Row]) -> str:
    fields = schema.fields
    shown = ",\n".join(
        f"({', '.join(literal(row[f.name], f.dataType) for f in fields)})" for row in rows
    )
    return f"select * from values\n{shown}\nas v ({', '.join(schema.names)})"


def contract_of(model: Model, run: Run) -> dict[str, Any]:
    """Return an enforced contract, in which the new columns have defaults."""
    columns: list[dict[str, Any]] = []
    for each in model.schema.fields:
        columns.append({"name": each.name, "data_type": each.dataType.simpleString()})
        if each.name in run.defaults:
            value = literal(run.defaults[each.name], each.dataType)
            columns[-1]["constraints"] = [{"type": "custom", "expression": f"default {value}"}]
    contract = {"contract": {"enforced": True}}
    return {"models": [{"name": model.name, "config": contract, "columns": columns}]}


def reproduction(act: Act, before: Stored, done: Done) -> str:
    """Write the text that reproduces a step: the table, the model and what was called."""
    called = act.does if isinstance(act.does, Operation) else "dbt run"
    run = act.does if isinstance(act.does, Run) else Run()
    return (
        f"  {act.kind}: {called}; edits {list(act.edits)}\n"
        f"  table {before.schema.simpleString()}\n"
        f"  earlier types {dict(before.earlier)}\n"
        + "".join(f"    {row}\n" for row in before.rows.values())
        + f"{model_text(act.model, run)}  contract {dict(run.defaults)}\n"
        + f"  error: {done.error}\n  answer: {dict(done.response)}\n"
    )
