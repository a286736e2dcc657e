import re
from pathlib import Path

from dbt.tests.adapter.ephemeral import test_ephemeral as ephemeral
from dbt.tests.util import check_relations_equal, run_dbt


class TestEphemeralErrorHandling(ephemeral.BaseEphemeralErrorHandling):
    pass


class TestEphemeralMulti(ephemeral.BaseEphemeralMulti):
    # The suite's test ends with the complete statement for Postgres.
    def test_ephemeral_multi(self, project):
        run_dbt(["seed"])
        assert len(run_dbt(["run"])) == 3
        for model in ("dependent", "double_dependent", "super_dependent"):
            check_relations_equal(project.adapter, ["seed", model])
        assert ctes(project, "double_dependent") == ["base", "base_copy"]


class TestEphemeralNested(ephemeral.BaseEphemeralNested):
    def test_ephemeral_nested(self, project):
        assert len(run_dbt(["run"])) == 2
        assert ctes(project, "root_view") == ["ephemeral_level_two", "ephemeral"]


def ctes(project, model):
    statement = Path(project.project_root, f"target/run/test/models/{model}.sql").read_text()
    assert statement.strip().startswith(f"create or replace view {project.test_schema}.{model}")
    return re.findall(r"__dbt__cte__(\w+) as \(", statement)
