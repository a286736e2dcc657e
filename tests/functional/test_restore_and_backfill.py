"""`restore_values` and `backfill_columns` give the rows that exist the values of their model."""

import math
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import pytest
from delta import DeltaTable

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.operations.audit.repair import BROADCAST, source_broadcast
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.widening.steps import AlterTypes, Step
from tests.functional.operate import document, operate
from tests.functional.support import Table, needs_delta_4
from tests.functional.test_concurrency import SLOW, whenever_it_writes

CONFIG = "materialized='incremental', incremental_strategy='merge', unique_key=['id', '`K.2`']"
HAS_OLD_TYPES = """
  id int, `K.2` string, amount decimal(8,2), ratio float, at date,
  s struct<a: int, b: decimal(4,1)>,
  items array<decimal(4,1)>, parts map<string, float>, `a-``b` decimal(5,1), code char(4), qty int,
  zero double, note string, day string
"""
# The rows of the model by their key. The fifth row has changed in the source since it was written.
CELLS = """
  select n as id, if(n = 2, null, 'x') as `k.2`, cast(n + 0.2367 as decimal(10,4)) as amount,
    case n when 1 then double('NaN') when 2 then null else n + 0.1D end as ratio,
    timestamp_ntz'2024-01-02 10:11:12' as at,
    if(n = 2, null, named_struct('b', cast(n + 0.25 as decimal(5,2)), 'A', n)) as s,
    array(cast(1.25 as decimal(5,2)), null) as items, map('p', n + 0.1D) as parts,
    cast(n + 0.05 as decimal(6,2)) as `a-``b`, 'ab' as code, cast(n + 0.5 as decimal(6,1)) as qty,
    -0.0D as zero, if(n = 5, 'now', 'then') as note, 'monday' as day
  from (select explode(array({ids})) as n)
"""
HOOKED = """
{{ config(materialized='incremental', unique_key='id', pre_hook="HOOK") }}
select 1 as id, to_date(timestamp_seconds(57600)) as note
"""
CONTRACT = """
models:
  - name: constrained
    config: {contract: {enforced: true}}
    constraints: [{type: check, expression: "note <> 'bad'"}]
    columns:
      - {name: n, data_type: int}
      - {name: id, data_type: bigint}
      - {name: other_id, data_type: bigint}
      - name: amount
        data_type: decimal(10,4)
        constraints: [{type: check, expression: "amount > 0"}]
      - {name: note, data_type: string}
"""
GUARDED = "{% if invocation_args_dict.which != 'run-operation' %}{{ only_in_a_run() }}{% endif %}"
MODELS = {
    "wide.sql": f"{{{{ config({CONFIG}, type_widening=true) }}}} {CELLS.format(ids='1,2,3,5,7')}",
    "alone.sql": """
{{ config(materialized='incremental', unique_key='id', type_widening=true) }}
select id, cast(1.2367 as decimal(10,4)) as amount, 'new' as note from range(2) -- the rows
""",
    "grown.sql": """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='ID') }}
{% if is_incremental() %} this is not a query {% endif %}
select id, id * 2 as Score, named_struct('y', cast(id as int), 'x', 1) as `s.t`,
  if(id = 3, 'b', 'a') as part, cast(id as int) as made, {{ var('amount', '1.25') }} as amount,
  array(named_struct('q', cast(id as double))) as items
from range(1, 5)
""",
    "doubled.sql": """
{{ config(materialized='incremental', unique_key='id') }}
select cast(if(id = 0, null, id) as int) as id, 'new' as note from range(5) union all
select 2, 'again'
""",
    "slow.sql": f"""
{{{{ config(materialized='incremental', unique_key='id') }}}}
select t.id, 2 as n from range(3) t cross join (select 1 {SLOW})
""",
    "appended.sql": """
{{ config(materialized='incremental', unique_key='id', type_widening=true) }}
select 1 as id, cast(1.2367 as decimal(10,4)) as amount
""",
    "checked.sql": """
{{ config(materialized='incremental', unique_key='id', type_widening=true) }}
select 1 as id, cast(1.2367 as decimal(10,4)) as amount
""",
    "constrained.sql": """
{{ config(materialized='incremental', unique_key='id', type_widening=true,
           on_schema_change='append_new_columns') }}
select id, id as other_id, cast(if(id = 0, -1.2367, 1.2367) as decimal(10,4)) as amount,
  '{{ var('note', 'bad') }}' as note, 1 as n from range(2) -- the rows
""",
    "constrained.yml": CONTRACT,
    "hooked.sql": HOOKED.replace("HOOK", "set spark.sql.session.timeZone=Asia/Tokyo"),
    "by_macro.sql": HOOKED.replace("HOOK", "{{ tokyo() }}"),
    "by_query.sql": HOOKED.replace("HOOK", "{{ tokyo_by_query() }}"),
    "at_start.sql": HOOKED.replace("HOOK", ""),
    "after_view.sql": HOOKED.replace("HOOK", "{{ reads_its_view() }}"),
    "no_view.sql": HOOKED.replace("HOOK", "{{ reads_its_view(tokyo()) }}"),
    "guarded.sql": HOOKED.replace("HOOK", GUARDED),
    "odd_hook.sql": HOOKED.replace("HOOK", "{{ only_in_a_run() }}"),
    "unfilled.sql": """
{{ config(materialized='incremental', unique_key='id', type_widening=true) }}
select 1 as id, 5000000000L as qty union all select 2, 7L
""",
    "twice.sql": """
{{ config(materialized='incremental', unique_key='id', type_widening=true) }}
select 1 as id, cast(1.2367 as decimal(10,4)) as amount union all select 1, 1.24
""",
    "no_key.sql": """
{{ config(materialized='incremental', unique_key='id', type_widening=true) }}
select cast(id as int) as id, cast(amount as decimal(10,4)) as amount,
  named_struct('id', 1) as t, array(1) as c
from values (null, 1.2367), (-5, 1.2367), (7, 2.5) as rows(id, amount)
""",
    "keyless.sql": "{{ config(materialized='incremental') }} select 1 as id, 2 as note",
}
HOOKS = (
    *("hooked", "by_macro", "by_query", "at_start", "after_view", "no_view"),
    *("guarded", "odd_hook"),
)
MACROS = """
{% macro tokyo() %} set spark.sql.session.timeZone=Asia/Tokyo {% endmacro %}
{% macro tokyo_by_query() %}
  {% do run_query('insert into no_such_table select 1') %}
  {% do run_query('set spark.sql.session' ~ '.timeZone=Asia/Tokyo') %}
{% endmacro %}
{% macro reads_its_view(first='insert into no_such_table select 1') %}
  {% do adapter.add_query(first) %}
  {% do run_query('create or replace temporary view of_hook as select 1 as n') %}
  {% if execute %}{% set n = run_query('select n from of_hook').rows[0][0] %}{% endif %}
{% endmacro %}
{% macro only_in_a_run() %}
  {% if execute %}{% do exceptions.raise_compiler_error('not here') %}{% endif %}
{% endmacro %}
"""


GROWN = {
    "id": "bigint",
    "score": "bigint",
    "s.t": "struct<x: int, y: bigint>",
    "part": "string",
    "made": "int",
    "amount": "decimal(8,2)",
    "items": "array<struct<q: double>>",
}


def create_grown(spark, name: str) -> None:
    """Create the table with a column that Delta computes, by SQL if Delta can: on servers, too."""
    if version("delta-spark") < "4.1":
        grown = DeltaTable.create(spark).tableName(name).partitionedBy("part")
        for column, data_type in GROWN.items():
            grown = grown.addColumn(column, data_type)
        grown.addColumn("next", "bigint", generatedAlwaysAs="id + 1").execute()
        return
    columns = ", ".join(f"{quote(column)} {data_type}" for column, data_type in GROWN.items())
    spark.sql(
        f"create table {name} ({columns}, next bigint generated always as (id + 1)) using delta "
        "partitioned by (part)"
    )


HOOKED_TABLE = ["create table TABLE using delta as select 1 as id, date'1970-01-02' note"]
NO_KEY_ROWS = ", ".join(
    f"({row}, named_struct('id', 1), 'c')" for row in ("null, 1.24", "-5, 1.24")
)
STATEMENTS = {
    **dict.fromkeys(HOOKS, HOOKED_TABLE),
    "wide": [
        f"create table TABLE ({HAS_OLD_TYPES}) using delta",
        # The fourth row is one that the model no longer produces, and the seventh is not stored.
        f"""
        insert into TABLE
        select id, `k.2`, amount, ratio, cast(at as date), if(s is null, null, named_struct(
          'a', s.A, 'b', cast(s.b as decimal(4,1)))), items, parts, `a-``b`, code, floor(qty),
          0.0D, 'then', day
        from ({CELLS.format(ids="1,2,3,4,5")})
        """,
    ],
    "alone": [
        "create table TABLE (id bigint, amount decimal(8,2), note string) using delta",
        "insert into TABLE values (0, 1.24, 'old'), (1, 1.24, 'new')",
    ],
    "grown": [
        "insert into TABLE (id, score, `s.t`, part, made, amount, items) values "
        "(1, null, null, 'a', 1, 1.25, null), (2, 4, named_struct('x', 1, 'y', 2), 'a', 2, 1.25, "
        "array(named_struct('q', 2))), (3, null, null, 'a', 3, 1.25, null), "
        "(9, null, null, 'z', 9, 9, null)"
    ],
    "doubled": [
        "create table TABLE (id int, note string) using delta",
        "insert into TABLE values (null, 'x'), (1, 'x'), (2, 'x'), (4, 'x'), (4, 'y')",
    ],
    "keyless": ["create table TABLE using delta as select 1 as id, 3 as note"],
    "slow": ["create table TABLE using delta as select id, 1 as n, 'a' as note from range(3)"],
    "appended": [
        "create table TABLE using delta tblproperties ('delta.appendOnly' = 'true') "
        "as select 1 as id, cast(1.24 as decimal(8,2)) as amount"
    ],
    "unfilled": [
        "create table TABLE (id int, qty int) using delta",
        "insert into TABLE (id) values (1), (2)",
    ],
    "twice": [
        "create table TABLE (id int, amount decimal(8,2)) using delta",
        "insert into TABLE values (1, 1.24)",
    ],
    "constrained": [
        "create table TABLE (id bigint, other_id bigint, amount decimal(8,2), note string, n int) "
        "using delta",
        "insert into TABLE values (0, 0, -1.24, 'x', null), (1, 1, 1.24, 'x', null)",
    ],
    "no_key": [
        "create table TABLE (id bigint, amount decimal(8,2), t struct<id: int>, c string) "
        "using delta",
        f"insert into TABLE values {NO_KEY_ROWS}, (7, 2.5, named_struct('id', 1), 'c')",
    ],
}


class LeftTables(dict[str, Table]):
    """The tables as another adapter has left them: each value was cast to its column.

    A table is made when a test first asks for it.
    """

    def __init__(self, spark, schema: str):
        self.spark, self.schema = spark, schema

    def __missing__(self, name: str) -> Table:
        table = Table(self.spark, f"{self.schema}.{name}")
        if name == "grown":
            create_grown(self.spark, table.name)
        for statement in STATEMENTS[name]:
            self.spark.sql(statement.replace("TABLE", table.name))
        self[name] = table
        return table


def restored(n: int) -> dict[str, Any]:
    """What the model produces in the columns that can be widened."""
    return {
        "amount": Decimal(n) + Decimal("0.2367"),
        "at": datetime(2024, 1, 2, 10, 11, 12),
        "items": [Decimal("1.25"), None],
        "parts": {"p": n + 0.1},
        "a-`b": Decimal(n) + Decimal("0.05"),
    }


class Tables:
    """What both classes need. Servers run the classes too, without the fixtures of this module."""

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def macros(self):
        return {"hooks.sql": MACROS}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"on-run-start": "{{ tokyo() if var('starts', false) }}"}

    @pytest.fixture(scope="class")
    def tables(self, project, spark):
        return LeftTables(spark, project.test_schema)


@needs_delta_4
class TestRestore(Tables):
    @pytest.mark.slow
    def test_values_that_a_cast_has_changed_are_put_right_and_nothing_else(self, tables, spark):
        wide = tables["wide"]
        before, old = wide.version, {row.id: row for row in spark.table(wide.name).collect()}
        shown = operate("restore_values", models=["wide"], dry_run=True)
        assert "ALTER TABLE" in shown.upper()
        assert "3 rows of 1 files" in shown
        assert wide.version == before

        # Another writer changes a row before the operation runs.
        spark.sql(f"update {wide.name} set note = 'by hand' where id = 3")
        done = document("restore_values", models=["wide"])["tables"][0]
        rows = {row.id: row for row in spark.table(wide.name).collect()}
        for n in (1, 2):
            assert {name: rows[n][name] for name in restored(n)} == restored(n)
            # By hand: an integer becomes a decimal, and a char is padded.
            assert (rows[n].qty, rows[n].code) == (n, "ab  ")
        assert math.isnan(rows[1].ratio)
        assert rows[1].s.asDict() == {"a": 1, "b": Decimal("1.25")}
        assert (rows[2].ratio, rows[2].s) == (None, None)
        for n in (3, 4, 5):
            assert rows[n].amount == old[n].amount
            assert rows[n].at.date() == old[n].at
        assert "widen_columns --args" in done["error"]
        assert '"qty": "decimal(' in done["error"]
        assert "code: a char is padded with spaces" in done["error"]
        assert (done["rows"]["to_change"], done["updated"]) == (2, 2)
        # Only rows that a cast can have changed are compared. One is not stored.
        assert (done["rows"]["compared"], done["rows"]["only_produced"]) == (4, 1)
        assert done["rows"]["not_explained"] == 2
        (amount,) = [c for c in done["columns"] if c["path"] == ["amount"]]
        assert amount["rows"] == 2
        assert {"key": {"id": "1", "`K.2`": "x"}, "produced": "1.2367", "stored": "1.24"} in (
            amount["examples"]
        )

        # Again: nothing is committed. Then only the other columns are compared.
        version = wide.version
        again = document("restore_values", models=["wide"])["tables"][0]
        assert (again["state"], wide.version) == ("nothing_to_do", version)
        columns = [*restored(3), "ratio", "s"]
        quoted = [quote(name) for name in columns]
        more = document("restore_values", models="wide", columns=quoted)["tables"][0]
        assert more["rows"]["to_change"] == 2, more
        rows = {row.id: row for row in spark.table(wide.name).collect()}
        assert {name: rows[5][name] for name in restored(5)} == restored(5)
        assert (rows[3].note, rows[4].amount) == ("by hand", old[4].amount)
        # A server does not say which type the column had before the first of the commands.
        left = {"ratio"} if "connect" in type(spark).__module__ else set()
        assert (rows[3].ratio == 3.1) is not bool(left)
        audit = document("audit_lossy_writes", models=["wide"])
        lost = {c["path"][0] for c in audit["tables"][0]["columns"] if c["changed_by_cast"]}
        assert lost == {"qty", "code"} | left
        assert audit["restore"].endswith("""restore_values --args '{"models": ["wide"]}'""")

        copy = done["restore"].replace("restore table ", "create table copy as select * from ")
        spark.sql(copy.replace(" to version", " version"))
        copied = spark.table("copy").where("id = 1").first()
        assert copied.amount == Decimal("1.2400")
        spark.sql("drop table copy")

    def test_a_null_from_before_a_column_was_filled_stays(self, tables):
        unfilled = tables["unfilled"]
        (done,) = document("restore_values", models="unfilled")["tables"]
        assert (done["state"], done["rows"]["compared"]) == ("nothing_to_do", 0)
        assert unfilled.rows() == [(1, None), (2, None)]
        assert unfilled.types["qty"] == "int"

    def test_another_row_of_the_model_with_the_key_refuses_a_row(self, tables):
        version = tables["twice"].version
        shown = operate("restore_values", models="twice")
        assert "id 1 (2 rows of the model, 1 of the table)" in shown
        assert tables["twice"].version == version

    def test_a_key_can_be_null_or_negative_and_a_column_can_have_the_name_of_an_alias(self, tables):
        no_key = tables["no_key"]
        shown = operate("restore_values", models="no_key", columns="c")
        assert "Nothing was changed: c (array<int>, string) can't be compared." in shown
        (done,) = document("restore_values", models="no_key")["tables"]
        assert (done["updated"], done["rows"]["compared"]) == (2, 2)
        digits = Decimal("1.2367")
        assert sorted(no_key.rows("amount")) == [(digits,), (digits,), (Decimal("2.5"),)]

    @pytest.mark.slow
    def test_sql_alone_is_enough(self, by_sql_alone, tables):
        alone = tables["alone"]
        assert "restore_values --args" in operate("audit_lossy_writes", models=["alone"])
        done = operate("restore_values", models=["alone"])
        assert f"To go back: restore table {alone.quoted} to version as of" in done
        assert "\nIt also takes back every later write." in done
        # It brings back files with the types from before.
        assert "\nThen: dbt run-operation rewrite_widened_files --args" in done
        assert alone.rows("id", "amount", "note") == [
            (0, Decimal("1.2400"), "old"),
            (1, Decimal("1.2367"), "new"),
        ]
        operate("backfill_columns", models=["alone"], columns="amount")
        assert alone.rows("amount") == [(Decimal("1.2367"),)] * 2
        assert '"changed_by": "restore_values"' in alone.history[-2].userMetadata

    def test_a_table_that_only_takes_new_rows_is_not_widened(self, tables):
        appended = tables["appended"]
        version = appended.version
        for dry_run in (True, False):
            shown = operate("restore_values", models=["appended"], dry_run=dry_run)
            assert "delta.appendOnly, so no row of it can be changed" in shown
        assert appended.version == version

    @pytest.mark.slow
    def test_an_error_after_a_type_change_says_that_it_stays(
        self, project, tables, spark, monkeypatch
    ):
        checked = Table(spark, f"{project.test_schema}.checked")
        spark.sql(
            f"create table {checked.name} using delta as select 1 as id, "
            "cast(1.24 as decimal(8,2)) as amount"
        )
        run_step = Step.run

        def constrained(self: Step, backend: SqlBackend) -> None:
            run_step(self, backend)
            if isinstance(self, AlterTypes):
                # Another writer adds the constraint before the MERGE.
                spark.sql(f"alter table {checked.name} add constraint c check (amount > 1.239)")

        monkeypatch.setattr(Step, "run", constrained)
        (done,) = document("restore_values", models=["checked"])["tables"]
        assert "DELTA_VIOLATE_CONSTRAINT" in done["error"]
        change = "amount: decimal(8,2) -> decimal(10,4)"
        assert f"Type changes already made stay: {change}." in done["error"]
        assert [each["path"] for each in done["type_changes"]] == [["amount"]]
        assert checked.types["amount"] == "decimal(10,4)"
        assert checked.rows("amount") == [(Decimal("1.2400"),)]


COLUMNS = ["SCORE", "`s.t`", "part", "items"]


class TestBackfill(Tables):
    def test_rows_that_differ_get_the_values_and_no_row_is_added(self, tables, spark):
        grown = tables["grown"]
        version, rows = grown.version, grown.rows()
        arguments = {"models": ["grown"], "columns": COLUMNS}
        dry = document("backfill_columns", **arguments, dry_run=True)["tables"][0]
        assert (dry["rows"]["to_change"], dry["rows"]["only_stored"]) == (2, 1)
        assert (grown.version, grown.rows()) == (version, rows)
        assert "1 rows that the model's full query does not return now" in operate(
            "backfill_columns", **arguments, dry_run=True
        )
        one = document("backfill_columns", **arguments, where="id < 2 -- one")["tables"][0]
        assert (one["updated"], one["version"]) == (1, version + 1)
        done = document("backfill_columns", **arguments)["tables"][0]
        assert done["updated"] == 1
        assert done["restore"] == f"restore table {grown.quoted} to version as of {version + 1}"
        assert grown.operations(version) == ["MERGE", "MERGE"]
        assert grown.rows("id", "score", "`s.t`.x", "`s.t`.y", "part", "items[0].q", "next") == [
            (1, 2, 1, 1, "a", 1.0, 2),
            (2, 4, 1, 2, "a", 2.0, 3),
            (3, 6, 1, 3, "b", 3.0, 4),
            (9, None, None, None, "z", None, 10),
        ]
        again = document("backfill_columns", **arguments)["tables"][0]
        assert (again["state"], grown.version) == ("nothing_to_do", version + 2)

    def test_a_value_that_does_not_fit_stops_it_before_it_writes(self, tables):
        grown = tables["grown"]
        version = grown.version
        arguments = {"models": ["grown"], "columns": ["amount"]}
        shown = operate("backfill_columns", "--vars", "{amount: '1.2367'}", **arguments)
        assert "LOSSY_VALUE" in shown
        assert "1.2367" in shown
        assert "leave this row out with the argument where" in shown
        assert "on_lossy_write" not in shown
        assert grown.version == version

    @pytest.mark.parametrize(
        ("model", "columns", "reason"),
        [
            ("keyless", "note", "name columns that are unique with the argument unique_key"),
            ("doubled", "note", "id 2 (2 rows of the model, 1 of the table); id 4 (1 rows of"),
            ("grown", ["Id", "score.x", "nothing"], "id, by which"),
            ("hooked", "note", "a hook sets spark.sql.session.timeZone"),
            ("by_macro", "note", "a hook sets spark.sql.session.timeZone"),
            ("by_query", "note", "a hook sets spark.sql.session.timeZone"),
            ("at_start", "note", "a hook sets spark.sql.session.timeZone"),
            ("no_view", "note", "a hook sets spark.sql.session.timeZone"),
            ("odd_hook", "note", "dbt can't render its hook {{ only_in_a_run() }}"),
        ],
    )
    def test_what_can_not_be_done_is_refused_with_words(self, tables, model, columns, reason):
        version = tables[model].version
        options = ("--vars", "starts: true") if model == "at_start" else ()
        shown = operate("backfill_columns", *options, models=model, columns=columns)
        if model == "grown":
            reason = "Id: it is in unique_key, by which the rows are found"
            assert "score.x: it names what is inside a column; name the column score" in shown
            assert "nothing: the table has no such column; it has id, score" in shown
        assert reason in shown
        assert tables[model].version == version

    @pytest.mark.parametrize(
        ("operation", "arguments", "words"),
        [
            ("backfill_columns", {"columns": "amount"}, "its contract: amount > 0"),
            ("backfill_columns", {"columns": "note"}, "its contract: note <> 'bad'"),
            (
                "backfill_columns",
                {"columns": "n", "unique_key": "other_id"},
                "its contract: note <> 'bad'",
            ),
            ("restore_values", {}, "its contract: amount > 0"),
        ],
    )
    def test_a_value_that_breaks_the_contract_stops_it_before_it_writes(
        self, tables, operation, arguments, words
    ):
        constrained = tables["constrained"]
        version = constrained.version
        options = ("--vars", "note: good") if "amount" in words else ()
        shown = operate(operation, *options, models="constrained", **arguments)
        assert f"the model has a row that breaks the check of {words}" in shown, shown
        assert constrained.version == version

    @pytest.mark.parametrize("model", ["after_view", "guarded"])
    def test_a_hook_that_reads_what_it_has_made_or_is_left_out_is_no_obstacle(self, tables, model):
        version = tables[model].version
        shown = operate("backfill_columns", models=model, columns="note", dry_run=True)
        assert "MERGE INTO" in shown.upper()
        assert tables[model].version == version


class TestBroadcast:
    @pytest.mark.parametrize("by_sql", [False, True])
    def test_a_source_is_broadcast_up_to_a_larger_size_unless_a_person_has_decided(
        self, project, by_sql
    ):
        adapter = project.adapter
        with adapter.connection_named("broadcast"):
            backend = SqlBackend(adapter.execute, adapter._handle) if by_sql else adapter._backend
            # SET changes this copy of the session.
            with adapter._handle().with_setting("spark.sql.session.timeZone", "UTC"):
                before = backend.setting(BROADCAST)
                with source_broadcast(backend):
                    assert backend.setting(BROADCAST) == "64MB"
                assert backend.setting(BROADCAST) == before
                with backend.with_setting(BROADCAST, "-1"), source_broadcast(backend):
                    assert backend.setting(BROADCAST) == "-1"


class TestConflict(Tables):
    @pytest.mark.slow
    def test_a_conflict_is_retried_and_the_other_writer_keeps_its_values(self, tables, spark):
        slow = tables["slow"]
        statement = f"update {slow.name} set note = 'b', n = 7 where id = 1"
        with whenever_it_writes(spark, lambda: spark.sql(statement) if slow.version < 3 else None):
            operate("backfill_columns", models="slow", columns="n")
        assert slow.rows("id", "n", "note") == [(0, 2, "a"), (1, 2, "b"), (2, 2, "a")]
        assert slow.operations(0).count("MERGE") == 1


class TestFullQuery:
    """The query is that of a full refresh, as dbt itself compiles it."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"vars": {"test": {"rate": 3}}}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"rated.sql": "{% macro rated(n) %}{{ n }} * {{ var('rate', 1) }}{% endmacro %}"}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "numbers.sql": "{{ config(materialized='ephemeral') }} select id from range(3)",
            "rates.sql": """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge') }}
select id, {{ rated('id') }} as rated, {{ var('rate', 1) }} as rate from {{ ref('numbers') }}
{% if dbt.is_incremental() %} where id > 1 {% endif %}
""",
        }

    def test_it_has_macros_ephemeral_models_and_the_variables_of_the_project(self, project, spark):
        table = Table(spark, f"{project.test_schema}.rates")
        spark.sql(f"create table {table.name} (id bigint, rated bigint, rate int) using delta")
        spark.sql(f"insert into {table.name} (id) values (0), (1), (2)")
        arguments = {"models": "rates", "columns": ["rated", "rate"]}
        (done,) = document("backfill_columns", **arguments)["tables"]
        assert done["updated"] == 3
        assert table.rows() == [(0, 0, 3), (1, 3, 3), (2, 6, 3)]
        (audited,) = document("audit_lossy_writes", models="rates")["tables"]
        assert (audited["state"], audited["columns"]) == ("compared", [])
