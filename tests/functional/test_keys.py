"""A unique key finds the row that has the same key as the table stores it, and no other row."""

from datetime import date
from decimal import Decimal

import pytest

from tests.functional.support import dbt, in_part_slow, needs_delta_4, selected

# The keys of the table, and of the model, as SQL; then the keys of the table after a merge, each
# with the step that wrote it. The oracle is in the last column, by hand: a key of the model is cast
# to the column's type, and is then another row's key or the same.
CASES = {
    "text_and_int": (["'007'", "'7'"], ["7"], [("007", 1), ("7", 2)]),
    "int_and_text": (["7"], ["'7'"], [(7, 2)]),
    "text_and_date": (
        *(["'2024-01-01'", "'2024-1-1'"], ["date'2024-01-01'"]),
        [("2024-01-01", 2), ("2024-1-1", 1)],
    ),
    "date_and_text": (["date'2024-01-01'"], ["'2024-01-01'"], [(date(2024, 1, 1), 2)]),
    "text_and_decimal": (["'1.5'", "'1.50'"], ["1.50"], [("1.5", 1), ("1.50", 2)]),
    "text_and_boolean": (["'true'", "'TRUE'"], ["true"], [("TRUE", 1), ("true", 2)]),
    "double_and_float": (
        *(["0.1D", "cast(cast(0.1 as float) as double)"], ["cast(0.1 as float)"]),
        [(0.1, 1), (0.10000000149011612, 2)],
    ),
    "float_and_double": (["cast(0.5 as float)"], ["0.5D"], [(0.5, 2)]),
    "not_a_number": (["double('NaN')"], ["float('NaN')"], [("nan", 2)]),
    "zeros": (["0.0D"], ["-0.0D"], [("zero", 2)]),
    "scales": (
        *(["cast(1.5 as decimal(10,4))", "1.25"], ["cast(1.5 as decimal(38,2))"]),
        [(Decimal("1.2500"), 1), (Decimal("1.5000"), 2)],
    ),
    "large_decimals": (
        ["cast(12345678901234567890 as decimal(38,0))"],
        ["cast(12345678901234567890 as decimal(38,10))"],
        [(Decimal("12345678901234567890"), 2)],
    ),
    "nulls": (["cast(null as int)", "1"], ["cast(null as bigint)", "1"], ["null", "null", (1, 2)]),
    "narrower": (["cast(7 as bigint)"], ["cast(7 as tinyint)"], [(7, 2)]),
}
REFUSED = {
    "no_such_text": (["7"], ["'007'"], "has the value 007 (string) for the column k"),
    "no_such_int": (["7"], ["7.5"], "has the value 7.5 (decimal(2,1)) for the column k"),
    "too_large": (["7"], ["5000000000"], "has the value 5000000000 (bigint) for the column k"),
}
SLOW = (
    "date_and_text",
    "text_and_decimal",
    "text_and_boolean",
    "float_and_double",
    "large_decimals",
    "narrower",
)
MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key={key},
  {config}) }}}}
{{% if is_incremental() %}} {second} {{% else %}} {first} {{% endif %}}
"""


def select(keys: list[str], step: int) -> str:
    return " union all ".join(f"select {key} as k, {step} as step" for key in keys)


def shown(row: tuple) -> object:
    key, step = row
    if key is None:
        return "null"
    if isinstance(key, float) and key != key:
        return ("nan", step)
    return ("zero", step) if key == 0 else (key, step)


class TestKeysOfAnotherType:
    @pytest.fixture(scope="class")
    def models(self, request):
        return {
            f"{name}.sql": MODEL.format(
                key="'k'", config="", first=select(table, 1), second=select(model, 2)
            )
            for name, (table, model, _) in {**CASES, **REFUSED}.items()
            if name in selected(request, "name")
        }

    @pytest.fixture(scope="class")
    def second(self, project):
        dbt("run")
        return dbt("run")

    @pytest.mark.slow
    @pytest.mark.parametrize("name", in_part_slow(CASES, SLOW))
    def test_find_the_row_of_the_same_key(self, name, second, table):
        assert second.status(name) == "success", second.message(name)
        rows = [shown(row) for row in table(name).rows("k", "step")]
        assert sorted(rows, key=repr) == sorted(CASES[name][2], key=repr)

    @pytest.mark.parametrize("name", REFUSED)
    def test_stop_the_run_if_the_table_cannot_have_the_key(self, name, second, table):
        assert second.status(name) == "error"
        assert REFUSED[name][2] in second.message(name)
        assert table(name).version == 0


@needs_delta_4
class TestKeysThatWidenInTheSameRun:
    @pytest.fixture(scope="class")
    def models(self):
        config = "on_schema_change='append_new_columns', type_widening=true"
        listed = "cast(1 as {}) as k, named_struct('x', cast(1 as {})) as s, {} as step"
        first = "select " + listed.format("int", "decimal(4,2)", 1)
        second = "select " + listed.format("bigint", "decimal(6,4)", 2)
        larger = second.replace("cast(1 as bigint)", "cast(5000000000 as bigint)")
        return {
            "listed.sql": MODEL.format(
                key="['k', 's.x']",
                config=config,
                first=first,
                second=f"{second} union all {larger}",
            ),
        }

    def test_find_the_rows_from_before(self, project, table):
        dbt("run")
        run = dbt("run")
        assert run.status("listed") == "success", run.message("listed")
        assert table("listed").types["k"] == "bigint"
        assert table("listed").types["s"] == "struct<x:decimal(6,4)>"
        assert table("listed").rows("k", "step") == [(1, 2), (5000000000, 2)]


class TestKeysWhoseLossIsAccepted:
    @pytest.fixture(scope="class")
    def models(self):
        config = "on_lossy_write='ignore'"
        return {
            f"{name}.sql": MODEL.format(
                key="'k'", config=config, first=select(["1.24", "7"], 1), second=select([key], 2)
            )
            for name, key in {"rounded": "1.2367", "too_large": "50000000000000.5"}.items()
        }

    def test_are_compared_as_they_are_stored(self, project, table):
        dbt("run")
        run = dbt("run")
        assert table("rounded").rows("k", "step") == [(Decimal("1.24"), 2), (Decimal("7.00"), 1)]
        assert "which has no such key: 50000000000000.5" in run.message("too_large")
        assert table("too_large").version == 0


ADDS_KEY = """
{{{{ config(materialized='incremental', on_schema_change='append_new_columns', {config}) }}}}
select id, at {{{{ ', region' if var('grown', false) }}}} from {{{{ ref('events') }}}}
where {where}
"""
BY_REGION = "unique_key=(['id', 'region'] if var('grown', false) else 'id')"
ADDING = {
    "merged": f"incremental_strategy='merge', {BY_REGION}",
    "deleted": f"incremental_strategy='delete+insert', {BY_REGION}",
    "batched": "incremental_strategy='microbatch', batch_size='day', begin='2024-01-01', "
    "event_time=('region' if var('grown', false) else 'at')",
    "selected": "incremental_strategy='replace_where', incremental_predicates="
    "('region = timestamp_ntz\\'2024-01-01 12:00:00\\'' if var('grown', false) else 'id = 1')",
}


class TestKeysThatTheRunAdds:
    """The rows that exist would have null in such a column, and be stored a second time."""

    @pytest.fixture(scope="class")
    def models(self):
        noon = "timestamp_ntz'2024-01-01 12:00:00'"
        events = f"{{{{ config(event_time='at') }}}} select 1 as id, {noon} as at, {noon} as region"
        return {
            "events.sql": events,
            "empty.sql": ADDS_KEY.format(
                config=ADDING["merged"], where="{{ var('grown', false) }}"
            ),
            **{
                f"{name}.sql": ADDS_KEY.format(config=config, where="true")
                for name, config in ADDING.items()
            },
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        config = (
            "target_schema=target.schema, unique_key=('region' if var('grown', false) else 'id'), "
        )
        config += "strategy='timestamp', updated_at='at'"
        text = "select id, at {{ ', region' if var('grown', false) }} from {{ ref('events') }}"
        return {
            "followed.sql": f"{{% snapshot followed %}} {{{{ config({config}) }}}} {text} "
            "{% endsnapshot %}"
        }

    def test_are_refused_if_there_are_rows(self, project, table):
        day = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02")
        run = dbt("build", *day)
        names = (*ADDING, "followed")
        assert {run.status(name) for name in (*names, "empty")} == {"success"}, run.output
        run = dbt("build", *day, grown=True)
        assert run.status("empty") == "success", run.message("empty")
        assert len(table("empty").rows()) == 1
        keys = dict.fromkeys(names, "unique_key")
        keys |= {"batched": "event_time", "selected": "incremental_predicates"}
        for name, key in keys.items():
            assert run.status(name) == "error", table(name).rows()
            assert f"the table lacks this column, and {key} uses it" in run.message(name)
            assert "region" not in table(name).types
            assert table(name).version == 0
        # As the error says.
        merged = table("merged")
        merged.spark.sql(f"alter table {merged.name} add columns (`region` timestamp_ntz)")
        merged.spark.sql(f"update {merged.name} set `region` = at")
        run = dbt("run", "--select", "events", "merged", grown=True)
        assert run.status("merged") == "success", run.message("merged")
        assert len(merged.rows()) == 1
