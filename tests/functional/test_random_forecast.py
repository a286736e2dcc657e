"""`plan` of generated projects: a build then does what was forecast, and nothing else."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from tests.functional.operate import document
from tests.functional.support import dbt, needs_delta_4

SEEDS = range(1, 7)
BASES, DERIVED = 3, 9
# The types before and after. The last one is never made by a run.
CHANGES = [
    ("tinyint", "int"),
    ("int", "bigint"),
    ("decimal(8,2)", "decimal(10,4)"),
    ("date", "timestamp_ntz"),
    ("string", "string"),
    ("int", "double"),
]
VALUES = {"date": "date'2024-01-01'", "string": "'1'"}
MODES = ("append_new_columns", "sync_all_columns", "ignore", "fail")
# Most models change with what they read, so that a change reaches far.
KINDS = ("incremental", "incremental", "incremental", "table", "view", "snapshot")


class Project:
    """The files of a project whose models read each other at random."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.models: dict[str, str] = {}
        self.snapshots: dict[str, str] = {}
        self.columns: dict[str, dict[str, str]] = {}
        self.contracts: list[dict[str, Any]] = []
        for number in range(BASES):
            self._add_base(f"base_{number}")
        for number in range(DERIVED):
            self._add_derived(f"model_{number}")

    @property
    def properties(self) -> str:
        exposed = self.rng.choice(list(self.models))
        exposure = {"name": "board", "type": "dashboard", "owner": {"name": "x"}}
        exposure["depends_on"] = [f"ref('{exposed}')"]
        return yaml.safe_dump({"models": self.contracts, "exposures": [exposure]})

    def _add_base(self, name: str) -> None:
        types = {column: self.rng.choice(CHANGES) for column in ("a", "b")}
        selected = []
        for column, (old, new) in types.items():
            value = VALUES.get(old, "1")
            as_type = f"{{{{ '{new}' if var('wider', false) else '{old}' }}}}"
            selected.append(f"cast({value} as {as_type}) as {column}")
        self.models[name] = self._config("incremental") + "select " + ", ".join(selected)
        self.columns[name] = {column: old for column, (old, _) in types.items()}

    def _add_derived(self, name: str) -> None:
        kind = self.rng.choice(KINDS)
        read = self.rng.choice(list(self.columns))
        known = self.columns[read]
        kept = self.rng.sample(list(known), self.rng.randint(1, len(known)))
        query = f"select {', '.join(kept)} from {{{{ ref('{read}') }}}}"
        if kind == "snapshot":
            self._add_snapshot(name, query, kept[0])
            return
        self.models[name] = self._config(kind) + query
        self.columns[name] = {column: known[column] for column in kept}
        if kind == "table" and self.rng.random() < 0.5:
            declared = [{"name": column, "data_type": known[column]} for column in kept]
            contract = {"contract": {"enforced": True}}
            self.contracts.append({"name": name, "config": contract, "columns": declared})

    def _add_snapshot(self, name: str, query: str, key: str) -> None:
        config = (
            f"{{{{ config(unique_key='{key}', strategy='check', check_cols='all', "
            "type_widening=true) }} "
        )
        self.snapshots[name] = f"{{% snapshot {name} %}} {config}{query} {{% endsnapshot %}}"

    def _config(self, kind: str) -> str:
        if kind != "incremental":
            return f"{{{{ config(materialized='{kind}') }}}} "
        mode = self.rng.choice(MODES)
        return (
            f"{{{{ config(materialized='incremental', on_schema_change='{mode}', "
            "type_widening=true) }} "
        )


@pytest.mark.slow
@needs_delta_4
class TestForecastOfGeneratedProjects:
    @pytest.fixture(params=SEEDS)
    def generated(self, request, project) -> Project:
        made = Project(request.param)
        root = Path(project.project_root)
        for folder, files in (("models", made.models), ("snapshots", made.snapshots)):
            (root / folder).mkdir(exist_ok=True)
            for file in (root / folder).iterdir():
                file.unlink()
            for name, text in files.items():
                (root / folder / f"{name}.sql").write_text(text)
        (root / "models" / "models.yml").write_text(made.properties)
        project.run_sql(f"drop schema if exists {project.test_schema} cascade")
        project.run_sql(f"create schema {project.test_schema}")
        return made

    def test_the_build_does_what_was_forecast(self, generated, project, table):
        names = [*generated.models, *generated.snapshots]
        created = dbt("build")
        assert {str(result.status) for result in created.results.values()} <= {"success", "no-op"}
        before = {name: table(name).types for name in names}
        wider = {"wider": True}
        planned = document("plan", "--vars", json.dumps(wider))
        built = dbt("build", **wider)
        happened = {
            "changed": {name for name in names if table(name).types != before[name]},
            "stopped": {name for name in names if built.status(name) == "error"},
            "skipped": {name for name in names if built.status(name) == "skipped"},
        }
        assert forecast(planned) == happened, (generated.models, generated.snapshots, planned)


def forecast(planned: dict[str, Any]) -> dict[str, set[str]]:
    """The names of what a plan says changes, stops or is skipped."""
    tables = planned["tables"]
    effects = [effect for effect in planned["downstream"] if effect["kind"] != "exposure"]

    def named(*outcomes: str) -> set[str]:
        return {effect["name"] for effect in effects if effect["outcome"] in outcomes}

    changed = {table["model"] for table in tables if table.get("type_changes")}
    refused = {table["model"] for table in tables if "error" in table}
    skipped = named("is skipped")
    return {
        "changed": changed | named("gets other types"),
        # A refusal is shown even if dbt will not come to it in this run.
        "stopped": (refused | named("stops", "no longer matches")) - skipped,
        "skipped": skipped,
    }
