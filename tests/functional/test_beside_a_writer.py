"""Commands beside another writer of the table: no row is lost, and none is there twice."""

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.functional.beside_a_writer import ROUNDS, Done, Writer, race
from tests.functional.operate import operate, read_document
from tests.functional.support import Table, dbt, needs_delta_4

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning"),
    needs_delta_4,
]
ROWS, CHANGED = 20, 15
RENAMED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', type_widening=true,
          tblproperties={'delta.columnMapping.mode': 'name'}, renamed_columns=var('renamed', {})) }}
select {{ var('round') }} as id, cast({{ var('round') }} as {{ var('type') }}) as
  {{ var('name') }}, 0 as written
"""
# Each round adds a column and a row.
GROWN = f"""
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', backfill_new_columns=true) }}}}
select id
{{% for n in range(var('round')) %}} , id * 100 + {{{{ n }}}} as c{{{{ n }}}} {{% endfor %}}
from range({ROWS} + {{{{ var('round') }}}})
{{% if is_incremental() %}} where id = {ROWS} - 1 + {{{{ var('round') }}}} {{% endif %}}
"""
THIRDS = f"cast(id as decimal(10,0)) + 0.{'3' * (ROUNDS + 2)}"
# In each round, a value has one digit more than the table has stored.
RESTORED = f"""
{{{{ config(materialized='incremental', unique_key='id', type_widening=true) }}}}
select id, 'model' as note,
  cast({THIRDS} as decimal({{{{ 12 + var('round') }}}}, {{{{ 2 + var('round') }}}})) as n
from range({ROWS})
"""
BACKFILLED = f"""
{{{{ config(materialized='incremental', unique_key='id') }}}}
select id, 'model' as note, id * 100 + {{{{ var('round') }}}} as score from range({CHANGED})
"""


def run(model: str, **given: Any) -> Done:
    made = dbt("run", "--select", model, **given)
    is_success = made.status(model) == "success"
    return Done(made.output, "" if is_success else made.message(model))


def operated(name: str, number: int, **arguments: object) -> Done:
    variables = json.dumps({"round": number})
    printed = operate(name, "--vars", variables, output="json", **arguments)
    (found,) = read_document(printed)["tables"]
    return Done(printed, found.get("error", ""))


def check_rows(writer: Writer, rows: dict[int, tuple[Any, ...]], *columns: str) -> None:
    """Check that a table has some rows once, and the writer's rows, with what it has written."""
    nulls = (None,) * len(columns)
    expected = [(key, writer.written.get(key, 0), *values) for key, values in rows.items()]
    expected += [(key, writer.written[key], *nulls) for key in writer.own_ids]
    found = writer.table.rows("id", "coalesce(written, 0)", *columns)
    assert found == sorted(expected, key=repr)


class TestBesideAWriter:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "renamed.sql": RENAMED,
            "grown.sql": GROWN,
            "restored.sql": RESTORED,
            "backfilled.sql": BACKFILLED,
        }

    def test_each_run_renames(self, project, table):
        assert not run("renamed", round=0, name="n0", type="smallint").error
        writer = Writer(table("renamed"), rows=1)

        def rename(number: int) -> Done:
            names = {f"n{number}": f"n{number - 1}"}
            given = {"round": number, "name": f"n{number}", "renamed": names}
            return run("renamed", **given, type="int" if number > 9 else "smallint")

        race(writer, rename)
        check_rows(writer, {n: (n,) for n in range(ROUNDS + 1)}, f"n{ROUNDS}")
        assert writer.table.operations(0).count("RENAME COLUMN") == ROUNDS

    def test_each_run_gives_the_rows_that_exist_a_new_column(self, project, table, spark):
        grown: Table = table("grown")
        assert not run("grown", round=0).error
        spark.sql(f"alter table {grown.name} add column written int")
        writer = Writer(grown, ROWS)
        race(writer, lambda number: run("grown", round=number))
        columns = [f"c{n}" for n in range(ROUNDS)]
        values = {k: tuple(k * 100 + n for n in range(ROUNDS)) for k in range(ROWS + ROUNDS)}
        check_rows(writer, values, *columns)
        assert grown.operations(0).count("ADD COLUMNS") == ROUNDS + 1

    def test_values_are_restored(self, project, table, spark):
        restored: Table = table("restored")
        spark.sql(f"""
          create table {restored.name} using delta as
          select id, if(id < {CHANGED}, 'model', 'by hand') as note,
            cast(if(id < {CHANGED}, {THIRDS}, 7) as decimal(12,2)) as n, 0 as written
          from range({ROWS})
        """)
        writer = Writer(restored, ROWS)
        race(writer, lambda number: operated("restore_values", number, models=["restored"]))
        third = Decimal(f"0.{'3' * (ROUNDS + 2)}")
        values = {k: (k + third, "model") if k < CHANGED else (7, "by hand") for k in range(ROWS)}
        check_rows(writer, values, "n", "note")
        assert restored.operations(0).count("CHANGE COLUMN") == ROUNDS
        assert restored.operations(0).count("MERGE") == ROUNDS

    def test_columns_are_backfilled(self, project, table, spark):
        backfilled: Table = table("backfilled")
        spark.sql(f"""
          create table {backfilled.name} using delta as
          select id, 'old' as note, if(id < {CHANGED}, null, 5L) as score, 0 as written
          from range({ROWS})
        """)
        writer = Writer(backfilled, ROWS)
        arguments = {"models": ["backfilled"], "columns": ["score"]}
        race(writer, lambda number: operated("backfill_columns", number, **arguments))
        scores = {k: k * 100 + ROUNDS if k < CHANGED else 5 for k in range(ROWS)}
        check_rows(writer, {k: (score, "old") for k, score in scores.items()}, "score", "note")
        assert backfilled.operations(0).count("MERGE") == ROUNDS
