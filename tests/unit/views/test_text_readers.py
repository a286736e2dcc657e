"""The nodes of dbt that can have stored the text of a column that is wider now."""

from typing import Any

import pytest
from pyspark.sql.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NullType,
    TimestampNTZType,
)

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.views.graph import nodes_after
from dbt.adapters.deltawiden.views.text_readers import text_readers
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.steps import AlterTypes
from dbt.adapters.deltawiden.writes.model_views import readers_texts

DAY = TypeChange(("day",), DateType(), TimestampNTZType())
AMOUNT = TypeChange(("s", "amount"), DecimalType(10, 2), DecimalType(12, 4))
RATE = TypeChange(("rate",), FloatType(), DoubleType())
ID = TypeChange(("id",), IntegerType(), LongType())
DIGITS = TypeChange(("total",), DecimalType(18, 2), DecimalType(20, 2))
NOTHING = TypeChange(("day",), NullType(), DoubleType())
INCREMENTAL = {"materialized": "incremental"}


def node(name: str, code: str, *parents: str, kind: str = "model", **config: Any) -> dict[str, Any]:
    return {
        "name": name,
        "resource_type": kind,
        "raw_code": code,
        "config": {**INCREMENTAL, **config},
        "depends_on": {"nodes": list(parents)},
    }


def named(code: str, *changes: TypeChange, **config: Any) -> list[str]:
    graph = {"nodes": {"r": node("r", code, "t", **config)}}
    return [
        detail
        for _, details, _ in text_readers(nodes_after("t", graph), changes)
        for detail in details
    ]


def test_what_names_a_column_whose_text_changes_is_named_in_any_case():
    assert named("cast(o.DAY as string)", DAY) == [
        "day: date -> timestamp_ntz, so the text 2024-01-01 is now 2024-01-01 00:00:00"
    ]
    assert named("to_json(s)", AMOUNT, DAY) == named("s.amount || '/'", AMOUNT)
    assert named("{{ dbt_utils.generate_surrogate_key(['amount', 'rate']) }}", AMOUNT, RATE) == [
        "s.amount: decimal(10,2) -> decimal(12,4), so the text 1.00 is now 1.0000",
        "rate: float -> double, so the text 0.1 is now 0.10000000149011612",
    ]
    assert named("select *", DAY, unique_key=["id", "cast(day as string)"])
    assert named("select day, count(*)", DAY, unique_key=["id", "day"], check_cols=["day"]) == []
    assert named("select md5(today), day_of_week", DAY) == []
    assert named("md5(cast(day as string))", NOTHING) == []


@pytest.mark.parametrize(
    "code",
    ["xxhash64(*)", "md5(to_json(struct(o.*)))", "sha2 (day, 256)", "replace(day, '-', '')"],
)
def test_what_makes_a_text_of_all_columns_or_by_another_function_is_named(code):
    assert named(f"select {code} as k", DAY)


@pytest.mark.parametrize(
    "code",
    [
        "day || ''",
        "day::string",
        "cast(day as varchar(10))",
        "try_cast(day as string)",
        "string(day)",
        "cast(day as {{ dbt.type_string() }})",
        "concat(day, '')",
        "concat_ws('-', upper(a), o.*)",
        "md5(day)",
        "{{ dbt.hash('day') }}",
        "{{ hash_columns(['day']) }}",
        "{{ dbt_utils.generate_surrogate_key(['day']) }}",
        "date_format(day, 'y')",
        "format_string('%s', day)",
        "format_number(day, 2)",
        "to_json(struct(day))",
        "array_join(collect_list(day), ',')",
        "LPAD(day, 12, '0')",
        "substring(day, 9)",
        "right(day, 2)",
        "F.sha2(F.col('day').cast('string'), 256)",
        "frame['day'].astype(str)",
        "F.col('day').cast(StringType())",
        "'--' as dashes, md5(day)",
        "'{{ var(\"x\") }}' as x, md5(day)",
    ],
)
def test_each_way_to_make_a_text_is_named(code):
    assert named(f"select {code} as k", DAY)


@pytest.mark.parametrize(
    "code",
    [
        "{{ config(file_format='delta', unique_key=['day']) }} select *",
        "{{- config(post_hook=\"call f('{{ this }}', md5(day))\", tags=['(']) -}} select day",
        "{% do config(cluster_by=concat(['day'], x)) %} select day",
        "dbt.config(file_format='delta')  # md5(day)\nreturn dbt.ref('t')[['day']]",
        "select day -- don't format it: md5(day)\n",
        "select day /* md5(day), it's\n'a' */",
        "select day {# md5(day) -- it's #}",
        "select count (*) as n, md5(id) as k",
        "select COUNT(o.*) as n, md5(id) as k",
        "select day from system.information_schema.columns, transformations",
        "select day, string_length, md5_of_it, formatted, is_concat, replaced_by, char_count",
        "spark.read.format('delta').load(p).select('day')",
        "select day from a left join b using (day)",
    ],
)
def test_what_makes_no_text_of_the_column_is_not_named(code):
    assert named(code, DAY, unique_key=["day"], file_format="delta") == []


def test_the_columns_of_a_key_are_not_a_text_because_the_code_makes_another():
    assert named("select *, md5(id) as k", DAY, unique_key="day", partition_by=["day"]) == []


def test_a_model_without_a_full_refresh_is_told_to_cast_only():
    graph = {"nodes": {"r": node("r", "md5(day)", "t", full_refresh=False)}}
    ((_, _, do),) = text_readers(nodes_after("t", graph), [DAY])
    assert do == ["before it runs, cast day to date where the key is made, if the new values fit"]


def test_the_example_of_a_change_by_hand_is_that_of_its_types():
    wider = TypeChange(("id",), IntegerType(), DecimalType(12, 2)), RATE
    assert [text.rpartition("text ")[2] for text in named("md5(id, rate)", *wider)] == [
        "1 is now 1.00",
        "0.1 is now 0.10000000149011612",
    ]


def test_an_integer_keeps_its_text_and_not_its_hash():
    assert named("md5(cast(id as string)), {{ dbt.hash('total') }}", ID, DIGITS) == []
    assert [text.split(":")[0] for text in named("hash(id), xxhash64(total)", ID, DIGITS)] == [
        "id",
        "total",
    ]


@pytest.mark.parametrize(
    ("before", "after", "is_other"),
    [
        ("tinyint", "smallint", False),
        ("tinyint", "int", False),
        ("smallint", "int", False),
        ("tinyint", "bigint", True),
        ("int", "bigint", True),
        ("int", "decimal(10,0)", True),
        ("int", "double", True),
        ("float", "double", True),
        ("date", "timestamp_ntz", True),
        ("decimal(5,2)", "decimal(9,2)", False),
        ("decimal(9,2)", "decimal(18,2)", False),
        ("decimal(18,2)", "decimal(19,2)", True),
        ("decimal(19,2)", "decimal(38,2)", False),
        ("decimal(10,2)", "decimal(12,4)", True),
    ],
)
def test_a_hash_is_named_only_if_it_is_another_number(before: str, after: str, is_other: bool):
    change = TypeChange(("c",), parse_type(before), parse_type(after))
    assert bool(named("hash(c)", change)) == bool(named("xxhash64(c)", change)) == is_other


GRAPH = {
    "nodes": {
        "model.p.keyed": node("keyed", "*, md5(day) as k", "model.p.orders", materialized="view"),
        "model.p.plain": node("plain", "select day", "model.p.orders", materialized="table"),
        "model.p.below": node("below", "select k", "model.p.keyed"),
        "model.p.beside": node("beside", "select *", "model.p.plain"),
        "model.p.far": node("far", "md5(day)", "model.p.plain", materialized="by_period"),
        "model.p.other": node("other", "select day", "model.p.customers"),
        "seed.p.days": node("days", "day", "model.p.orders", kind="seed"),
        "snapshot.p.kept": node("kept", "md5(day)", "model.p.orders", kind="snapshot"),
        "test.p.day": node("test", "day", "model.p.keyed", kind="test", materialized="test"),
    }
}


def test_the_run_names_all_that_keep_rows_and_come_after_the_table():
    plan = Plan("`s`.`orders`", (AlterTypes("`s`.`orders`", (DAY, ID)),))
    text = readers_texts(plan, "model.p.orders", GRAPH)[-1]
    change = "day: date -> timestamp_ntz, so the text 2024-01-01 is now 2024-01-01 00:00:00"
    cast = "before it runs, cast day to date where the key is made, if the new values fit"
    assert text.splitlines()[1:] == [
        *("", "  below", f"    {change}"),
        f"    Do: {cast}; or dbt run --full-refresh --select below",
        *("", "  far", f"    {change}"),
        f"    Do: {cast}; or dbt run --full-refresh --select far",
        *("", "  kept", f"    {change}", f"    Do: {cast}"),
    ]
    assert not any(readers_texts(plan, "model.p.elsewhere", GRAPH))
    same = Plan("`s`.`orders`", (AlterTypes("`s`.`orders`", (ID,)),))
    assert not any(readers_texts(same, "model.p.orders", GRAPH))
