"""A model that reads its own table must not widen it because of the table's own types."""

import pytest

from tests.functional.support import dbt, needs_delta_4

CONFIG = "materialized='incremental', on_schema_change='append_new_columns', type_widening=true"
GROWING = {
    "sums": "select sum(amount) as amount from {{ this }}",
    "added": "select t.amount + 1 as amount from {{ this }} as t",
    "qualified": "select qualified.amount + 1 as amount from {{ this }}",
    "catalogued": "select sum(amount) as amount from spark_catalog.{{ this }}",
    "nested": "select named_struct('amount', s.amount + 1) as s from {{ this }}",
}
FIRST = "select cast(1 as decimal(10,2)) as amount"
NESTED = "select named_struct('amount', cast(1 as decimal(10,2))) as s"


def growing(name: str, query: str) -> str:
    return (
        f"{{{{ config({CONFIG}) }}}}\n{{% if is_incremental() %}} {query} "
        f"{{% else %}} {FIRST if name != 'nested' else NESTED} {{% endif %}}"
    )


@needs_delta_4
class TestAModelThatReadsItsOwnTable:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": growing(name, query) for name, query in GROWING.items()}
        models["converges.sql"] = f"""
{{{{ config({CONFIG}, incremental_strategy='merge', unique_key='id') }}}}
{{% if is_incremental() %}}
select n.id, coalesce(n.amount, t.amount) as amount
from (select 1 as id, cast(2.5 as decimal(10,4)) as amount) n
  left join {{{{ this }}}} t on t.id = n.id
{{% else %}} select 1 as id, cast(1 as decimal(10,2)) as amount {{% endif %}}
"""
        models["newest.sql"] = f"""
{{{{ config({CONFIG}) }}}}
select cast(3000000000 as {{{{ 'bigint' if is_incremental() else 'double' }}}}) as big,
  cast(1 as {{{{ 'bigint' if is_incremental() else 'int' }}}}) as n
{{% if is_incremental() %}} where 2 > (select max(n) from {{{{ this }}}}) {{% endif %}}
"""
        return models

    @pytest.fixture(scope="class")
    def second(self, project):
        dbt("run")
        return dbt("run")

    @pytest.mark.parametrize("name", GROWING)
    def test_is_refused_before_it_widens_its_own_input(self, name, second, table):
        assert second.status(name) == "error"
        path = "s.amount" if name == "nested" else "amount"
        assert f"{path}: decimal(10,2) -> decimal(" in second.message(name)
        assert f"cast(... as decimal(10,2)) as {path}" in second.message(name)
        assert table(name).version == 0

    def test_can_widen_it_if_the_type_stops_growing(self, second, table):
        assert second.status("converges") == "success", second.message("converges")
        assert table("converges").types["amount"] == "decimal(12,4)"
        assert second.status("newest") == "error"  # bigint in double: an ordinary refusal
        assert "reads its own table" not in second.message("newest")


@needs_delta_4
class TestAModelThatReadsItsOwnTableByItsBareName:
    @pytest.fixture(scope="class")
    def models(self):
        return {"bare.sql": growing("bare", "select sum(bare.amount) as amount from bare")}

    def test_is_refused(self, project, spark, table):
        dbt("run")
        spark.sql(f"use {project.test_schema}")
        message = dbt("run").message("bare")
        spark.sql("use default")
        assert "cast(... as decimal(10,2)) as amount" in message
        assert table("bare").version == 0


@needs_delta_4
class TestAModelThatReadsItsOwnTableThroughAView:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "hidden.sql": f"{{{{ config({CONFIG}) }}}}\n{{% if is_incremental() %}} "
            "select sum(amount) as amount from {{ schema }}.over "
            f"{{% else %}} {FIRST} {{% endif %}}"
        }

    def test_is_stopped_after_one_change_at_most(self, project, table):
        dbt("run")
        evolution = "with schema type evolution"
        project.run_sql(
            f"create view {{schema}}.over {evolution} as select * from {{schema}}.hidden"
        )
        run = dbt("run")
        assert run.status("hidden") == "error"
        assert "cast(... as decimal(20,2)) as amount" in run.message("hidden")
        # The older files are rewritten although the write has failed.
        assert table("hidden").operations(since=0) == ["CHANGE COLUMN", "Manual Update"]
        assert table("hidden").types["amount"] == "decimal(20,2)"
        assert len(table("hidden").rows()) == 1


PYTHON = """
def model(dbt, spark):
    if not dbt.is_incremental:
        return spark.sql("select 1 as id, cast(1.25 as decimal(10,2)) as amount")
    own = spark.table(str(dbt.this))
    new = spark.sql("select id, cast(2.3456 as decimal(12,4)) as amount from range(1, 3)")
    new = new.join(own, 'id', 'left_anti')
    return {query}
"""
PYTHON_MODELS = {
    "keys": ("append", "new"),
    "every_row": ("insert_overwrite", "own.unionByName(new)"),
}


@needs_delta_4
class TestAPythonModelThatReadsItsOwnTable:
    """Its data frame is analysed before the table is widened, and read after it."""

    @pytest.fixture(scope="class")
    def models(self):
        settings = "on_schema_change: append_new_columns, type_widening: true"
        models = [
            f"{{name: {name}, config: {{materialized: incremental, {settings}, "
            f"incremental_strategy: {strategy}}}}}"
            for name, (strategy, _) in PYTHON_MODELS.items()
        ]
        files = {f"{n}.py": PYTHON.format(query=query) for n, (_, query) in PYTHON_MODELS.items()}
        return {**files, "schema.yml": f"models: [{', '.join(models)}]"}

    @pytest.mark.slow
    def test_can_widen_it(self, project, table):
        dbt("run")
        for _ in range(2):
            run = dbt("run")
            for name in PYTHON_MODELS:
                assert run.status(name) == "success", run.message(name)
                assert table(name).types["amount"] == "decimal(12,4)"
                rows = table(name).rows("id", "string(amount)")
                assert rows == [(1, "1.2500"), (2, "2.3456")]
