"""`dbt clone` makes its table in a folder of its own, and drops nothing for one that it can't make.

Production has the same `location_root`, and another schema.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.functional.support import Run, Table, dbt

WHOLE = """
{{ config(materialized='table', location_root=var('root', none), owns_location=var('owns', none),
          include_full_name_in_path=var('full', none)) }}
select 1 as id
"""
PYTHON = """
def model(dbt, spark):
    dbt.config(materialized='table')
    return spark.range(1)
"""


class Production:
    """A schema of production beside the test's, and the artifacts of its last run."""

    @pytest.fixture(scope="class")
    def production(self, project, spark, tmp_path_factory) -> Iterator[tuple[str, Path]]:
        schema = f"{project.test_schema}_prod"
        dbt("compile")
        manifest = Path("target/manifest.json").read_text(encoding="utf-8")
        state = tmp_path_factory.mktemp("state")
        state_text = manifest.replace(project.test_schema, schema)
        (state / "manifest.json").write_text(state_text, encoding="utf-8")
        spark.sql(f"create schema {schema}")
        yield schema, state
        spark.sql(f"drop schema {schema} cascade")

    @pytest.fixture
    def clone(self, production) -> Callable[..., Run]:
        arguments = ("clone", "--state", str(production[1]))
        return lambda *options, **variables: dbt(*arguments, *options, **variables)


class TestAFolderOfProduction(Production):
    @pytest.fixture(scope="class")
    def root(self, tmp_path_factory) -> Path:
        return tmp_path_factory.mktemp("a b%20 #ü")

    @pytest.fixture(scope="class")
    def project_config_update(self, root: Path):
        return {"vars": {"root": str(root)}}

    @pytest.fixture(scope="class")
    def models(self):
        names = ("filled", "empty", "hidden", "both", "left", "apart", "kept", "gone")
        return {f"{name}.sql": WHOLE for name in names}

    @pytest.fixture
    def deployed(self, production, root, spark) -> Callable[..., Table]:
        """Return a function that creates the table of production, in the folder of the model."""

        def create(name: str, rows: int = 1, folder: Path = root) -> Table:
            table = Table(spark, f"{production[0]}.{name}")
            query = f"select id from range(1, 2) where id <= {rows}"
            location = f"{folder}/{name}"
            spark.sql(f"create table {table.name} using delta location '{location}' as {query}")
            return table

        return create

    @pytest.mark.parametrize(("name", "rows"), [("filled", 1), ("empty", 0)])
    def test_is_refused(self, project, clone, deployed, spark, name, rows):
        original = deployed(name, rows)
        for owns in (None, True):
            run = clone("--select", name, owns=owns)
            assert f"already has a Delta table, which is {original.name}" in run.message(name)
        assert (original.version, "dbt.relation" in original.properties) == (0, False)
        assert not spark.catalog.tableExists(f"{project.test_schema}.{name}")

    def test_is_refused_before_a_view_is_dropped(self, project, clone, deployed, spark):
        original = deployed("hidden")
        view = f"{project.test_schema}.hidden"
        spark.sql(f"create view {view} as select 7 as id")
        run = clone("--full-refresh", "--select", "hidden")
        assert f"which is {original.name}" in run.message("hidden")
        assert Table(spark, view).rows() == [(7,)]

    def test_is_refused_to_a_table_that_is_in_it_already(
        self, project, clone, deployed, root, table, spark
    ):
        original = deployed("both", 0)
        spark.sql(f"create table {table('both').name} using delta location '{root}/both'")
        assert clone("--select", "both").status("both") == "success"  # It has nothing to do.
        run = clone("--full-refresh", "--select", "both")
        assert f"which is {original.name}" in run.message("both")
        assert original.version == 0

    def test_with_rows_of_its_own_is_refused_before_a_view_is_dropped(
        self, project, clone, deployed, root, tmp_path, table, spark
    ):
        assert dbt("run", "--select", "left").status("left") == "success"
        left = table("left")
        spark.sql(f"drop table {left.name}")
        spark.sql(f"create view {left.name} as select 7 as id")
        deployed("left", folder=tmp_path)
        run = clone("--full-refresh", "--select", "left")
        found = f"delta.`{root}/left`"
        assert "Delta clones into no folder with rows. Nothing was changed" in run.message("left")
        assert f"truncate table {found}" in run.message("left").replace("`delta`", "delta")
        assert left.rows() == [(7,)]
        spark.sql(f"truncate table {found}")
        run = clone("--full-refresh", "--select", "left")
        assert run.status("left") == "success", run.message("left")
        assert left.rows() == [(1,)]

    def test_is_nobodys_if_the_path_has_the_schema(self, project, clone, deployed, root, table):
        deployed("apart")
        run = clone("--select", "apart", full=True)
        assert run.status("apart") == "success", run.message("apart")
        assert table("apart").rows() == [(1,)]
        assert (root / project.test_schema / "apart" / "_delta_log").is_dir()

    def test_that_nobody_has_marked_is_refused_without_rows(
        self, project, clone, deployed, root, tmp_path, spark
    ):
        """Another metastore can have it."""
        deployed("gone", folder=tmp_path)
        spark.sql(f"create table delta.`{root}/gone` (id bigint) using delta")
        run = clone("--select", "gone")
        assert "not known to be this one's" in run.message("gone")
        run = clone("--select", "gone", owns=True)
        assert run.status("gone") == "success", run.message("gone")

    def test_makes_no_difference_to_a_view(self, project, clone, production, root, spark):
        view = f"{production[0]}.kept"
        spark.sql(f"create view {view} as select 7 as id")
        spark.sql(f"create table delta.`{root}/kept` using delta as select 1 as id")
        run = clone("--select", "kept")
        assert run.status("kept") == "success", run.message("kept")
        assert Table(spark, f"{project.test_schema}.kept").rows() == [(7,)]


class TestAPythonModel(Production):
    @pytest.fixture(scope="class")
    def models(self):
        return {"shown.py": PYTHON, "absent.py": PYTHON}

    def test_that_is_no_delta_table_becomes_a_view(self, project, production, clone, table, spark):
        spark.sql(f"create table {production[0]}.shown using parquet as select 7 as id")
        run = clone("--select", "shown")
        assert run.status("shown") == "success", run.message("shown")
        assert table("shown").rows() == [(7,)]

    def test_that_does_not_exist_is_an_error_of_spark(self, project, production, clone):
        run = clone("--select", "absent")
        assert f"`{production[0]}`.`absent` cannot be found" in run.message("absent")
