"""With `location_root`, a table is in its own folder, and goes on when the metastore forgets it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from tests.functional.operate import document, operate
from tests.functional.support import dbt, needs_delta_4

CONFIG = "location_root=var('root'), owns_location=var('owns', none)"
EVENTS = f"""
{{{{ config(materialized='incremental', incremental_strategy='append', type_widening=true,
  on_schema_change='append_new_columns', {CONFIG}) }}}}
select cast({{{{ var('id', 1) }}}} as {{{{ var('type', 'smallint') }}}}) as id
{{% if is_incremental() %}} where {{{{ var('id', 1) }}}} > (select max(id) from {{{{ this }}}})
{{% endif %}}
"""
TABLE = f"{{{{ config(materialized='table', {CONFIG}) }}}} select {{{{ var('id', 1) }}}} as id"
VERSIONS = f"""
{{% snapshot versions %}}
{{{{ config(unique_key='id', strategy='check', check_cols=['n'], {CONFIG}) }}}}
select 1 as id, {{{{ var('id', 1) }}}} as n
{{% endsnapshot %}}
"""
TWIN = """
{{ config(materialized='table', alias='twin', schema='%s', location_root=var('root') ~ '%s',
  include_full_name_in_path=var('full', none)) }} select '%s' as name"""

OWN_CLAUSE = """
{% macro spark__location_clause() %}
  location '{{ config.get("location_root") or var("root") }}/{{ model.schema }}/{{ model.alias }}'
{% endmacro %}
"""
FALLS_BACK = """
{% macro spark__location_clause() %}{{ dbt.deltawiden__location_clause() }}{% endmacro %}
"""

WIDER = ["--vars", '{"type": "int", "id": 9}']


@pytest.fixture
def own_clause(project) -> Iterator[Callable[..., object]]:
    """Yield a function that gives the project a macro of its own for the folders of tables."""
    macro = Path(project.project_root, "macros", "own.sql")
    yield lambda text=OWN_CLAUSE: macro.write_text(text)
    macro.write_text("")


class Folders:
    @pytest.fixture(scope="class")
    def root(self, tmp_path_factory) -> Path:
        return tmp_path_factory.mktemp("a b%20 #ü")

    @pytest.fixture(scope="class")
    def project_config_update(self, root: Path):
        return {"vars": {"root": str(root)}}

    @pytest.fixture
    def forgotten(self, project, spark, root: Path):
        """Return a function that builds a table, and lets the metastore forget it."""

        def build(command: str, name: str, **properties: str) -> str:
            spark.sql(f"drop table if exists {project.test_schema}.{name}")
            anew = ["--full-refresh"] if command == "run" else []
            run = dbt(command, "--select", name, *anew, owns=True)
            assert run.status(name) == "success", run.message(name)
            for key, value in properties.items():
                property = f"'dbt.{key}' = '{value}'"
                spark.sql(
                    f"alter table {project.test_schema}.{name} set tblproperties ({property})"
                )
            spark.sql(f"drop table {project.test_schema}.{name}")
            return f"delta.`{root}/{name}`"

        return build


class TestAFolderThatTheMetastoreDoesNotKnow(Folders):
    @pytest.fixture(scope="class")
    def models(self):
        return {"events.sql": EVENTS, "Visits.sql": EVENTS, "whole.sql": TABLE}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": VERSIONS}

    def goes_on(self, forgotten, table, name="events"):
        forgotten("run", name)
        run = dbt("run", "--select", name)
        assert run.status(name) == "success", run.message(name)
        assert "takes over the Delta table in" in run.output
        # It is compiled as for an existing table: the row is not written again.
        assert table(name).rows() == [(1,)]

    @needs_delta_4
    def test_an_incremental_model_takes_it_over_and_goes_on(self, forgotten, table):
        self.goes_on(forgotten, table)
        run = dbt("run", "--select", "events", type="bigint", id=2**40)
        assert run.status("events") == "success", run.message("events")
        assert table("events").rows() == [(1,), (2**40,)]

    def test_it_does_so_with_a_name_in_upper_case(self, forgotten, table):
        self.goes_on(forgotten, table, "Visits")

    def test_it_does_so_by_sql_alone(self, forgotten, table, by_sql_alone):
        self.goes_on(forgotten, table)

    def test_a_snapshot_keeps_its_versions(self, forgotten, table):
        forgotten("snapshot", "versions")
        assert "takes over" in dbt("snapshot", id=2).output
        assert table("versions").rows("n", "dbt_valid_to is null") == [(1, False), (2, True)]

    def test_plan_tells_what_the_run_will_do(self, project, forgotten, root):
        forgotten("run", "events")
        markdown = operate("plan", *WIDER, models=["events"], output="markdown")
        name = f"{project.test_schema}.events"
        assert f"create table {name} using delta location '{root}/events'" in markdown
        assert f"takes over the Delta table in `{root}/events`" in markdown
        assert "creates the table" not in markdown
        forgotten("run", "events", target="prod")
        refused = operate("plan", *WIDER, models=["events"])
        assert "of the target prod. Nothing was written" in refused
        assert "1 of 1 nodes failed" in refused

    def test_plan_tells_how_the_table_that_is_taken_over_changes(self, forgotten, root, table):
        forgotten("run", "events")
        (planned,) = document("plan", *WIDER, models=["events"])["tables"]
        change = {"path": ["id"], "from": "smallint", "to": "int"}
        assert (planned["takes_over"], planned["type_changes"]) == (f"{root}/events", [change])
        run = dbt("run", "--select", "events", type="int", id=9)
        assert run.response("events")["type_changes"] == [change]
        assert table("events").rows() == [(1,), (9,)]

    @pytest.mark.parametrize(("name", "options"), [("whole", []), ("events", ["--full-refresh"])])
    def test_what_is_built_anew_replaces_it(self, forgotten, table, name, options):
        forgotten("run", name)
        run = dbt("run", "--select", name, *options, id=5)
        assert run.status(name) == "success", run.message(name)
        assert "replaces the Delta table in" in run.output
        assert table(name).rows() == [(5,)]

    @pytest.mark.parametrize("name", ["events", "whole"])
    def test_the_table_of_another_target_is_refused(self, forgotten, spark, table, name):
        path = forgotten("run", name, target="prod")
        run = dbt("run", "--select", name, id=5)
        assert "that of `" in run.message(name)
        assert "of the target prod" in run.message(name)
        assert [tuple(row) for row in spark.table(path).collect()] == [(1,)]
        run = dbt("run", "--select", name, id=5, owns=True)
        assert run.status(name) == "success", run.message(name)
        assert table(name).properties["dbt.target"] == "default"

    def test_a_table_that_nobody_has_marked_is_not_taken_over(self, project, root, spark):
        spark.sql(f"create or replace table delta.`{root}/events` using delta as select 7 as id")
        spark.sql(f"drop table if exists {project.test_schema}.events")
        run = dbt("run", "--select", "events")
        assert "not known to be this one's" in run.message("events")
        assert [tuple(row) for row in spark.table(f"delta.`{root}/events`").collect()] == [(7,)]

    def test_the_table_of_another_name_is_refused(self, project, forgotten, spark, table):
        path = forgotten("run", "events")
        other = f"{project.test_schema}.other_name"
        spark.sql(f"create table {other} using delta location '{path[7:-1]}'")
        for options in ([], ["--full-refresh"]):
            run = dbt("run", "--select", "events", *options, id=5, owns=True)
            assert f"which is {other}" in run.message("events")
        assert table("other_name").rows() == [(1,)]

    def test_a_folder_with_other_files_is_refused(self, project, root, spark):
        spark.sql(f"drop table if exists {project.test_schema}.whole")
        folder = root / "files" / "whole"
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text("mine")
        run = dbt("run", "--select", "whole", root=str(folder.parent))
        assert "has files that are no Delta table (notes.txt)" in run.message("whole")


class TestATableOfTheWarehouse:
    """Without a `location_root`, the metastore decides where a new table is."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"on-run-start": "{{ var('start', '') }}", "on-run-end": "{{ var('end', '') }}"}

    @pytest.fixture(scope="class")
    def models(self):
        model = EVENTS.replace("location_root=var('root'), ", "")
        return {"Orders.sql": model, "Made.sql": model, "unread.sql": model, "elsewhere.sql": model}

    @pytest.fixture(scope="class")
    def snapshots(self):
        snapshot = VERSIONS.replace("location_root=var('root'), ", "")
        names = ("versions", "table_times_out", "schema_times_out")
        return {f"{name}.sql": snapshot.replace("versions", name) for name in names}

    @pytest.fixture
    def forgotten(self, project, spark):
        """Return a function that builds a table, and gives its folder to a metastore without it."""

        def build(command: str, name: str) -> str:
            assert dbt(command, "--select", name).status(name) == "success"
            table = f"{project.test_schema}.{name}"
            (detail,) = spark.sql(f"describe detail {table}").collect()
            folder = Path(detail.location.removeprefix("file:"))
            kept = folder.with_name("kept")
            shutil.copytree(folder, kept)
            spark.sql(f"drop table {table}")
            shutil.rmtree(folder, ignore_errors=True)
            kept.rename(folder)
            return f"delta.`{folder}`"

        return build

    @pytest.mark.parametrize(("command", "name"), [("run", "Orders"), ("snapshot", "versions")])
    def test_is_not_replaced_if_the_metastore_has_forgotten_it(
        self, project, forgotten, spark, table, command, name
    ):
        path = forgotten(command, name)
        run = dbt(command, "--select", name, id=5)
        assert "already has a Delta table. The metastore does not know it" in run.message(name)
        assert "give this node another schema or alias" in run.message(name)
        assert spark.table(path).count() == 1
        run = dbt(command, "--select", name, id=5, owns=True)
        assert "takes over the Delta table in" in run.output
        assert len(table(name).rows()) == 2
        spark.sql(f"drop table {project.test_schema}.{name}")

    @pytest.mark.parametrize(
        ("name", "statement"),
        [("table_times_out", "show tblproperties delta."), ("schema_times_out", "describe schema")],
    )
    def test_is_not_replaced_if_it_can_not_be_found_for_a_moment(
        self, forgotten, spark, monkeypatch, name, statement
    ):
        path = forgotten("snapshot", name)
        fetch = SqlBackend.fetch_rows

        def fail(backend: SqlBackend, sql: str) -> object:
            if sql.replace("`", "").startswith(statement):
                raise DbtDatabaseError("java.net.SocketTimeoutException: Read timed out")
            return fetch(backend, sql)

        monkeypatch.setattr(SqlBackend, "fetch_rows", fail)
        run = dbt("snapshot", "--select", name, id=5)
        assert "Read timed out" in run.message(name)
        assert [tuple(row) for row in spark.table(path).select("n").collect()] == [(1,)]

    def test_is_the_nodes_own_if_a_hook_has_made_it(self, project, table):
        made = f"create table {project.test_schema}.Made using delta as select smallint(0) as id"
        run = dbt("run", "--select", "Made", start=made)
        assert run.status("Made") == "success", run.message("Made")
        assert table("Made").rows("id") == [(0,), (1,)]

    def test_does_not_stop_a_run_whose_server_refuses_paths(self, project, table):
        start, end = "set spark.sql.runSQLOnFiles=false", "reset spark.sql.runSQLOnFiles"
        run = dbt("run", "--select", "unread", start=start, end=end)
        assert run.status("unread") == "success", run.message("unread")

    def test_is_elsewhere_if_a_macro_of_the_project_says_so(
        self, forgotten, own_clause, spark, tmp_path
    ):
        path = forgotten("run", "elsewhere")
        own_clause()
        run = dbt("run", "--select", "elsewhere", id=5, root=str(tmp_path))
        assert run.status("elsewhere") == "success", run.message("elsewhere")
        assert [tuple(row) for row in spark.table(path).collect()] == [(1,)]

    def test_is_replaced_by_a_full_refresh(self, forgotten, table):
        forgotten("run", "Orders")
        run = dbt("run", "--select", "Orders", "--full-refresh", id=5)
        assert run.status("Orders") == "success", run.message("Orders")
        assert table("Orders").rows() == [(5,)]


class TestATableInAnotherFolder(Folders):
    @pytest.fixture(scope="class")
    def models(self):
        return {"events.sql": EVENTS, "whole.sql": TABLE, "own.sql": TABLE}

    def test_a_macro_of_the_project_can_call_the_built_in_one(self, project, own_clause, root):
        own_clause(FALLS_BACK)
        run = dbt("run", "--select", "own")
        assert run.status("own") == "success", run.message("own")
        assert (root / "own" / "_delta_log").is_dir()

    @pytest.mark.parametrize("name", ["events", "whole"])
    def test_a_changed_location_root_is_refused(self, project, root, table, name):
        assert dbt("run", "--select", name).status(name) == "success"
        run = dbt("run", "--select", name, root=f"{root}/new")
        assert f"is in file:{root}/{name}" in run.message(name)
        assert f"says {root}/new/{name}" in run.message(name)
        # The same folder, written in another way.
        run = dbt("run", "--select", name, root=f"file://{root}/")
        assert run.status(name) == "success", run.message(name)

    def test_a_clone_does_not_drop_what_it_can_not_replace(self, project, table, spark, tmp_path):
        assert dbt("run", "--select", "whole").status("whole") == "success"
        other = f"{project.test_schema}_other"
        manifest = Path("target/manifest.json").read_text(encoding="utf-8")
        state = manifest.replace(project.test_schema, other)
        (tmp_path / "manifest.json").write_text(state, encoding="utf-8")
        spark.sql(f"create schema {other}")
        spark.sql(f"create table {other}.whole using delta as select 2 as id")
        clone = ("clone", "--full-refresh", "--select", "whole", "--state", str(tmp_path))
        assert "Please TRUNCATE" in dbt(*clone).message("whole")
        assert dbt(*clone, root=str(tmp_path)).status("whole") == "error"
        assert table("whole").rows() == [(1,)]
        spark.sql(f"truncate table {table('whole').name}")
        run = dbt(*clone)
        assert run.status("whole") == "success", run.message("whole")
        assert table("whole").rows() == [(2,)]
        assert table("whole").properties["dbt.relation"] == table("whole").quoted
        spark.sql(f"drop schema {other} cascade")

    def test_a_relative_one_is_refused(self, project):
        run = dbt("run", "--select", "whole", root="data")
        assert "location_root: got 'data'; accepted: an absolute path" in run.message("whole")


class TestTwoNodesOfOneFolder(Folders):
    @pytest.fixture(scope="class")
    def models(self):
        twins = {
            f"{name}.sql": TWIN % (name, slash, name) for name, slash in [("a", ""), ("b", "/")]
        }
        inside = (
            "{{ config(materialized='table', location_root=var('root') ~ '/TWIN') }} select 1 as id"
        )
        return {**twins, "inside.sql": inside}

    def test_they_are_refused_before_one_of_them_is_written(self, project, root):
        run = dbt("run")
        for name in ("a", "b", "inside"):
            assert run.status(name) == "error"
            assert f"model.test.{name} and model.test." in run.message(name)
        assert "model.test.b" in run.message("a")
        assert list(root.iterdir()) == []

    def test_a_macro_of_the_project_gives_each_its_own(self, project, own_clause, root, spark):
        own_clause()
        for _ in range(2):
            run = dbt("run")
            assert {run.status(name) for name in ("a", "b", "inside")} == {"success"}, run.output
        assert (root / f"{project.test_schema}_a" / "twin" / "_delta_log").is_dir()
        # Without the macro, it is in another folder.
        spark.sql(f"drop table {project.test_schema}.inside")

    def test_with_the_full_name_each_has_its_own(self, project, root, table):
        run = dbt("run", full=True)
        assert {run.status(name) for name in ("a", "b", "inside")} == {"success"}, run.output
        for name in ("a", "b"):
            folder = root / f"{project.test_schema}_{name}" / "twin"
            assert (folder / "_delta_log").is_dir()


PACKAGE = "{name: clauses, version: '1.0', config-version: 2}"


class TestAMacroOfAPackage(Folders):
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": TWIN % (name, "", name) for name in ("a", "b")}

    @pytest.fixture(scope="class")
    def packages(self, project_root):
        folder = Path(project_root, "clauses", "macros")
        folder.mkdir(parents=True)
        (folder.parent / "dbt_project.yml").write_text(PACKAGE)
        (folder / "own.sql").write_text(OWN_CLAUSE + OWN_CLAUSE.replace("spark__", ""))
        return {"packages": [{"local": "clauses"}]}

    def test_does_not_decide_where_the_tables_of_the_project_are(self, project, root):
        dbt("deps")
        run = dbt("run")
        for name in ("a", "b"):
            assert "can't both have their tables" in run.message(name)
        assert list(root.iterdir()) == []


class TestTwoNodesOfOneName:
    @pytest.fixture(scope="class")
    def models(self):
        twin = "{{ config(materialized='table') }} select 2 as id"
        return {"customers.sql": twin, "other.sql": "select 3 as id"}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"Customers.csv": "id\n1\n"}

    def test_they_are_refused_before_one_of_them_is_written(self, project, spark):
        run = dbt("build")
        for name in ("Customers", "customers"):
            assert run.status(name) == "error"
            assert "model.test.customers (models/customers.sql)" in run.message(name)
            assert "seed.test.Customers (seeds/Customers.csv)" in run.message(name)
        assert run.status("other") == "success", run.message("other")
        assert not spark.catalog.tableExists(f"{project.test_schema}.customers")
