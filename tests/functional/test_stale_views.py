"""Stale views cast a widened column back; they are found before a value is lost."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.views.finder import ViewFinder
from tests.functional.operate import document
from tests.functional.support import dbt, needs_delta_4
from tests.small import settings_of

INCREMENTAL = """
{{ config(materialized='incremental', on_schema_change='append_new_columns', type_widening=true) }}
select cast({{ var('value', 1) }} as {{ var('n', 'int') }}) as n,
  cast({{ var('amount', '1.25') }} as {{ var('amount_type', 'decimal(8,2)') }}) as amount,
  named_struct('x', array(cast({{ var('value', 1) }} as {{ var('n', 'int') }}))) as s
"""
WIDE = {"n": "bigint", "amount": "1.2367", "amount_type": "decimal(12,4)", "value": 2**40}

SNAPSHOT = """
{% snapshot versions %}
{{ config(unique_key='n', strategy='check', check_cols='all', target_schema=schema,
          type_widening=true) }}
select 1 as n, amount from {{ source('views', 'stale') }}
{% endsnapshot %}
"""
SOURCES = """
sources:
  - name: views
    schema: "{{ target.schema }}"
    tables: [{name: stale}, {name: through}]
"""
READER = "{{ config(materialized='%s') }} select amount from {{ source('views', '%s') }}"
WIDENING = "incremental', type_widening=true, on_schema_change='append_new_columns"
PYTHON = """
def model(dbt, spark):
    dbt.config(materialized='table')
    return dbt.source('views', 'stale').select('amount')
"""
PANDAS = """
def model(dbt, spark):
    dbt.config(materialized='table')
    return dbt.source('views', 'stale').select('amount').toPandas()
"""
BY_NAME = """
def model(dbt, spark):
    dbt.config(materialized='table')
    return spark.sql('select amount from {schema}.stale')
"""
IN_A_SUBQUERY = """
{{ config(materialized='table') }}
with chosen as (select 1 as n)
select * from chosen where '
' <> ' ' and exists (select 1 from {{ source('views', 'through') }} where amount > 1)
"""
READERS = ["as_table", "as_rows", "indirect", "subquery", "versions"]


class StaleViews:
    """A table in one schema, plain views over it in two, and models that read the views."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "facts.sql": INCREMENTAL,
            "as_table.sql": READER % ("table", "stale"),
            "as_rows.sql": READER % (WIDENING, "stale"),
            "indirect.sql": READER % ("table", "through"),
            "subquery.sql": IN_A_SUBQUERY,
            "sources.yml": SOURCES,
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def elsewhere(self, project):
        name = f"{project.test_schema}_elsewhere"
        project.run_sql(f"create schema if not exists {name}")
        yield name
        project.run_sql(f"drop schema if exists {name} cascade")

    @pytest.fixture(scope="class")
    def created(self, project, elsewhere):
        dbt("run", "--select", "facts")
        schema = project.test_schema
        for statement in (
            f"create view {schema}.stale as select * from {schema}.facts",
            f"create view {elsewhere}.renamed (a, b) as select amount, n from {schema}.FACTS",
            f"create view {elsewhere}.text as select cast(amount as string) a from {schema}.facts",
            f"create view {elsewhere}.outer with schema type evolution as "
            f"select a from {elsewhere}.renamed",
            f"create view {elsewhere}.full as select facts.n from spark_catalog.{schema}.facts",
            self.through(schema),
        ):
            project.run_sql(statement)
        run = dbt("build", "--exclude", "facts")
        assert {result.status for result in run.results.values()} == {"success"}

    def through(self, schema: str) -> str:
        return (
            f"create view {schema}.through with schema type evolution as "
            f"select amount from {schema}.stale"
        )

    @pytest.fixture(scope="class")
    def widened(self, created):
        run = dbt("run", "--select", "facts", "--warn-error", **WIDE)
        assert run.status("facts") == "success"
        return run


def stopped_in(planned) -> set[str]:
    stops = {effect["name"] for effect in planned["downstream"] if effect["outcome"] == "stops"}
    return stops | {model["model"] for model in planned["tables"] if model.get("error")}


@needs_delta_4
class TestStaleViews(StaleViews):
    def test_a_plan_names_the_views_and_the_models_that_will_be_refused_once_the_table_is_wider(
        self, created, project, elsewhere
    ):
        planned = document("plan", "--vars", json.dumps(WIDE))
        assert stopped_in(planned) == set(READERS)
        views = {(e["name"], e["outcome"]) for e in planned["downstream"] if e["kind"] == "view"}
        names = (f"{project.test_schema}.stale", f"{elsewhere}.renamed", f"{elsewhere}.full")
        assert views == {(name, "casts back until it is updated") for name in names}

    def test_a_plan_names_the_models_that_the_run_refuses_now(self, widened):
        assert stopped_in(document("plan", "--vars", json.dumps(WIDE))) == set(READERS)

    def test_views_that_cast_back_are_named_once_the_table_is_wider(
        self, widened, project, elsewhere
    ):
        output = widened.output
        assert output.count("still have the types from before") == 1
        assert f"alter view `{project.test_schema}`.`stale` with schema type evolution" in output
        assert "amount: decimal(12,4) in its query, decimal(8,2) in the view" in output
        assert "s.x.element: bigint in its query, int in the view" in output
        assert f"alter view `{elsewhere}`.`renamed` with schema type evolution" in output
        assert "a: decimal(12,4) in its query, decimal(8,2) in the view" in output
        # A cast to string loses nothing. A view that follows needs no repair of its own.
        assert f"{elsewhere}.text" not in output
        assert "`through`" not in output

    def test_models_that_read_a_stale_view_are_refused_before_they_write(
        self, widened, project, table
    ):
        before = {name: table(name).version for name in READERS}
        run = dbt("build", "--exclude", "facts")
        for name in READERS:
            assert run.status(name) == "error", name
            message = run.message(name)
            assert f"{project.test_schema}.stale" in message
            assert "amount: decimal(12,4) in its query, decimal(8,2) in the view" in message
            assert f"`{project.test_schema}`.`stale` with schema type evolution" in message
        assert {name: table(name).version for name in READERS} == before

    def test_a_new_table_is_not_created(self, widened, project):
        project.run_sql(f"drop table {project.test_schema}.as_table")
        assert dbt("run", "--select", "as_table").status("as_table") == "error"
        shown = project.run_sql(f"show tables in {project.test_schema}", fetch="all")
        assert "as_table" not in {row[1] for row in shown}

    @pytest.mark.parametrize(("word", "warned"), [("warn", True), ("ignore", False)])
    def test_a_model_that_accepts_the_loss_runs(self, widened, project, word, warned):
        text = READER.replace("'%s')", f"'%s', on_lossy_write='{word}')", 1) % ("table", "stale")
        Path(project.project_root, "models", f"accepted_{word}.sql").write_text(text)
        run = dbt("run", "--select", f"accepted_{word}")
        assert run.status(f"accepted_{word}") == "success"
        assert ("views that cast columns back" in run.output) is warned

    def test_the_command_repairs_the_view(self, widened, project, table):
        run = dbt("run", "--select", "as_rows")
        (command,) = [
            line.split("Do: ")[1] for line in run.message("as_rows").splitlines() if "Do: " in line
        ]
        project.run_sql(command)
        run = dbt("build", "--exclude", "facts", "accepted_warn", "accepted_ignore")
        assert {result.status for result in run.results.values()} == {"success"}
        for name in ("as_table", "indirect"):
            assert (Decimal("1.2367"),) in table(name).rows("amount")
        assert Decimal("1.2367") in {row[0] for row in table("versions").rows("amount")}


HIDING = {"spark.sql.maxPlanStringLength": "200", "spark.sql.redaction.string.regex": "stale"}


@needs_delta_4
class TestAPlanOfWhichASettingLeavesOutAPart(StaleViews):
    @pytest.mark.parametrize("name", HIDING)
    @pytest.mark.parametrize("fixture", ["project", "by_sql_alone"])
    def test_shows_a_stale_view(self, widened, project, request, spark, name, fixture):
        request.getfixturevalue(fixture)
        with settings_of(spark, {name: HIDING[name]}):
            run = dbt("run", "-s", "as_table")
        assert "amount: decimal(12,4) in its query" in run.message("as_table")


@needs_delta_4
class TestViewOverStaleView(StaleViews):
    """Both views are stale. If only the inner view were repaired, the outer one would cast back."""

    def through(self, schema: str) -> str:
        return f"create view {schema}.through as select amount from {schema}.stale"

    @pytest.mark.slow
    def test_both_views_are_named(self, widened, project):
        for name in ("stale", "through"):
            assert f"`{project.test_schema}`.`{name}` with schema type evolution" in widened.output

    def test_the_error_has_both_commands(self, widened, project, table):
        message = dbt("run", "--select", "indirect").message("indirect")
        commands = [line.split("Do: ")[1] for line in message.splitlines() if "Do: " in line]
        assert len(commands) == 2
        for command in commands:
            project.run_sql(command)
        assert dbt("run", "--select", "indirect").status("indirect") == "success"
        assert (Decimal("1.2367"),) in table("indirect").rows("amount")


@needs_delta_4
class TestWidenedByHand(StaleViews):
    def test_the_operation_names_the_views(self, created, project):
        arguments = (
            f"{{relations: ['{project.test_schema}.facts'], columns: {{amount: 'decimal(12,4)'}}"
        )
        dry = dbt("run-operation", "widen_columns", "--args", arguments + ", dry_run: true}")
        assert "`stale` with schema type evolution" not in dry.output
        run = dbt("run-operation", "widen_columns", "--args", arguments + "}")
        assert run.output.count("`stale` with schema type evolution") == 1


@needs_delta_4
class TestModelThatIsAView:
    """A view of a dbt model that dbt-spark or an earlier version has created."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "facts.sql": INCREMENTAL,
            "orders_view.sql": "{{ config(alias='orders') }} select * from {{ ref('facts') }}",
            "reader.sql": READER.replace("source('views', '%s')", "ref('%s')")
            % ("table", "orders_view"),
        }

    def test_a_run_of_the_model_repairs_the_view(self, project, table):
        dbt("run")
        schema = project.test_schema
        project.run_sql(f"create or replace view {schema}.orders as select * from {schema}.facts")
        run = dbt("run", "--select", "facts", **WIDE)
        assert "dbt run --select orders_view" in run.output
        run = dbt("run", "--select", "reader")
        assert "dbt run --select orders_view" in run.message("reader")
        assert dbt("run", "--select", "orders_view").status("orders_view") == "success"
        assert dbt("run", "--select", "reader").status("reader") == "success"
        assert (Decimal("1.2367"),) in table("reader").rows()


@needs_delta_4
class TestPythonModels:
    @pytest.fixture(scope="class")
    def models(self, unique_schema):
        return {
            "facts.sql": INCREMENTAL,
            "of_spark.py": PYTHON,
            "of_pandas.py": PANDAS,
            "by_name.py": BY_NAME.format(schema=unique_schema),
            "sources.yml": SOURCES,
        }

    @pytest.fixture(scope="class")
    def widened(self, project):
        dbt("run", "--select", "facts")
        schema = project.test_schema
        project.run_sql(f"create view {schema}.stale as select * from {schema}.facts")
        dbt("run", "--exclude", "facts")
        dbt("run", "--select", "facts", **WIDE)

    @pytest.mark.slow
    @pytest.mark.parametrize("model", ["of_spark", "of_pandas", "by_name"])
    def test_are_refused_before_they_write(self, widened, table, model):
        version = table(model).version
        run = dbt("run", "--select", model)
        assert run.status(model) == "error"
        assert "amount: decimal(12,4) in its query, decimal(8,2) in the view" in run.message(model)
        assert table(model).version == version


class TestViewThatFails:
    """Spark 3.5's views, and Spark 4's WITH SCHEMA BINDING, refuse the wider values."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "facts.sql": "{{ config(materialized='incremental', type_widening=true,"
            " on_schema_change='append_new_columns') }}"
            " select cast(1 as {{ var('n', 'smallint') }}) as n",
            "as_table.sql": "{{ config(materialized='table', liquid_clustered_by='n') }}"
            " select n from {{ source('views', 'stale') }}",
            "as_rows.sql": "{{ config(materialized='incremental') }}"
            " select n from {{ source('views', 'stale') }}",
            "through_a_view.sql": "{{ config(materialized='table') }}"
            " select n from {{ source('views', 'through') }}",
            "sources.yml": SOURCES,
        }

    @pytest.fixture(scope="class")
    def widened(self, project):
        dbt("run", "--select", "facts")
        schema = project.test_schema
        binding = "with schema binding" if project.adapter.has_spark(4) else ""
        follows = "with schema evolution" if project.adapter.has_spark(4) else ""
        project.run_sql(f"create view {schema}.stale {binding} as select * from {schema}.facts")
        project.run_sql(f"create view {schema}.through {follows} as select * from {schema}.stale")
        dbt("run", "--exclude", "facts")
        return dbt("run", "--select", "facts", n="int")

    def test_is_named_once_the_table_is_wider(self, widened, project):
        assert "still have the types from before" in widened.output
        assert "Spark refuses to read it: CANNOT_UP_CAST_DATATYPE" in widened.output
        assert f"{project.test_schema}.stale" in widened.output

    def test_a_view_that_follows_its_query_needs_no_command(self, widened, project):
        message = dbt("run", "--select", "through_a_view").message("through_a_view")
        assert f"{project.test_schema}.stale" in message
        if project.adapter.has_spark(4):
            assert "alter view" in message
            assert f"`{project.test_schema}`.`through` with schema" not in message

    @pytest.mark.parametrize("model", ["as_table", "as_rows"])
    def test_is_named_if_a_model_reads_it(self, widened, project, model):
        message = dbt("run", "--select", model).message(model)
        assert f"{project.test_schema}.stale" in message
        assert "created before a table became wider" in message
        has_alter_view = project.adapter.has_spark(4)
        assert (
            "with schema type evolution" if has_alter_view else "dbt run --select stale"
        ) in message


ORDERS = """
{{ config(materialized='incremental', on_schema_change='sync_all_columns',
          tblproperties={'delta.columnMapping.mode': 'name'},
          renamed_columns={'amount': 'amt'} if var('amt', 'amt') == 'amount' else {}) }}
select 1 as id, 2 as {{ var('amt', 'amt') }},
  named_struct('a', 1 {{ ", 'b', 2" if var('amt', 'amt') == 'amount' }}) as nested
{% if var('amt', 'amt') == 'amt' %}, 3 as note {% endif %}
"""
CHECKED = """
{% snapshot checked %}
{{ config(unique_key='id', strategy='check', check_cols=['amt'], target_schema=schema) }}
select * from {{ ref('orders') }}
{% endsnapshot %}
"""
OTHERS = "sources: [{name: others, schema: '{{ target.schema }}', tables: [{name: %s}]}]"
FAILING = ("every", "chosen", "dropped", "bare", "full", "outer", "struct", "by_name")


@needs_delta_4
class TestOtherColumns:
    """A column is renamed and another one is dropped, and views that dbt did not make read them."""

    @pytest.fixture(scope="class")
    def models(self):
        reads = "{{ config(materialized='%s') }} select id from {{ source('others', '%s') }}"
        return {
            "orders.sql": ORDERS,
            "latest.sql": "select * from {{ ref('orders') }}",
            "reads_every.sql": reads.replace(" id ", " * ") % ("table", "every"),
            "reads_outer.sql": reads % ("view", "outer"),
            "reads_whole.sql": reads % ("table", "whole"),
            # This run makes it again, but before the table changes.
            "by_name.sql": reads.replace(" id ", " amt ") % ("view", "orders"),
            "sources.yml": OTHERS % "every}, {name: outer}, {name: whole}, {name: orders",
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"checked.sql": CHECKED}

    @pytest.fixture(scope="class")
    def forecast(self, project, spark):
        """The plan, and the run of the table, of its view and of the snapshot."""
        assert dbt("run", "--select", "orders", "latest").status("orders") == "success"
        schema = project.test_schema
        orders = f"{schema}.orders"
        spark.sql(f"create table {schema}.gone (id int) using delta")
        for name, query in {
            "every": f"select * from {orders}",
            "chosen": f"select orders.amt from {orders}",
            "dropped": f"select id, note from {orders}",
            "struct": f"select nested from {orders}",
            "full": f"select amt from spark_catalog.{orders}",
            "broken": f"select orders.amt from {orders} join {schema}.gone using (id)",
            "outer with schema evolution": f"select id from {schema}.every",
            "whole with schema evolution": f"select * from {orders}",
            "ids": f"select id as amt from {orders} -- amt",
            "elsewhere": "select amt from (select 1 as amt) as orders",
        }.items():
            spark.sql(f"create view {schema}.{name} as {query}")
        spark.sql(f"use {schema}")
        spark.sql("create view bare (orders) as select amt as orders from orders")
        spark.sql("use default")
        spark.sql(f"drop table {schema}.gone")
        assert dbt("build", "--exclude", "orders").status("checked") == "success"
        # Somebody drops a schema just before its views are listed.
        spark.sql(f"create schema {schema}_a_dropped")
        list_views, dropped = ViewFinder._listed_in, []

        def drop_first(finder, name, *rest):
            if name[-1].endswith("_a_dropped"):
                dropped.append(name)
                spark.sql(f"drop schema {name[-1]}")
            return list_views(finder, name, *rest)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(ViewFinder, "_listed_in", drop_first)
            planned = document("plan", "--vars", json.dumps({"amt": "amount"}))
        assert dropped
        return planned, dbt("build", "--exclude", "reads_*", amt="amount")

    def test_a_plan_names_the_views_that_fail_and_what_reads_them(self, forecast, project):
        planned = forecast[0]
        schema = project.test_schema
        found = {
            (e["kind"], e["name"].removeprefix(f"{schema}."), e["outcome"])
            for e in planned["downstream"]
        }
        assert found == {
            *(("view", name, "fails until it is updated") for name in FAILING),
            ("view", "broken", "not known"),
            ("view", "latest", "gets other types"),
            ("model", "reads_every", "stops"),
            ("view", "reads_outer", "stops"),
        }

    def test_a_plan_names_the_snapshot_that_selects_the_old_name(self, forecast):
        errors = {table["model"]: table.get("error") for table in forecast[0]["tables"]}
        assert "unique_key, updated_at and check_cols can't be selected" in errors["checked"]
        assert forecast[1].status("checked") == "error"

    def test_the_run_names_the_same_views(self, forecast, project, spark):
        run, schema = forecast[1], project.test_schema
        for name in ("by_name", "orders", "latest"):
            assert run.status(name) == "success"
        for name in (*FAILING, "whole", "ids", "elsewhere"):
            named = run.output.count(f"  {schema}.{name}\n")
            assert named == (1 if name in FAILING else 0), name
            if named:
                with pytest.raises(Exception, match=r"UNRESOLVED|INCOMPATIBLE|DATATYPE_MIS"):
                    spark.table(f"{schema}.{name}").collect()
            else:
                spark.table(f"{schema}.{name}").collect()
