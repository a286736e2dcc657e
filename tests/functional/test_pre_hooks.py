"""Pre-hooks run before a model is planned: an error says that what they have changed stays."""

import pytest

from tests.functional.support import dbt

MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='append', on_schema_change='{}',
          pre_hook="{}") }}}}
select 2 as id, {{% if is_incremental() %}} 2.5 {{% else %}} 2 {{% endif %}} as n
"""
DELETES = "delete from {{ this }} where {{ is_incremental() }}"
MODELS = {
    "refused": ("append_new_columns", DELETES),
    "stopped": ("ignore", DELETES),
    "only_set": ("ignore", "set spark.sql.ansi.enabled = true"),
}
SAID = "The pre-hooks had run before. What they deleted or changed is not undone."


class TestAPreHookThatDeletesRows:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": MODEL.format(*config) for name, config in MODELS.items()}

    def test_is_named_by_the_error_that_nothing_was_written(self, project, table, spark):
        for name in MODELS:
            spark.sql(f"create table {table(name).name} using delta as select 1 as id, 1 as n")
        run = dbt("run")
        assert "nothing was changed or written" in run.message("refused")
        assert "Nothing was written" in run.message("stopped")
        for name in MODELS:
            has_deleted = name != "only_set"
            assert table(name).rows() == ([] if has_deleted else [(1, 1)])
            assert (SAID in run.message(name)) == has_deleted, run.message(name)


def says(what: str) -> str:
    said = "{{ target.schema }}.said"
    return f"insert into {said} select '{{{{ this.name }}}}', '{what}', count(*) from {said}"


HOOKED = (
    f'config(pre_hook=["{says("before")}", before_begin("{says("begin")}")], '
    f'post_hook=[after_commit("{says("commit")}"), "{says("after")}"], '
)
KINDS = ("table", "incremental", "view")


class TestHooksOutsideOfATransaction:
    """dbt-spark never runs those of models, and runs a `commit` before those of snapshots."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"a_{kind}.sql": f"{{{{ {HOOKED} materialized='{kind}') }}}} select 1 as id"
            for kind in KINDS
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        config = f"{HOOKED} unique_key='id', strategy='check', check_cols='all')"
        text = f"{{% snapshot a_snapshot %}} {{{{ {config} }}}} select 1 as id {{% endsnapshot %}}"
        return {"a_snapshot.sql": text}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"a_seed.csv": "id\n1\n"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        hooks = {
            "+pre-hook": [says("before"), {"sql": says("begin"), "transaction": False}],
            "+post-hook": [{"sql": says("commit"), "transaction": False}, says("after")],
        }
        return {"seeds": hooks}

    def test_run_in_their_order(self, project, table, spark):
        said = table("said")
        spark.sql(f"create table {said.name} (name string, what string, n bigint) using delta")
        # Hooks of two nodes at once would conflict.
        run = dbt("build", "--threads", "1")
        rows = sorted(said.rows("n", "name", "what"))
        for name in ("a_seed", "a_snapshot", *(f"a_{kind}" for kind in KINDS)):
            assert run.status(name) == "success", run.message(name)
            found = [what for _, of, what in rows if of == name]
            assert found == ["begin", "before", "after", "commit"], name
