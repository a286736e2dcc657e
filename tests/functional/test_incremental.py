"""An incremental model that widens: refusals, names, and statements of a run without changes."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

from tests.functional.cells import ONE_DAY, STRATEGIES
from tests.functional.support import dbt, in_part_slow, needs_delta_4, selected
from tests.small import settings_of


class TestOneRefusalStopsAllChanges:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='sync_all_columns', type_widening=true) }}
{% if var('step') == 1 %}
select 1 as id, cast(1 as int) as quantity, cast(1 as int) as price, 'x' as note
{% else %}
select 1 as id, cast(2 as bigint) as quantity, cast('2.50' as string) as price, 'y' as note, 1 as n
{% endif %}
"""
        }

    def test_the_version_is_unchanged_and_no_row_is_written(self, project, table):
        dbt("run", step=1)
        orders = table("orders")
        version, rows = orders.version, orders.rows()
        run = dbt("run", step=2)
        assert run.status("orders") == "error"
        assert "price: int -> string" in run.message("orders")
        assert (orders.version, orders.rows()) == (version, rows)


ODD = """
{{ config(materialized='incremental', incremental_strategy='STRATEGY', unique_key='my-key',
          on_schema_change='append_new_columns', type_widening=true,
          tblproperties={'delta.columnMapping.mode': 'name'}) }}
{% set type = 'int' if var('step') == 1 else 'bigint' %}
select {{ var('step') }} as `my-key`, cast(1 as {{ type }}) as `my-col`,
  cast(1 as {{ type }}) as `a.b`,
  cast(1 as {{ type }}) as `select`, cast(1 as {{ type }}) as `größe, <x>`,
  cast(1 as {{ type }}) as `tick``ed`, cast(1 as {{ type }}) as `#hash`
{% if var('step') == 2 %}, 1 as `new col` {% endif %}
"""
CASED = """
{{ config(materialized='incremental', incremental_strategy='STRATEGY', unique_key='id',
          on_schema_change='sync_all_columns', type_widening=true) }}
{% if var('step') == 1 %} select 1 as Id, cast(1 as int) as Amount
{% else %} select cast(5000000000 as bigint) as AMOUNT, 2 as id {% endif %}
"""


class TestNames:
    strategies = pytest.mark.parametrize("strategy", in_part_slow(STRATEGIES[:3], STRATEGIES[2:]))

    @pytest.fixture(scope="class")
    def models(self, request):
        return {
            f"{name}__{strategy}.sql": text.replace("STRATEGY", strategy)
            for name, text in (("odd", ODD), ("cased", CASED))
            for strategy in selected(request, "strategy")
        }

    @pytest.fixture(scope="class")
    def second(self, project):
        dbt("run", step=1)
        return dbt("run", step=2)

    @strategies
    def test_every_name_is_quoted(self, second, table, strategy):
        odd = f"odd__{strategy}"
        assert second.status(odd) == "success", second.message(odd)
        schema = dict(table(odd).spark.table(table(odd).name).dtypes)
        assert schema == {
            "my-key": "int",
            **dict.fromkeys(["my-col", "a.b", "select", "größe, <x>", "tick`ed"], "bigint"),
            "#hash": "bigint",
            "new col": "int",
        }

    @strategies
    def test_names_that_differ_in_case_only_are_the_same_column(self, second, table, strategy):
        cased = f"cased__{strategy}"
        assert second.status(cased) == "success", second.message(cased)
        assert table(cased).types == {"Id": "int", "Amount": "bigint"}
        assert (2, 5_000_000_000) in table(cased).rows()


class TestDecimals:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sums.sql": """
{{ config(materialized='incremental', on_schema_change='append_new_columns', type_widening=true) }}
{% if var('step') == 1 %}
select 1 as id, cast(1.25 as decimal(10,2)) as both, cast(1.25 as decimal(8,2)) as from_int
{% else %}
select 2 as id, cast(9.8765 as decimal(10,4)) as both, cast(2147483647 as int) as from_int
{% endif %}
""",
            "too_many.sql": """
{{ config(materialized='incremental', on_schema_change='append_new_columns', type_widening=true) }}
{% if var('step') == 1 %} select cast(1 as decimal(38,2)) as amount
{% else %} select cast(1.23456 as decimal(10,5)) as amount {% endif %}
""",
        }

    def test_the_column_gets_the_smallest_type_that_holds_both(self, project, table):
        dbt("run", step=1)
        before = table("too_many").version
        run = dbt("run", step=2)
        types = table("sums").types
        assert types["both"] == "decimal(12,4)"
        assert types["from_int"] == "decimal(12,2)"
        assert table("sums").rows("both", "from_int")[1] == (
            Decimal("9.8765"),
            Decimal("2147483647.00"),
        )
        assert "needs 41 digits, and the maximum is 38" in run.message("too_many")
        assert table("too_many").version == before


@needs_delta_4
class TestIntegersAndFloats:
    """Only a session makes this change in a run."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "reals.sql": """
{{ config(materialized='incremental', on_schema_change='append_new_columns', type_widening=true) }}
select {{ var('step') }} as id, cast({{ var('value') }} as {{ var('type') }}) as real
"""
        }

    def test_the_column_becomes_double(self, project, table):
        dbt("run", step=1, value=1, type="float")
        run = dbt("run", step=2, value=16777217, type="int")
        assert run.status("reals") == "success", run.message("reals")
        assert table("reals").types["real"] == "double"
        assert table("reals").rows("real") == [(1.0,), (16777217.0,)]


class TestTimestampThatMeansTimestampNtz:
    """By a setting of Spark, the name ``timestamp`` in a statement means timestamp_ntz."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "moments.sql": """
{{ config(materialized='incremental', on_schema_change='append_new_columns') }}
select {{ var('step') }} as id, timestamp_ntz'2024-01-01 12:00:00' as local
{%- if var('step') == 2 %},
  timestamp_ltz'2024-01-01 12:00:00 UTC' as moment,
  map('a', timestamp_ltz'2024-01-01 12:00:00 UTC') as moments
{%- endif %}
"""
        }

    def test_a_new_column_of_moments_keeps_them(self, project, spark, table):
        with settings_of(spark, {"spark.sql.timestampType": "TIMESTAMP_NTZ"}):
            dbt("run", step=1)
            run = dbt("run", step=2)
        assert run.status("moments") == "success", run.message("moments")
        types = table("moments").types
        assert (types["local"], types["moment"]) == ("timestamp_ntz", "timestamp")
        assert types["moments"] == "map<string,timestamp>"
        assert table("moments").rows("cast(moment as bigint)") == [(1704110400,), (None,)]


@pytest.mark.slow
class TestNothingExtraWhereNothingChanged:
    """Count, in dbt's own debug log, the statements of the same model on both adapters."""

    modes = ("ignore", "sync_all_columns")

    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{mode}__{strategy}.sql": f"""
{{{{ config(materialized='incremental', incremental_strategy='{strategy}', unique_key='id',
  on_schema_change='{mode}', file_format='delta', partition_by='step', event_time='at',
  batch_size='day', begin='2024-01-01') }}}}
select 1 as id, cast(1.25 as decimal(8,2)) as amount, 'a' as step,
  timestamp'2024-01-01 12:00:00' as at
"""
            for mode in self.modes
            for strategy in STRATEGIES
        }

    @pytest.fixture(scope="class")
    def profiles_config_update(self, unique_schema, dbt_profile_target):
        plain = {**dbt_profile_target, "schema": unique_schema}
        spark = {**plain, "type": "spark", "method": "session", "host": "localhost"}
        return {"test": {"outputs": {"default": plain, "spark": spark}, "target": "default"}}

    def test_a_run_has_no_more_statements_than_with_dbt_spark(self, project, logs_dir):
        log = Path(logs_dir) / "dbt.log"
        ours, theirs = (self._count(log, target) for target in ("default", "spark"))
        assert set(ours) == set(theirs)
        assert len(ours) == len(self.modes) * len(STRATEGIES)
        more = {node: (n, theirs[node]) for node, n in ours.items() if n > theirs[node]}
        assert more == {}
        asks_for_columns = f"model.test.{self.modes[-1]}__merge"
        assert ours[asks_for_columns] < theirs[asks_for_columns]

    def _count(self, log: Path, target: str) -> dict[str, int]:
        command = ["run", "--target", target, *ONE_DAY]
        run_dbt([*command, "--full-refresh"])
        log.write_text("")
        run_dbt(command)
        statements = re.findall(r"\]: On (model\.\S+): (?!ROLLBACK|Close|COMMIT)", log.read_text())
        return {node: statements.count(node) for node in set(statements)}


class TestWhatARunAddsWhereNothingChanged:
    """The statements of docs/decisions.md#if-nothing-differs, with Spark inside dbt."""

    @pytest.fixture(scope="class")
    def models(self):
        query = "select 1 as id, 'a' as step, timestamp'2024-01-01 12:00:00' as at"
        configs = {
            "plain": "incremental_strategy='merge', unique_key='id', partition_by='step'",
            "clustered": "incremental_strategy='insert_overwrite', liquid_clustered_by='id'",
            "moments": "incremental_strategy='merge', unique_key='id', partition_by='at'",
            "condition": "incremental_strategy='replace_where', incremental_predicates=["
            "\"at >= timestamp'2024-01-01 00:00:00'\"]",
        }
        return {
            f"{name}.sql": f"{{{{ config(materialized='incremental', {config}) }}}} {query}"
            for name, config in configs.items()
        }

    def test_they_are_those_of_the_page(self, project, logs_dir):
        run_dbt(["run"])
        log = Path(logs_dir) / "dbt.log"
        log.write_text("")
        run_dbt(["run"])
        found = re.findall(r"\]: On model\.test\.(\w+): /\*.*?\*/\s*(.*)", log.read_text())
        written = ("create or replace temporary view", "merge ", "insert ")
        added = [(name, text) for name, text in found if not text.lower().startswith(written)]
        by_model = sorted(added, key=lambda each: each[0])
        assert [(name, text.split("`")[0].strip()) for name, text in by_model] == [
            ("clustered", "show tblproperties"),
            ("clustered", "alter table"),
            ("clustered", "optimize"),
            ("condition", "select current_timezone()"),
            ("moments", "select version()"),
            ("moments", "select java_method('io.delta.package', 'VERSION')"),
            ("moments", "select cast("),
        ]


@pytest.mark.slow
class TestNothingExtraInTheOtherModes(TestNothingExtraWhereNothingChanged):
    modes = ("fail", "append_new_columns")


class TestUniqueKey:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "keyed.sql": """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key=var('key'),
          on_schema_change='append_new_columns', type_widening=true) }}
select 1 as Id, cast(1 as {{ 'bigint' if is_incremental() else 'int' }}) as amount
"""
        }

    @pytest.mark.parametrize("key", ["orderid", ["id", "orderid"]])
    def test_a_key_that_the_model_lacks_is_refused_before_the_table_is_widened(
        self, project, table, key
    ):
        dbt("run", "--full-refresh", key="id")
        message = dbt("run", key=key).message("keyed")
        assert "unique_key: the model has no column orderid; it has Id, amount" in message
        assert table("keyed").types["amount"] == "int"

    def test_no_connection_is_opened_after_the_last_model(self, project, logs_dir):
        log = Path(logs_dir) / "dbt.log"
        log.write_text("")
        dbt("run", key="id")
        _, last = log.read_text().rsplit("Finished running node", 1)
        assert "Opening a new connection" in log.read_text()
        assert "Opening a new connection" not in last

    @pytest.mark.parametrize(
        ("key", "rows"), [("ID", 1), ("", 2), pytest.param([], 2, marks=pytest.mark.slow)]
    )
    def test_the_key_can_have_any_case_and_can_be_missing(self, project, table, key, rows):
        dbt("run", "--full-refresh", key="id")
        run = dbt("run", key=key)
        assert run.status("keyed") == "success", run.message("keyed")
        assert len(table("keyed").rows()) == rows


UPDATED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', CONFIG) }}
{% set n = 2 if is_incremental() else 1 %}
select 1 as id, named_struct('x', {{ n }}, 'y', {{ n }}) as s, {{ n }} as n
  {%- if not (GONE and is_incremental()) %}, {{ n }} as gone{% endif %}
"""
# For each model: its configuration, whether its second output lacks a column, and the row stored.
MERGED = {
    "excluded": ("merge_exclude_columns='n'", False, ((2, 2), 1, 2)),
    "two_excluded": ("merge_exclude_columns=['`N`', 'gone']", False, ((2, 2), 1, 1)),
    "excluded_and_gone": ("merge_exclude_columns=['gone']", True, ((2, 2), 2, 1)),
    "another_gone": ("merge_exclude_columns=['n']", True, ((2, 2), 1, 1)),
    "all_excluded": ("merge_exclude_columns=['id', 's', 'n', 'gone']", False, ((1, 1), 1, 1)),
    "updated": ("merge_update_columns='n'", False, ((1, 1), 2, 1)),
    "field_updated": ("merge_update_columns=['s.x', 'gone']", False, ((2, 1), 1, 2)),
}
LACKING = ("merge_update_columns=['gone']", True, ((1, 1), 1, 1))


class TestMergedColumns:
    cases = in_part_slow(MERGED, ("excluded", "excluded_and_gone", "updated"))

    @pytest.fixture(scope="class")
    def models(self, request):
        built = {name: MERGED[name] for name in selected(request, "model")} | {"lacking": LACKING}
        return {
            f"{name}.sql": UPDATED.replace("CONFIG", config).replace("GONE", str(gone).lower())
            for name, (config, gone, _) in built.items()
        }

    @pytest.fixture(scope="class")
    def second(self, project):
        first = dbt("run")
        assert {result.status for result in first.results.values()} == {"success"}, first.output
        return dbt("run")

    @pytest.mark.parametrize("model", cases)
    def test_only_the_configured_columns_are_updated(self, second, table, model):
        assert second.status(model) == "success", second.message(model)
        assert table(model).rows("s", "n", "gone") == [MERGED[model][2]]

    def test_a_column_that_the_model_lacks_cannot_be_updated(self, second, table):
        message = second.message("lacking")
        assert "merge_update_columns: there is no column gone; there are id, s, n" in message
        assert table("lacking").rows("s", "n", "gone") == [LACKING[2]]


NO_COLUMNS = """
{{ config(materialized='incremental', on_schema_change='sync_all_columns',
          tblproperties={'delta.columnMapping.mode': 'name'}) }}
{% if var('first') %} select 1 as a, 2 as b
{% else %} select s.* from (select struct() as s) {% endif %}
"""


class TestColumnsThatSyncDrops:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": f"""
{{{{ config(materialized='incremental', on_schema_change='sync_all_columns', {config},
          tblproperties={{'delta.columnMapping.mode': 'name'}}) }}}}
select id, named_struct('x', id {{% if var('first') %}}, 'gone', 1 {{% endif %}}) as s
  {{%- if var('first') %}}, 1 as gone {{% endif %}},
  {{{{ "cast(raise_error('stops') as int)" if var('fails', false) else 1 }}}} as n
from range(2)
"""
            for name, config in {
                "append": "incremental_strategy='append'",
                "merge": "incremental_strategy='merge', unique_key='id'",
                "overwrite": "incremental_strategy='insert_overwrite'",
            }.items()
        } | {"nothing.sql": NO_COLUMNS}

    def test_are_not_all_of_them_if_spark_reports_none(self, project, table):
        dbt("run", "--select", "nothing", first=True)
        run = dbt("run", "--select", "nothing", first=False)
        assert "says that the query of nothing has no columns" in run.message("nothing")
        assert table("nothing").operations(since=0) == []

    @pytest.mark.parametrize("name", ["append", "merge", "overwrite"])
    def test_are_dropped_after_the_write(self, project, table, name):
        dbt("run", "--full-refresh", "--select", name, first=True)
        columns = table(name).types
        assert "gone" in columns
        run = dbt("run", "--select", name, first=False, fails=True)
        assert run.status(name) == "error"
        assert table(name).types == columns
        version = table(name).version
        run = dbt("run", "--select", name, first=False)
        assert run.status(name) == "success", run.message(name)
        assert table(name).types == {"id": "bigint", "s": "struct<x:bigint>", "n": "int"}
        assert table(name).operations(version)[-1] == "DROP COLUMNS"
        assert len(table(name).rows()) == (4 if name == "append" else 2)
