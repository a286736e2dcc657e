"""`backfill_new_columns`: the rows that exist get values for the columns that a run adds."""

import shlex
import time
from decimal import Decimal

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.deltawiden.widening.backfill import (
    BACKFILL_PROPERTY,
    BackfillColumns,
    backfill_property,
)
from tests.functional.operate import document
from tests.functional.support import Table, again_and_again, dbt, needs_delta_4

CONFIG = """materialized='incremental', unique_key='id', on_schema_change='append_new_columns',
  type_widening=true, backfill_new_columns=true"""
MACROS = """
{% macro only_new(column) %}
  where true {% if dbt.is_incremental() %} and {{ column }} > 2 {% endif %}
  {% if not flags.FULL_REFRESH %} and {{ column }} > 2 {% endif %}
  {% if not should_full_refresh() %} and {{ column }} > 2 {% endif %}
{% endmacro %}
{# As dbt's documentation replaces it. #}
{% macro ref() %}{{ return(builtins.ref(*varargs, **kwargs)) }}{% endmacro %}
{% macro price(column) %}cast({{ column }} * 1.25 as decimal(10,2)){% endmacro %}
"""
# The first run writes 0 to 3. Then the source no longer has 0, and has 4 and 5.
SOURCE = """
{{ config(materialized='ephemeral') }}
select id from range({{ 0 if var('step') == 1 else 1 }}, {{ 4 if var('step') == 1 else 6 }})
{% if not flags.FULL_REFRESH %} where id > 2 {% endif %}
"""
GROWN = f"""
{{{{ config({CONFIG}, incremental_strategy='STRATEGY',
           tblproperties={{'delta.columnMapping.mode': 'name'}}) }}}}
select id, cast(id as {{{{ 'int' if var('step') == 1 else 'bigint' }}}}) as n
  {{% if var('step') > 1 %}}
  , if(id = 1, null, {{{{ price('id') }}}}) as `a price`
  , named_struct('x', id, 'Y', array(id)) as st
  , if({{{{ var('fails', 'false') if is_incremental() else 'false' }}}}, raise_error('not today'),
      'v' || id) as note
  {{% endif %}}
from {{{{ ref('numbers') }}}} {{{{ only_new('id') }}}} -- the new rows
"""
OTHERS = {
    "broken": f"""
{{{{ config({CONFIG}) }}}}
select id {{% if var('step') > 1 %}}, 1 as more {{% endif %}} from range(2)
{{% if not is_incremental() and var('step') > 1 %}} where no_such_column = 1 {{% endif %}}
""",
    "other_type": f"""
{{{{ config({CONFIG}) }}}}
select id {{% if var('step') > 1 and is_incremental() %}}, 1 as more {{% endif %}}
{{% if var('step') > 1 and not is_incremental() %}}, array(id) as more {{% endif %}} from range(2)
""",
    "lacking": f"""
{{{{ config({CONFIG}) }}}}
select id {{% if var('step') > 1 and is_incremental() %}}, 1 as more {{% endif %}} from range(2)
""",
    "wider_type": f"""
{{{{ config({CONFIG}) }}}}
select id {{% if var('step') > 1 %}},
  cast(1.2367 as decimal({{{{ '8,2' if is_incremental() else '10,4' }}}})) as more {{% endif %}}
from range(2)
""",
    # The first value is one that no query can return. No run selects it again.
    "unreadable": f"""
{{{{ config({CONFIG}, incremental_strategy='append',
           pre_hook='set spark.sql.ansi.enabled=true') }}}}
select id {{% if var('step') > 1 %}}, {{{{ var('value', '1') }}}} as more {{% endif %}}
from (select id, if(id = 0, 'x', string(id)) as raw from range(3))
{{% if is_incremental() %}} where raw rlike '^[0-9]+$' {{% endif %}}
""",
    "doubled": f"""
{{{{ config({CONFIG}, incremental_strategy='merge') }}}}
select if(id = 1, null, id) as id {{% if var('step') > 1 %}}, 1 as more {{% endif %}} from range(3)
{{% if var('step') > 1 and not is_incremental() %}} union all select null, 2 {{% endif %}}
""",
    "new_key": f"""
{{{{ config({CONFIG.replace("'id'", "['id', 'region']")}) }}}}
select id {{% if var('step') > 1 %}}, 'x' as region, 1 as more {{% endif %}} from range(2)
""",
    "defaulted": f"""
{{{{ config({CONFIG}) }}}} select id, if({{{{ var('fails', 'false') }}}},
  cast(raise_error('not today') as int), null) as other from range(2)
""",
    "declared": f"""
{{{{ config({CONFIG}) }}}} select id, if({{{{ var('fails', 'false') }}}},
  cast(raise_error('not today') as int), 1) as more, cast(null as int) as other from range(2)
""",
    # Each value is of another type than the text that its column holds.
    "texts": f"""
{{{{ config({CONFIG}, incremental_strategy='merge',
           pre_hook='set spark.sql.ansi.enabled=true') }}}}
select id, cast(null as string) as note,
  {{{{ "'x'" if is_incremental() else 'cast(1.10 as decimal(4,2))' }}}} as code,
  {{{{ "'x'" if is_incremental() else 'id = 0' }}}} as flag
from range({{{{ 5 if is_incremental() else 0 }}}}, 6)
""",
    # Spark hides a value with the word url, and this name is in the value of a table property.
    "linked": f"""
{{{{ config({CONFIG}, incremental_strategy='merge') }}}}
select id {{% if var('step') > 1 %}}, 'v' || id as page_url {{% endif %}}
from range({{{{ var('step') }}}}, {{{{ var('step') }}}} + 2)
where if({{{{ var('fails', 'false') }}}}, raise_error('not today'), true)
{{% if not is_incremental() %}} or true {{% endif %}}
""",
    "guarded": f"""
{{{{ config({CONFIG}) }}}}
{{% set found = run_query('select 1') %}}
{{% if not is_incremental() %}}
  {{% do run_query('-- all' ~ '\n' ~ 'drop table if exists x') %}}
{{% endif %}}
select id {{% if var('step') > 1 %}}, 1 as more {{% endif %}} from range(2)
""",
    "selfish": f"""
{{{{ config({CONFIG}) }}}} select id
{{% if var('step') > 1 %}}, (select count(id) from {{{{ this }}}}) as more {{% endif %}}
from range(2)
""",
    # Only the first row breaks a condition of the contract, and no incremental run selects it.
    "checked": f"""
{{{{ config({CONFIG}, incremental_strategy='merge') }}}}
select id, if(id = 0, cast({{{{ var('old', 1) }}}} as int), 1) as discount, cast(1 as int) as other
from range({{{{ 1 if is_incremental() else 0 }}}}, 3)
""",
    "checked_by_field": f"""
{{{{ config({CONFIG.replace("'id'", "'s.id'")}, incremental_strategy='merge') }}}}
select id as row, named_struct('id', id) as s, if(id = 0, {{{{ var('old', -5) }}}}, 1) as discount
from range({{{{ 1 if is_incremental() else 0 }}}}, 3)
""",
    "nested": f"""
{{{{ config({CONFIG}) }}}}
select id, named_struct('a', id {{% if var('step') > 1 %}}, 'b', id {{% endif %}}) as st
from range(2)
""",
}
CONTRACT = """
models:
  - name: merged
    constraints: [{type: foreign_key, columns: [id], to: "ref('numbers')", to_columns: [id]}]
    columns:
      - name: id
        constraints: [{type: foreign_key, to: "ref('numbers')", to_columns: [id]}]
  - name: declared
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: bigint}
      - {name: more, data_type: int}
      - name: other
        data_type: int
        constraints: [{type: custom, expression: "default {{ var('default', '7') }} -- a number"}]
  - name: defaulted
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: bigint}
      - name: other
        data_type: int
        constraints: [{type: custom, expression: "default {{ var('late', '7') }}"}]
  - name: checked
    config: {contract: {enforced: true}}
    constraints: [{type: check, expression: "discount is null or discount < id + 100"}]
    columns:
      - {name: id, data_type: bigint}
      - name: discount
        data_type: int
        constraints: [{type: not_null}, {type: check, expression: "discount >= 0"}]
      - name: other
        data_type: int
        constraints:
          - {type: custom, expression: "default {{ var('default', '7') }} -- a number"}
          - {type: not_null}
          - {type: check, expression: "other < 100 or other > id", name: "not comparable"}
          - {type: check, expression: "other > 0"}
  - name: checked_by_field
    config: {contract: {enforced: true}}
    constraints: [{type: check, expression: "discount >= 0"}]
    columns:
      - {name: row, data_type: bigint}
      - {name: s, data_type: "struct<id: bigint>"}
      - {name: discount, data_type: int}
  - name: texts
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: bigint}
      - {name: code, data_type: string}
      - {name: flag, data_type: string}
      - name: note
        data_type: string
        constraints: [{type: custom, expression: "default 1.10"}]
"""
# A value that Spark computes for seconds, so that another writer commits first.
LONG = (
    "if(aggregate(sequence(1, 3000), 0L, (a, x) -> a + "
    "aggregate(sequence(1, 3000), 0L, (b, y) -> b + (x + y) % 7)) < 0, 0, 7)"
)
PYTHON = """
def model(dbt, session):
    dbt.config(materialized='incremental', unique_key='id', backfill_new_columns=True,
               on_schema_change='append_new_columns')
    rows = session.range(2)
    return rows if str(dbt.config.get('step')) == '1' else rows.selectExpr('id', '1 as more')
"""
STEP = """
models:
  - name: in_python
    config: {step: "{{ var('step') }}"}
"""


class Models:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "numbers.sql": SOURCE,
            "merged.sql": GROWN.replace("STRATEGY", "merge"),
            "appended.sql": GROWN.replace("STRATEGY", "append"),
            **{f"{name}.sql": text for name, text in OTHERS.items()},
            "contracts.yml": CONTRACT,
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"mine.sql": MACROS}

    @pytest.fixture
    def merged(self, project, spark) -> Table:
        return Table(spark, f"{project.test_schema}.merged")

    @pytest.fixture
    def declared(self, project, spark) -> Table:
        table = Table(spark, f"{project.test_schema}.declared")
        spark.sql(f"create or replace table {table.name} using delta as select id from range(2)")
        return table

    @pytest.fixture
    def checked(self, project, spark) -> Table:
        table = Table(spark, f"{project.test_schema}.checked")
        spark.sql(f"create or replace table {table.name} using delta as select id from range(2)")
        return table


@needs_delta_4
class TestNewColumns(Models):
    def test_the_rows_that_exist_get_the_values_of_the_full_query(self, merged):
        dbt("run", "--select", "merged", "--full-refresh", step=1)
        run = dbt("run", "--select", "merged", step=2)
        assert run.status("merged") == "success", run.output
        assert "backfilled a price, st, note in 2 rows" in run.output
        assert run.response("merged")["backfilled_columns"] == ["a price", "st", "note"]
        expected = [(0, 0, None, None, None), (1, 1, None, (1, [1]), "v1")]
        expected += [(n, n, Decimal(n) * Decimal("1.25"), (n, [n]), f"v{n}") for n in (2, 3, 4, 5)]
        assert merged.rows() == expected
        assert BACKFILL_PROPERTY not in merged.properties
        assert merged.user_metadata("UNSET TBLPROPERTIES")["changed_by"].endswith(".merged")

        last = merged.version
        again = dbt("run", "--select", "merged", step=2)
        assert "backfilled" not in again.output
        assert merged.operations(last) == ["MERGE"]
        assert merged.rows() == expected

    @pytest.mark.slow
    def test_a_run_does_what_the_one_before_has_not_done(self, merged):
        dbt("run", "--select", "merged", "--full-refresh", step=1)
        failed = dbt("run", "--select", "merged", step=2, fails="id = 5")
        assert "not today" in failed.message("merged")
        # The columns are there, and the rows have no values.
        assert merged.types["note"] == "string"
        assert merged.rows("note") == [(None,)] * 4
        run = dbt("run", "--select", "merged", step=2)
        assert "backfilled a price, st, note in 2 rows" in run.output
        assert merged.rows("note") == [*((f"v{n}",) for n in range(1, 6)), (None,)]
        assert BACKFILL_PROPERTY not in merged.properties

    @pytest.mark.slow
    def test_columns_that_an_earlier_release_lacks_still_wait(self, project, spark):
        table = Table(spark, f"{project.test_schema}.linked")
        dbt("run", "--select", "linked", "--full-refresh", step=1)
        failed = dbt("run", "--select", "linked", step=2, fails="id = 3")
        assert "not today" in failed.message("linked")
        assert table.types["page_url"] == "string"
        before = table.version
        earlier = dbt("run", "--select", "linked", step=1)
        assert earlier.status("linked") == "success", earlier.output
        assert table.operations(before) == ["MERGE"]
        run = dbt("run", "--select", "linked", step=2)
        assert "backfilled page_url in" in run.output
        assert table.rows() == [(1, None), (2, "v2"), (3, "v3")]
        assert BACKFILL_PROPERTY not in table.properties

    @pytest.mark.slow
    def test_a_table_whose_rows_can_not_change_is_refused(self, project, spark):
        table = Table(spark, f"{project.test_schema}.linked")
        dbt("run", "--select", "linked", "--full-refresh", step=1)
        spark.sql(f"alter table {table.name} set tblproperties ('delta.appendOnly' = 'true')")
        before = table.version
        run = dbt("run", "--select", "linked", step=2)
        assert "the table has delta.appendOnly" in run.message("linked")
        assert table.version == before
        spark.sql(f"alter table {table.name} unset tblproperties ('delta.appendOnly')")

    @pytest.mark.slow
    def test_a_strategy_that_adds_rows_writes_each_once(self, project, spark):
        table = Table(spark, f"{project.test_schema}.appended")
        dbt("run", "--select", "appended", "--full-refresh", step=1)
        run = dbt("run", "--select", "appended", step=2)
        # The second run appends 3, 4 and 5. So the key 3 has two rows.
        assert "in 3 rows" in run.output
        expected = [(0, None), *((n, f"v{n}") for n in (1, 2, 3, 3, 4, 5))]
        assert table.rows("id", "note") == expected

    @pytest.mark.slow
    def test_what_has_failed_after_added_rows_can_be_done_by_hand(
        self, project, spark, monkeypatch
    ):
        table = Table(spark, f"{project.test_schema}.appended")
        dbt("run", "--select", "appended", "--full-refresh", step=1)

        def fail(*_: object) -> None:
            raise DbtDatabaseError("not today")

        monkeypatch.setattr(BackfillColumns, "run", fail)
        message = dbt("run", "--select", "appended", step=2).message("appended")
        assert "not today" in message
        command, statement = message.partition("by hand instead: ")[2].split("; ")
        _, *arguments = shlex.split(command)
        done = dbt(*arguments, step=2)
        assert "Encountered an error" not in done.output, done.output
        spark.sql(statement.splitlines()[0])
        expected = [(0, None), *((n, f"v{n}") for n in (1, 2, 3, 3, 4, 5))]
        assert table.rows("id", "note") == expected
        assert BACKFILL_PROPERTY not in table.properties

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("model", "words"),
        [
            ("broken", "no_such_column"),
            ("other_type", "more is array<bigint> in the model's full query, and int in the table"),
            ("wider_type", "more is decimal(10,4) in the model's full query, and decimal(8,2) in"),
            ("new_key", "unique_key: the table has no column region"),
            ("lacking", "the model's full query has no more; it has id"),
            ("guarded", "runs a statement that its run alone may run: -- all drop table"),
            ("guarded", "Nothing was changed or written. Correct it, or set backfill_new_columns"),
            ("selfish", "its full query reads the model's own table"),
            ("doubled", "several rows in the model's full query: id = None (2 rows)"),
        ],
    )
    def test_a_full_query_that_has_no_such_values_stops_the_run_first(
        self, project, spark, model, words
    ):
        table = Table(spark, f"{project.test_schema}.{model}")
        dbt("run", "--select", model, "--full-refresh", step=1)
        before = table.version
        run = dbt("run", "--select", model, step=2)
        assert words in run.message(model)
        assert table.version == before

    @pytest.mark.parametrize(
        "value",
        [
            "cast(raw as int)",
            "named_struct('a', coalesce(cast(raw as int), 0))",
            "array(named_struct('m', map('a', coalesce(cast(raw as int), 0))))",
        ],
    )
    def test_a_value_of_an_old_row_that_can_not_be_read_stops_the_run_first(
        self, project, spark, value
    ):
        table = Table(spark, f"{project.test_schema}.unreadable")
        dbt("run", "--select", "unreadable", "--full-refresh", step=1)
        before = table.version
        message = dbt("run", "--select", "unreadable", step=2, value=value).message("unreadable")
        assert table.version == before
        assert "CAST_INVALID_INPUT" in message
        assert "the model's full query fails" in message
        assert "Nothing was changed or written. Correct it, or set backfill_new_columns" in message

    @pytest.mark.parametrize(
        ("old", "words"),
        [
            ("-5", "breaks the check of its contract: discount >= 0"),
            ("null", "a null in discount, which is not_null in its contract"),
            ("200", "breaks the check of its contract: discount is null or discount < id + 100"),
        ],
    )
    def test_a_value_of_an_old_row_that_breaks_the_contract_stops_the_run_first(
        self, checked, old, words
    ):
        before = checked.version
        message = dbt("run", "--select", "checked", step=2, old=old).message("checked")
        assert "the model's full query fails" in message
        assert words in message
        assert checked.version == before

    def test_a_condition_of_the_model_is_checked_if_its_key_is_a_field(self, project, spark):
        table = Table(spark, f"{project.test_schema}.checked_by_field")
        rows = "select id as row, named_struct('id', id) as s from range(2)"
        spark.sql(f"create or replace table {table.name} using delta as {rows}")
        before = table.version
        run = dbt("run", "--select", "checked_by_field", step=2)
        assert "breaks the check of its contract: discount >= 0" in run.message("checked_by_field")
        assert table.version == before
        run = dbt("run", "--select", "checked_by_field", step=2, old=5)
        assert run.status("checked_by_field") == "success", run.output
        assert table.rows("s.id", "discount") == [(0, 5), (1, 1), (2, 1)]

    def test_a_default_that_breaks_the_contract_stops_the_run(self, checked):
        message = dbt("run", "--select", "checked", step=2, default="0").message("checked")
        assert "the default of other breaks its contract: other > 0" in message
        assert checked.rows("id", "other") == [(0, None), (1, None)]
        run = dbt("run", "--select", "checked", step=2)
        assert run.status("checked") == "success", run.output
        assert checked.rows("id", "discount", "other") == [(0, 1, 7), (1, 1, 1), (2, 1, 1)]

    @pytest.mark.slow
    def test_a_default_of_the_contract_is_for_the_rows_that_exist(self, declared):
        options = "plan", "--vars", '{"step": 2}'
        before = declared.version
        (shown,) = document(*options, models=["declared"])["tables"]
        assert shown["backfilled"] == ["more"]
        assert declared.version == before
        failed = dbt("run", "--select", "declared", step=2, default="7.5")
        assert failed.status("declared") == "error"
        assert declared.rows("id") == [(0,), (1,)]
        (applied,) = document(*options, models=["declared"], apply=True)["tables"]
        assert "error" not in applied
        assert any(text.startswith("merge into") for text in applied["not_run"])
        assert declared.rows("id", "more", "other") == [(0, None, 7), (1, None, 7)]

        # The model itself writes null where the contract has a default.
        dbt("run", "--select", "declared", step=2)
        rows = declared.rows("id", "more", "other")
        assert rows == [(0, 1, 7), (0, 1, None), (1, 1, 7), (1, 1, None)]
        assert BACKFILL_PROPERTY not in declared.properties

    @pytest.mark.slow
    def test_a_type_change_before_a_default_that_fails_is_in_the_log_and_the_error(
        self, declared, spark
    ):
        narrow = f"create or replace table {declared.name} using delta as select cast(0 as int) id"
        spark.sql(narrow)
        spark.sql(f"create or replace view {declared.name}_v as select id from {declared.name}")
        failed = dbt("run", "--select", "declared", step=2, default="7.5")
        message = failed.message("declared")
        assert "LOSSY_VALUE" in message
        assert message.count("Type changes already made stay: id: int -> bigint.") == 1
        assert f"{declared.quoted}: widened id: int -> bigint" in failed.output
        assert "declared_v" in failed.output
        spark.sql(narrow)
        arguments = "plan", "--vars", '{"step": 2, "default": "7.5"}'
        (applied,) = document(*arguments, models=["declared"], apply=True)["tables"]
        assert "id: int -> bigint" in applied["error"]
        assert any("bigint" in statement for statement in applied["applied"])

    def test_a_default_is_not_for_rows_that_were_written_before_it(self, declared, spark):
        failed = dbt("run", "--select", "declared", step=2, default="7.5")
        assert failed.status("declared") == "error"
        spark.sql(f"insert into {declared.name} (id, other) values (5, null)")
        run = dbt("run", "--select", "declared", step=2)
        assert "The default of the contract was not given to any row" in run.output
        assert declared.rows("other") == [(None,)] * 5

    @pytest.mark.slow
    def test_a_default_is_not_for_them_either_if_another_column_joins(self, declared, spark):
        waiting = backfill_property(["other"])[BACKFILL_PROPERTY]
        spark.sql(
            f"alter table {declared.name} set tblproperties ('{BACKFILL_PROPERTY}' = '{waiting}')"
        )
        spark.sql(f"alter table {declared.name} add columns (other int)")
        # By a run with backfill_new_columns: false.
        spark.sql(f"insert into {declared.name} values (5, null)")
        failed = dbt("run", "--select", "declared", step=2, fails="id = 1")
        assert "not today" in failed.message("declared")
        dbt("run", "--select", "declared", step=2)
        assert declared.rows("other") == [(None,)] * 5
        assert BACKFILL_PROPERTY not in declared.properties

    @pytest.mark.slow
    def test_a_default_is_for_all_rows_from_before_its_column(self, declared, spark):
        # A run has died before it added the columns, and then rows were written.
        waiting = backfill_property(["more", "other"])[BACKFILL_PROPERTY]
        spark.sql(
            f"alter table {declared.name} set tblproperties ('{BACKFILL_PROPERTY}' = '{waiting}')"
        )
        spark.sql(f"insert into {declared.name} values (5)")
        # This one dies after it has added them.
        failed = dbt(
            "run", "--select", "declared", step=2, default="cast(raise_error('no') as int)"
        )
        assert failed.status("declared") == "error"
        assert declared.types["other"] == "int", failed.output
        run = dbt("run", "--select", "declared", step=2)
        assert run.status("declared") == "success", run.output
        rows = declared.rows("id", "more", "other")
        assert rows == [(0, 1, 7), (0, 1, None), (1, 1, 7), (1, 1, None), (5, None, 7)]
        assert BACKFILL_PROPERTY not in declared.properties

    @pytest.mark.slow
    def test_a_default_is_given_again_after_a_conflict(self, project, spark):
        table = Table(spark, f"{project.test_schema}.defaulted")
        spark.sql(f"create or replace table {table.name} using delta as select id from range(2)")
        before, appends = table.version, iter([f"insert into {table.name} (id) values (5)"] * 3)

        def append_after_the_new_column() -> None:
            if "ADD COLUMNS" in table.operations(before):
                spark.sql(next(appends, "select 1"))
            time.sleep(0.1)

        with again_and_again(append_after_the_new_column):
            run = dbt("run", "--select", "defaulted", step=2, late=LONG)
        assert run.status("defaulted") == "success", run.output
        assert "Another writer came first (DELTA_CONCURRENT_APPEND)" in run.output
        assert "was not given to any row" not in run.output
        assert {(0, 7), (1, 7)} < set(table.rows())

    @pytest.mark.slow
    def test_a_value_of_another_type_is_stored_as_the_column_stores_it(self, project, spark):
        table = Table(spark, f"{project.test_schema}.texts")
        spark.sql(f"create table {table.name} using delta as select id from range(2)")
        run = dbt("run", "--select", "texts", step=2)
        assert run.status("texts") == "success", run.output
        expected = [(0, "1.10", "1.10", "true"), (1, "1.10", "1.10", "false"), (5, None, "x", "x")]
        assert table.rows("id", "note", "code", "flag") == expected

    @pytest.mark.slow
    def test_a_run_of_no_rows_is_refused(self, merged):
        dbt("run", "--select", "merged", "--full-refresh", step=1)
        before = merged.version
        run = dbt("run", "--select", "merged", "--empty", step=2)
        assert "under --empty and --sample, no query has all rows" in run.message("merged")
        assert merged.version == before

    @pytest.mark.slow
    def test_a_default_is_never_for_the_nulls_of_the_model(self, project, spark):
        table = Table(spark, f"{project.test_schema}.defaulted")
        spark.sql(f"create or replace table {table.name} using delta as select id from range(2)")
        failed = dbt("run", "--select", "defaulted", step=2, fails="id = 1")
        assert "not today" in failed.message("defaulted")
        assert table.rows() == [(0, 7), (1, 7)]
        for _ in range(2):
            dbt("run", "--select", "defaulted", step=2)
        assert table.rows("other").count((None,)) == 4
        assert table.rows("other").count((7,)) == 2

    @pytest.mark.slow
    def test_a_new_field_of_a_struct_is_not_backfilled(self, project, spark):
        table = Table(spark, f"{project.test_schema}.nested")
        dbt("run", "--select", "nested", step=1)
        run = dbt("run", "--select", "nested", step=2)
        assert run.status("nested") == "success"
        assert "backfilled" not in run.output
        assert table.rows("st.b") == [(0,), (1,), (None,), (None,)]


@needs_delta_4
@pytest.mark.slow
class TestBySqlAlone(Models):
    def test_the_same_is_done(self, by_sql_alone, merged):
        dbt("run", "--select", "merged", "--full-refresh", step=1)
        run = dbt("run", "--select", "merged", step=2)
        assert "backfilled a price, st, note in 2 rows" in run.output
        assert merged.rows("note") == [*((f"v{n}",) for n in range(1, 6)), (None,)]


@needs_delta_4
@pytest.mark.slow
class TestPython:
    @pytest.fixture(scope="class")
    def models(self):
        return {"in_python.py": PYTHON, "step.yml": STEP}

    def test_a_python_model_is_refused_before_its_table_changes(self, project, spark):
        table = Table(spark, f"{project.test_schema}.in_python")
        dbt("run", step=1)
        before = table.version
        assert "full query of a Python model" in dbt("run", step=2).message("in_python")
        assert table.version == before
