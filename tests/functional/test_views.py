"""The views of models follow the tables that they read when these are widened."""

from datetime import datetime
from decimal import Decimal

import pytest
from dbt.tests.util import run_dbt

from tests.functional.support import dbt, needs_delta_4

EVERY_TYPE = """
{{ config(materialized='incremental', on_schema_change='append_new_columns', type_widening=true) }}
{%- if not is_incremental() %}
select cast(1 as int) as n, cast(1.25 as decimal(8,2)) as amount, cast(1.5 as float) as speed,
  date'2024-01-01' as day, named_struct('x', array(cast(1 as int))) as s
{%- else %}
select 1099511627776 as n, cast(1.2367 as decimal(12,4)) as amount, 0.1d as speed,
  timestamp_ntz'2024-01-01 10:11:12' as day, named_struct('x', array(1099511627776)) as s
{%- endif %}
"""
DOCUMENTED = """
models:
  - name: documented
    description: It's `every` type.
    config: {persist_docs: {relation: true, columns: true}}
    columns:
      - {name: n, description: The number's comment}
      - {name: amount, description: The amount}
  - name: contracted
    config: {contract: {enforced: true}}
    columns:
      - {name: n, data_type: "{{ var('n', 'int') }}"}
"""


@needs_delta_4
class TestOurViewsFollow:
    """The views of a table have each value that was written after the table was widened."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "facts.sql": EVERY_TYPE,
            "plain.sql": "select * from {{ ref('facts') }}",
            "documented.sql": "select * from {{ ref('facts') }}",
            "over_view.sql": "select amount as other, s.x[0] as x from {{ ref('plain') }}",
            "contracted.sql": "select n from {{ ref('facts') }}",
            "models.yml": DOCUMENTED,
        }

    @pytest.fixture(scope="class")
    def widened(self, project):
        created = dbt("run")
        # A server's connection does not correct the statistics of floats in a run.
        facts = f"{project.test_schema}.facts"
        arguments = {"relations": [facts], "columns": {"speed": "double"}}
        dbt("run-operation", "widen_columns", "--args", str(arguments))
        # The models of views are not run again.
        run = dbt("run", "--select", "facts")
        results = (*created.results.values(), *run.results.values())
        assert {r.status for r in results} == {"success"}, created.output + run.output
        return run

    @pytest.mark.parametrize("view", ["plain", "documented"])
    def test_every_value_is_in_the_view(self, widened, table, view):
        assert table(view).rows() == table("facts").rows()
        assert {row[0] for row in table(view).rows("n")} == {1, 2**40}
        assert Decimal("1.2367") in {row[0] for row in table(view).rows("amount")}
        assert (0.1,) in table(view).rows("speed")
        assert (datetime(2024, 1, 1, 10, 11, 12),) in table(view).rows("day")

    def test_a_view_over_a_view_follows_too(self, widened, table):
        assert (Decimal("1.2367"), 2**40) in table("over_view").rows()

    def test_a_contract_is_checked_when_the_view_is_created(self, widened, table):
        assert (2**40,) in table("contracted").rows()
        assert "enforced contract that failed" in (
            dbt("run", "--select", "contracted").message("contracted")
        )
        assert dbt("run", "--select", "contracted", n="bigint").status("contracted") == "success"

    def test_the_comments_are_kept(self, widened, project, spark, table):
        assert table("documented").rows()  # A reader takes the new types to the metastore.
        rows = spark.sql(f"describe extended {project.test_schema}.documented").collect()
        comments = {row.col_name: row.comment for row in rows}
        assert (comments["n"], comments["amount"]) == ("The number's comment", "The amount")
        assert ("Comment", "It's `every` type.") in {(r.col_name, r.data_type) for r in rows}

    def test_no_view_is_reported_as_stale(self, widened):
        assert "still have the types from before" not in widened.output

    def test_the_catalog_has_the_types_of_the_table(self, widened, project):
        catalog = run_dbt(["docs", "generate"])
        columns = catalog.nodes["model.test.over_view"].columns
        # By SQL alone, dbt-spark takes the types from a text in which a bigint is a long.
        types = [column.type.replace("long", "bigint") for column in columns.values()]
        assert types == ["decimal(12,4)", "bigint"]
        with project.adapter.connection_named("catalog"):
            relation = project.adapter.Relation.create(
                schema=project.test_schema, identifier="over_view", type="view"
            )
            columns = project.adapter.get_columns_in_relation(relation)
        assert [column.dtype for column in columns] == ["decimal(12,4)", "bigint"]

    def test_a_view_of_an_earlier_version_is_replaced_by_one_that_follows(
        self, widened, project, spark, table
    ):
        name = f"{project.test_schema}.plain"
        spark.sql(f"create or replace view {name} as select n from {project.test_schema}.facts")
        assert dbt("run", "--select", "plain").status("plain") == "success"
        mode = {r.col_name: r.data_type for r in spark.sql(f"describe extended {name}").collect()}
        assert mode["View Schema Mode"] == "TYPE EVOLUTION"


class TestLongView:
    """The metastore of the embedded Spark, Derby, has columns of 32,700 characters for a view."""

    @pytest.fixture(scope="class")
    def models(self):
        columns = ", ".join(f"'{n:050}' as c{n}" for n in range(1000))
        return {
            "short.sql": "select 1 as id",
            "long.sql": f"select id, {columns} from {{{{ ref('short') }}}}",
        }

    def test_is_created_and_read(self, project, table):
        run = dbt("run", "--select", "short")
        run = dbt("run")
        assert run.status("long") == "success", run.message("long")
        assert table("long").rows("id", "c999") == [(1, f"{999:050}")]
        # The metastore still has the earlier relation.
        assert table("short").rows() == [(1,)]
        assert dbt("run").status("long") == "success"
