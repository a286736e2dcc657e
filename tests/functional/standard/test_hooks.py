import inspect
from pathlib import Path

import pytest
from dbt.tests.adapter.hooks import test_model_hooks as model_hooks
from dbt.tests.adapter.hooks import test_run_hooks as run_hooks


class Hooks:
    spark_sql = {r'(?<= )"(\w+)"(?=[, ])': r"`\1`"}

    @pytest.fixture(scope="class")
    def test_data_dir(self):
        # The suite has the statements that make the hooks' tables next to its own tests.
        return Path(inspect.getfile(model_hooks)).parent / "data"


class ModelHooks(Hooks):
    def check_hooks(self, state, project, host, count=1):
        for row in self.get_ctx_vars(state, count, project):
            check_context(row, state, project)


def check_context(row, state, project):
    # Spark's connections have no database, user and password that a hook could show.
    assert row["test_state"] == state
    assert row["target_name"] == "default"
    assert row["target_schema"] == project.test_schema
    assert row["target_type"] == project.adapter_type
    assert row["target_threads"] == 4
    assert row["run_started_at"]
    assert row["invocation_id"]
    assert row["thread_id"].startswith(("Thread-", "MainThread"))


class TestPrePostModelHooks(ModelHooks, model_hooks.BasePrePostModelHooks):
    pass


class TestPrePostModelHooksUnderscores(ModelHooks, model_hooks.TestPrePostModelHooksUnderscores):
    pass


class TestHookRefs(ModelHooks, model_hooks.BaseHookRefs):
    pass


class TestPrePostModelHooksInConfig(ModelHooks, model_hooks.BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigWithCount(
    ModelHooks, model_hooks.BasePrePostModelHooksInConfigWithCount
):
    pass


class TestPrePostModelHooksInConfigKwargs(
    ModelHooks, model_hooks.BasePrePostModelHooksInConfigKwargs
):
    pass


class TestPrePostModelHooksOnSeeds(model_hooks.BasePrePostModelHooksOnSeeds):
    pass


class TestHooksRefsOnSeeds(model_hooks.BaseHooksRefsOnSeeds):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixed(
    model_hooks.BasePrePostModelHooksOnSeedsPlusPrefixed
):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(
    model_hooks.BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace
):
    pass


class TestPrePostModelHooksOnSnapshots(model_hooks.BasePrePostModelHooksOnSnapshots):
    pass


class TestPrePostSnapshotHooksInConfigKwargs(model_hooks.BasePrePostSnapshotHooksInConfigKwargs):
    pass


class TestDuplicateHooksInConfigs(model_hooks.BaseDuplicateHooksInConfigs):
    pass


class TestPrePostRunHooks(Hooks, run_hooks.BasePrePostRunHooks):
    def check_hooks(self, state, project, host):
        check_context(self.get_ctx_vars(state, project), state, project)

    def assert_used_schemas(self, project):
        for table in ("schemas", "db_schemas"):
            rows = project.run_sql(f"select * from {{schema}}.{table}", fetch="all")
            assert [row[-1] for row in rows] == [project.test_schema]


class TestAfterRunHooks(run_hooks.BaseAfterRunHooks):
    pass
