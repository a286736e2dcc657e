"""Descriptions become comments, and no commit is made if nothing has changed."""

import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.deltawiden.delta import conflicts
from tests.delta_log import local_log, newest_version
from tests.functional.support import again_and_again, dbt, needs_delta_4

MODEL = """
{{ config(materialized='incremental', persist_docs={'columns': true}, partition_by='p',
          incremental_strategy='append') }}
select 1 as id, 'a' as v, named_struct('x', 1) as s, 'p' as p, 1 as `my col`
"""
SCHEMA = """
models:
  - name: described
    columns:
      - {name: id, description: "The 'id' \\\\ of it"}
      - {name: v, description: Short}
      - {name: s}
      - {name: p, description: Part}
      - {name: P, description: Partition}
"""


@needs_delta_4
class TestComments:
    @pytest.fixture(scope="class")
    def models(self):
        return {"described.sql": MODEL.replace("`my col`", "n"), "schema.yml": SCHEMA}

    def test_are_one_commit_after_the_table_is_created(self, project, table):
        run = dbt("run")
        assert run.status("described") == "success", run.message("described")
        described = table("described")
        assert described.operations(since=-1) == [
            "CREATE OR REPLACE TABLE AS SELECT",
            "CHANGE COLUMNS",
        ]
        fields = described.spark.table(described.name).schema
        assert {field.name: field.metadata.get("comment") for field in fields} == {
            "id": "The 'id' \\ of it",
            "v": "Short",
            "s": None,
            "p": "Partition",
            "n": None,
        }


CHANGING = """
{{ config(materialized='incremental', persist_docs={'relation': true, 'columns': true},
          tblproperties={'delta.columnMapping.mode': 'name'}) }}
select 1 as id, named_struct('x', 1, 'Y z', named_struct('deep', 1)) as s,
  array(named_struct('q', 1)) as a, map('k', named_struct('v', 1)) as m, 1 as `a.b`
"""
VERSIONS = """
{% snapshot versions %}
{{ config(unique_key='id', strategy='check', check_cols='all',
          persist_docs={'relation': true, 'columns': true}) }}
select 1 as id
{% endsnapshot %}
"""
DESCRIPTIONS = """
models:
  - name: changing
    description: "TABLE"
    columns:
      - {name: ID, description: "FIELD"}
      - {name: s, description: Struct}
      - {name: s.x, description: "FIELD"}
      - {name: "s.`Y z`.deep", description: Deep}
      - {name: a.element.q, description: In an array}
      - {name: m.value.v, description: In a map}
      - {name: "a.b", description: With a dot}
snapshots:
  - name: versions
    description: "TABLE"
    columns:
      - {name: id, description: "FIELD"}
"""


# As YAML reads it between double quotes.
SECOND = "The 'second' `one` ${x} %s ü"


def written(text: str) -> str:
    return DESCRIPTIONS.replace("TABLE", text).replace("FIELD", text)


def comments(data_type, path: str = "") -> dict[str, str | None]:
    found = {}
    for field in getattr(data_type, "fields", ()):
        found[path + field.name] = field.metadata.get("comment")
        found |= comments(field.dataType, f"{path}{field.name}.")
    for part, name in {"elementType": "element", "valueType": "value"}.items():
        if hasattr(data_type, part):
            found |= comments(getattr(data_type, part), f"{path}{name}.")
    return found


def table_comment(table) -> str:
    return table.spark.sql(f"describe detail {table.name}").head().description


class TestDescriptionsThatChange:
    @pytest.fixture(scope="class")
    def models(self):
        return {"changing.sql": CHANGING, "schema.yml": written("First")}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": VERSIONS}

    def build(self, project, text: str) -> None:
        Path(project.project_root, "models", "schema.yml").write_text(written(text))
        run = dbt("build")
        for name in ("changing", "versions"):
            assert run.status(name) == "success", run.message(name)
        assert "not present in the database" not in run.output

    def check(self, project, table, text: str) -> None:
        changing, versions = table("changing"), table("versions")
        self.build(project, text)
        assert table_comment(changing) == table_comment(versions) == text
        assert comments(versions.spark.table(versions.name).schema)["id"] == text
        assert comments(changing.spark.table(changing.name).schema) == {
            **{"id": text, "s": "Struct", "s.x": text, "s.Y z": None, "s.Y z.deep": "Deep"},
            **{"a": None, "a.element.q": "In an array", "m": None, "m.value.v": "In a map"},
            "a.b": "With a dot",
        }
        before = changing.version, versions.version
        self.build(project, text)
        assert changing.operations(since=before[0]) == ["WRITE"]
        assert versions.operations(since=before[1]) in ([], ["MERGE"])

    def test_reach_the_table_and_make_no_commit_if_they_are_the_same(self, project, table):
        self.check(project, table, "First")
        self.check(project, table, SECOND)
        self.build(project, "")
        assert table_comment(table("changing")).startswith("The 'second'")
        assert comments(table("changing").spark.table(table("changing").name).schema)["s.x"] == ""

    @pytest.mark.slow
    def test_reach_the_table_with_sql_alone(self, project, table, by_sql_alone):
        self.check(project, table, "Third")
        self.check(project, table, "Fourth")

    def test_of_columns_that_do_not_exist_are_named(self, project):
        text = written("Fourth").replace("a.element.q", "a.q")
        Path(project.project_root, "models", "schema.yml").write_text(text)
        run = dbt("run")
        expected = "specified in the schema but are not present in the database: a.q"
        assert expected in " ".join(run.output.split())


APPENDED = """
{{ config(materialized='incremental', incremental_strategy='append',
          persist_docs={'relation': var('comments', false), 'columns': var('comments', false)}) }}
select 1 as id
"""
DESCRIBED = """
models:
  - name: appended
    description: Table
    columns:
      - {name: id, description: Column}
"""


class AnotherWriter:
    """Commits table properties after a version, until a commit of Spark is tried again.

    It writes files of the log: in one process, Spark's own commits seldom have a conflict.
    """

    def __init__(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_stopped_spark = threading.Event()
        self._log, self._before = log, newest_version(log)
        log_retry = conflicts._log_retry

        def log_and_stop(state: Any) -> None:
            self.has_stopped_spark.set()
            log_retry(state)

        monkeypatch.setattr(conflicts, "_log_retry", log_and_stop)

    def commit(self) -> None:
        time.sleep(0.02)
        newest = newest_version(self._log)
        if newest == self._before or self.has_stopped_spark.is_set():
            return
        commits = [self._log / f"{version:020}.json" for version in range(newest + 2)]
        lines = [line for each in commits[:-1] for line in each.read_text().splitlines()]
        metadata = [action["metaData"] for action in map(json.loads, lines) if "metaData" in action]
        changed = {**metadata[-1], "configuration": {"k": str(newest)}}
        info = {"operation": "SET TBLPROPERTIES", "operationParameters": {}}
        written = self._log / "another_writer"
        actions = (
            {"commitInfo": {"timestamp": int(1000 * time.time()), **info}},
            {"metaData": changed},
        )
        written.write_text("\n".join(map(json.dumps, actions)))
        with suppress(FileExistsError):
            os.link(written, commits[-1])
        written.unlink()


class TestBesideAnotherWriter:
    @pytest.fixture(scope="class")
    def models(self):
        return {"appended.sql": APPENDED, "schema.yml": DESCRIBED}

    def test_comments_are_set_again_after_a_conflict(self, project, table, spark, monkeypatch):
        """If the run failed, `dbt retry` would append its rows again."""
        dbt("run")
        appended = table("appended")
        other = AnotherWriter(local_log(spark, appended.name), monkeypatch)
        with again_and_again(other.commit):
            run = dbt("run", comments=True)
        assert run.status("appended") == "success", run.message("appended")
        assert other.has_stopped_spark.is_set()
        assert appended.rows() == [(1,), (1,)]
        assert table_comment(appended) == "Table"
        assert comments(spark.table(appended.name).schema) == {"id": "Column"}


UNDOCUMENTED = """
{{{{ config(materialized='{materialized}', incremental_strategy='append',
           persist_docs={{'columns': var('persisted', true)}}) }}}}
select 1 as id
"""
CHECKED = """
{% snapshot checked %}
{{ config(unique_key='id', strategy='check', check_cols='all',
          persist_docs={'columns': var('persisted', true)}) }}
select {{ var('id', 1) }} as id
{% endsnapshot %}
"""
MISSING = """
{kind}:
  - name: {name}
    {config}
    columns:
      - {{name: id, description: Column}}
      - {{name: gone, description: Not there}}
"""
NODES = ("added", "whole", "listed", "checked")


class TestAnErrorOfAMissingColumn:
    """Under `--warn-error`, it comes before the write: a second run would repeat the rows."""

    @pytest.fixture(scope="class")
    def models(self):
        kinds = {"added": "incremental", "whole": "table"}
        models = {f"{name}.sql": UNDOCUMENTED.format(materialized=kinds[name]) for name in kinds}
        described = {f"{n}.yml": MISSING.format(kind="models", name=n, config="") for n in kinds}
        return {**models, **described}

    @pytest.fixture(scope="class")
    def snapshots(self):
        described = MISSING.format(kind="snapshots", name="checked", config="")
        return {"checked.sql": CHECKED, "checked.yml": described}

    @pytest.fixture(scope="class")
    def seeds(self):
        persisted = "config: {persist_docs: {columns: \"{{ var('persisted', true) }}\"}}"
        described = MISSING.format(kind="seeds", name="listed", config=persisted)
        return {"listed.csv": "id\n1\n", "listed.yml": described}

    def test_stops_each_node_before_its_write(self, project, table, spark):
        self.stops(project)
        assert not any(spark.catalog.tableExists(table(name).name) for name in NODES)
        run = dbt("build")
        for name in NODES:
            assert run.status(name) == "success", run.message(name)
            text = f"{name}: The following columns are specified"
            assert " ".join(run.output.replace("`", "").split()).count(text) == 1
        self.stops(project, id=2)
        assert table("added").rows() == [(1,)]
        assert table("checked").rows("id") == [(1,)]

    def stops(self, project, **variables) -> None:
        run = dbt("--warn-error", "build", **variables)
        for name in NODES:
            assert run.status(name) == "error", name
            assert "not present in the database: gone" in run.message(name)
