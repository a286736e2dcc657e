"""Structs, arrays and maps are widened by leaf and written by name at every depth."""

import json
from functools import reduce

import pytest

from tests.functional.cells import (
    AUTOMATIC,
    STRATEGIES,
    DecisionTable,
    alike_in_every_strategy,
    assert_untouched,
    automatic,
    cell,
    every_cell,
    every_strategy,
)
from tests.functional.operate import document
from tests.functional.support import dbt, needs_delta_4
from tests.small import settings_of

AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"


def struct(**fields: str) -> str:
    return "named_struct(" + ", ".join(f"'{name}', {sql}" for name, sql in fields.items()) + ")"


def texts(table, *columns: str) -> list[tuple[str, ...]]:
    """Return the rows as JSON, which shows names and nulls."""
    shown = ", ".join(f"to_json(struct({column})) as {column}" for column in columns)
    rows = table.spark.sql(f"select id, {shown} from {table.name} order by id").collect()
    return [tuple(row) for row in rows]


@needs_delta_4
class TestWidenedLeaves(DecisionTable):
    first = {
        "s": struct(x="cast(1 as int)", y="'a'"),
        "a": "array(cast(1 as smallint))",
        "m": "map(cast(1 as tinyint), cast(1.5 as float))",
        "deep": f"array({struct(k='map(1, ' + struct(z='cast(1 as decimal(5,2))') + ')')})",
    }
    second = {
        "s": struct(x="cast(5000000000 as bigint)", y="'b'"),
        "a": "array(cast(70000 as int), null)",
        "m": "map(cast(300 as smallint), cast(1.123456789012 as double))",
        "deep": f"array({struct(k='map(2, ' + struct(z='cast(1.2345 as decimal(8,4))') + ')')})",
    }

    @automatic
    @every_strategy
    def test_all_leaves_are_widened_in_one_commit(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        types = table(name).types
        assert types["s"] == "struct<x:bigint,y:string>"
        assert types["a"] == "array<int>"
        assert types["m"] == "map<smallint,double>"
        assert types["deep"] == "array<struct<k:map<int,struct<z:decimal(8,4)>>>>"
        operations = table(name).operations(since=runs.before[name].version)
        assert operations[0] == "CHANGE COLUMNS"
        assert len(operations) == 3
        assert operations[2] == "Manual Update"  # the rewrite of the older files
        assert texts(table(name), "s", "a", "m", "deep") == [
            (
                1,
                '{"s":{"x":1,"y":"a"}}',
                '{"a":[1]}',
                '{"m":{"1":1.5}}',
                '{"deep":[{"k":{"1":{"z":1.0000}}}]}',
            ),
            (
                2,
                '{"s":{"x":5000000000,"y":"b"}}',
                '{"a":[70000,null]}',
                '{"m":{"300":1.123456789012}}',
                '{"deep":[{"k":{"2":{"z":1.2345}}}]}',
            ),
        ]

    @every_strategy
    def test_fail_refuses_and_names_the_leaves(self, strategy, runs, table):
        name = cell("fail", strategy)
        assert_untouched(table(name), runs.before[name])
        for leaf in (
            "s.x: int -> bigint",
            "a.element: smallint -> int",
            "m.key: tinyint",
            "m.value: float",
            "deep.element.k.value.z: decimal(5,2) -> decimal(8,4)",
        ):
            assert leaf in runs.second.message(name)

    @every_strategy
    def test_ignore_stops_the_run_if_a_leaf_cannot_store_its_value(self, strategy, runs, table):
        name = cell("ignore", strategy)
        assert_untouched(table(name), runs.before[name])
        message = runs.second.message(name)
        assert f"The model {name} has the value " in message
        leaves = ("s.x", "a.element", "m.key", "m.value", "deep.element.k.value.z")
        assert any(f" for the column {leaf} of " in message for leaf in leaves)


class TestReorderedFields(DecisionTable):
    """A reordered struct must not swap values, with a cast and without one."""

    first = {
        "s": struct(a="1", b="2"),
        "narrow": struct(a="cast(1 as bigint)", b="cast(2 as bigint)"),
        "items": f"array({struct(a='1', b='2')})",
        "by_key": f"map({struct(a='1', b='2')}, {struct(a='1', b='2')})",
        "nothing": f"if(true, null, {struct(a='1', b='2')})",
    }
    second = {
        "s": struct(b="22", a="11"),
        "narrow": struct(b="cast(22 as int)", a="cast(11 as bigint)"),
        "items": f"array({struct(b='cast(22 as smallint)', a='11')}, null)",
        "by_key": f"map({struct(b='cast(22 as tinyint)', a='11')}, {struct(B='22', A='11')})",
        "nothing": f"if(true, null, {struct(b='2', a='1')})",
    }

    @every_cell
    def test_values_are_written_by_name(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert table(name).types == runs.before[name].types
        frame = table(name).spark.table(table(name).name).where("id = 2")
        ((s, narrow, items, by_key, nothing),) = frame.select(*self.first).collect()
        assert s.asDict() == narrow.asDict() == {"a": 11, "b": 22}
        assert [item and item.asDict() for item in items] == [{"a": 11, "b": 22}, None]
        ((key, value),) = by_key.items()
        assert key.asDict() == value.asDict() == {"a": 11, "b": 22}
        assert nothing is None


@needs_delta_4
class TestReorderedFieldsThatWiden(DecisionTable):
    first = {"s": struct(a="cast(1 as int)", b="cast(2 as int)")}
    second = {"s": struct(b="cast(22 as bigint)", a="cast(11 as int)")}

    @pytest.mark.slow
    @pytest.mark.parametrize("mode", ["ignore", *AUTOMATIC])
    @alike_in_every_strategy
    def test_values_are_written_by_name(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert texts(table(name), "s")[1] == (2, '{"s":{"a":11,"b":22}}')


NO_STRUCT = "case when id > 1 then named_struct('a', 1L) end"
NULLS = f"""
{{{{ config(materialized='incremental', CONFIG) }}}}
{{% if is_incremental() %}}
select id, null as note, 'k' as KIND, {NO_STRUCT} as s, array({NO_STRUCT}) as items,
  map(1, {NO_STRUCT}) as m
from values (1), (2) as v(id)
{{% else %}}
select 1L as id, 'a' as note, 'k' as kind, named_struct('a', 1L) as s,
  array(named_struct('a', 1L)) as items, map(1, named_struct('a', 1L)) as m
{{% endif %}}
"""
INSERTS = {
    "appended": "incremental_strategy='append'",
    "overwritten": "incremental_strategy='insert_overwrite'",
    "replaced": "incremental_strategy='replace_where', incremental_predicates='id > 0'",
    "custom": "incremental_strategy='by_position'",
}
BY_POSITION = """
{% macro get_incremental_by_position_sql(arg_dict) %}
  insert into {{ arg_dict['target_relation'] }} select * from {{ arg_dict['temp_relation'] }}
{% endmacro %}
"""
MERGED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
{% if is_incremental() %}
select id, cast(null as struct<a: int, b: struct<c: int>>) as s from values (1), (2) as v(id)
{% else %} select 1 as id, named_struct('a', 1, 'b', named_struct('c', 1)) as s {% endif %}
"""
# By default, Delta 4.1 and newer keep null structs.
FILLS_NULLS = {
    f"spark.databricks.delta.{statement}.preserveNullSourceStructs": "false"
    for statement in ("insert", "merge")
}

ARE_NULL = ("id", "s is null", "items[0] is null", "m[1] is null")


class TestNullStructs:
    """Delta can store a struct of nulls in place of a null struct."""

    @pytest.fixture(scope="class")
    def models(self):
        inserts = {f"{n}.sql": NULLS.replace("CONFIG", config) for n, config in INSERTS.items()}
        return {**inserts, "merged.sql": MERGED}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"by_position.sql": BY_POSITION}

    @pytest.fixture(scope="class")
    def second(self, project, spark):
        dbt("run")
        with settings_of(spark, FILLS_NULLS):
            yield dbt("run", "--select", *INSERTS)

    @pytest.mark.parametrize("name", INSERTS)
    def test_are_inserted_beside_columns_of_other_types(self, name, second, table):
        assert second.status(name) == "success", second.message(name)
        assert (1, True, True, True) in table(name).rows(*ARE_NULL)
        assert (2, False, False, False) in table(name).rows(*ARE_NULL)

    def test_are_inserted_although_sql_does_not_show_what_can_be_null(
        self, second, table, spark, by_sql_alone
    ):
        before = table("custom").rows(*ARE_NULL).count((1, True, True, True))
        with settings_of(spark, FILLS_NULLS):
            run = dbt("run", "--select", "custom")
        assert run.status("custom") == "success", run.message("custom")
        assert table("custom").rows(*ARE_NULL).count((1, True, True, True)) == before + 1

    def test_are_merged_in_a_session_that_evolves_tables(self, second, table, spark):
        with settings_of(spark, {**FILLS_NULLS, AUTO_MERGE: "true"}):
            run = dbt("run", "--select", "merged")
        assert run.status("merged") == "success", run.message("merged")
        assert table("merged").rows("id", "s is null") == [(1, True), (2, True)]


class TestNewAndGoneFields(DecisionTable):
    first = {
        "s": struct(kept="1", gone="'x'"),
        "items": f"array({struct(kept='1', gone=struct(deep='1'))})",
    }
    second = {
        "s": struct(new="date'2024-01-02'", kept="2"),
        "items": f"array({struct(new=struct(deep='2'), kept='2')})",
    }

    @alike_in_every_strategy
    def test_append_adds_new_fields_and_fills_missing_fields_with_null(self, strategy, runs, table):
        name = cell("append_new_columns", strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert table(name).types["s"] == "struct<kept:int,gone:string,new:date>"
        assert texts(table(name), "s", "items") == [
            (1, '{"s":{"kept":1,"gone":"x"}}', '{"items":[{"kept":1,"gone":{"deep":1}}]}'),
            (2, '{"s":{"kept":2,"new":"2024-01-02"}}', '{"items":[{"kept":2,"new":{"deep":2}}]}'),
        ]

    @pytest.mark.parametrize("mode", ["sync_all_columns", "fail", "ignore"])
    @alike_in_every_strategy
    def test_other_modes_refuse_before_anything_is_changed(self, mode, strategy, runs, table):
        name = cell(mode, strategy)
        assert runs.second.status(name) == "error"
        assert_untouched(table(name), runs.before[name])
        assert "s.gone: " in runs.second.message(name)
        assert "items.element.gone: " in runs.second.message(name)


class TestGoneFieldsUnderColumnMapping(DecisionTable):
    first = {"s": struct(kept="1", gone="'x'"), "items": f"array({struct(kept='1', gone='1')})"}
    second = {"s": struct(kept="2"), "items": f"array({struct(kept='2')})"}
    config = {"tblproperties": {"delta.columnMapping.mode": "name"}}
    cells = [("sync_all_columns", strategy) for strategy in STRATEGIES]

    @alike_in_every_strategy
    def test_sync_drops_them(self, strategy, runs, table):
        name = cell("sync_all_columns", strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        assert table(name).types["s"] == "struct<kept:int>"
        assert table(name).types["items"] == "array<struct<kept:int>>"
        assert texts(table(name), "s")[1] == (2, '{"s":{"kept":2}}')


ODD = ("a b", "a.b", "a:b", "a`b", "a,b", "<a>", "#a", "größe", "select", "it\\'s")


def odd(order: tuple[str, ...], sql: str) -> str:
    return "named_struct(" + ", ".join(f"'{name}', {sql}" for name in order) + ")"


@needs_delta_4
class TestOddNames(DecisionTable):
    """A field with any name is widened and written at every depth."""

    first = {
        "`my col`": "cast(1 as int)",
        "`a.b`": odd(ODD, "cast(1 as int)"),
        "items": f"array({odd(ODD[:4], odd(ODD[4:], 'cast(1 as int)'))})",
    }
    second = {
        "`my col`": "5000000000",
        "`a.b`": odd(ODD[::-1], "5000000000"),
        "items": f"array({odd(ODD[3::-1], odd(ODD[:3:-1], '5000000000'))})",
    }
    config = {"type_widening": True, "tblproperties": {"delta.columnMapping.mode": "name"}}
    cells = [("append_new_columns", strategy) for strategy in STRATEGIES]

    @pytest.mark.slow
    @every_strategy
    def test_each_name_is_widened_and_written(self, strategy, runs, table):
        name = cell("append_new_columns", strategy)
        assert runs.second.status(name) == "success", runs.second.message(name)
        frame = table(name).spark.table(table(name).name).where("id = 2")
        ((top, struct_, items),) = frame.select("`my col`", "`a.b`", "items").collect()
        names = [name.replace("\\", "") for name in ODD]
        assert top == 5000000000
        assert struct_.asDict() == dict.fromkeys(names, 5000000000)
        inside = dict.fromkeys(names[4:], 5000000000)
        assert items[0].asDict(recursive=True) == dict.fromkeys(names[:4], inside)


@needs_delta_4
class TestWideStruct(DecisionTable):
    """A thousand fields, far more than DESCRIBE shows."""

    names = [f"f{number}" for number in range(1000)]
    first = {"s": struct(**dict.fromkeys(names, "1"))}
    second = {"s": struct(**{**dict.fromkeys(names[::-1], "2"), "f998": "5000000000"})}
    cells = [("append_new_columns", "merge")]

    def test_one_of_them_is_widened(self, runs, table):
        name = cell("append_new_columns", "merge")
        assert runs.second.status(name) == "success", runs.second.message(name)
        fields = table(name).spark.table(table(name).name).schema["s"].dataType.fields
        wide = [field.name for field in fields if field.dataType.simpleString() == "bigint"]
        assert (len(fields), wide) == (1000, ["f998"])
        ((s,),) = table(name).spark.table(table(name).name).where("id = 2").select("s").collect()
        assert s.asDict() == {**dict.fromkeys(self.names, 2), "f998": 5000000000}


DEPTH = 20


def deep(leaf: str) -> str:
    """A struct of many levels, with an array at every third one."""
    return reduce(
        lambda inner, n: (
            f"array({struct(**{f'l{n}': inner})})" if n % 3 == 0 else struct(**{f"l{n}": inner})
        ),
        range(DEPTH),
        leaf,
    )


@pytest.mark.slow
@needs_delta_4
class TestTwentyLevels:
    @pytest.fixture(scope="class")
    def models(self):
        config = "materialized='incremental', on_schema_change='append_new_columns'"
        wider = f"select 2 as id, {deep('5000000000')} as s"
        return {
            f"by_{strategy}.sql": f"""
{{{{ config({config}, type_widening=true, incremental_strategy='{strategy}', unique_key='id') }}}}
{{% if var('wider', false) %}} {wider} {{% else %}} select 1 as id, {deep("1")} as s {{% endif %}}
"""
            for strategy in ("merge", "append")
        }

    def test_the_leaf_is_planned_widened_and_reported(self, project, table):
        dbt("run")
        planned = document("plan", "--vars", json.dumps({"wider": True}))["tables"]
        run = dbt("run", wider=True)
        reported = document("report_type_widening", relations=["by_merge", "by_append"])["tables"]
        for name in ("by_merge", "by_append"):
            assert run.status(name) == "success", run.message(name)
            (change,) = run.response(name)["type_changes"]
            for tables in (planned, reported):
                (found,) = [each for each in tables if name in each["table"]]
                assert [each["path"] for each in found["type_changes"]] == [change["path"]]
            # One word for each level, one for each array, and the column.
            assert len(change["path"]) == 1 + DEPTH + len(range(0, DEPTH, 3))
            assert (change["from"], change["to"]) == ("int", "bigint")
            stored = [text for _, text in texts(table(name), "s")]
            assert ["5000000000" in text for text in stored] == [False, True]
