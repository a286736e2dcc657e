"""A char column pads a shorter text, so a reader gets another text than the one written."""

import pytest

from tests.functional.support import dbt, needs_delta_4
from tests.small import settings_of

MODEL = """
{{{{ config(materialized='incremental', {config}) }}}}
select 1 as id, {{{{ var('text') }}}} as c, named_struct('c', 'abcde') as s
"""
STRATEGIES = {
    "append": "incremental_strategy='append'",
    "merge": "incremental_strategy='merge', unique_key='id'",
    "automatic": "on_schema_change='append_new_columns'",
    "nested": "on_schema_change='sync_all_columns'",
    "accepted": "on_lossy_write='ignore'",
    "keyed": "incremental_strategy='merge', unique_key='c'",
    "conditioned": "incremental_strategy='merge', unique_key='id', "
    "incremental_predicates=[\"DBT_INTERNAL_DEST.c = 'abcde'\"]",
}
CHECKED = ("append", "merge", "automatic", "nested")


class TestCharColumns:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{n}.sql": MODEL.format(config=c) for n, c in STRATEGIES.items()}
        models["nested.sql"] = models["nested.sql"].replace("'abcde'", "{{ var('text') }}")
        return models

    @pytest.fixture(autouse=True)
    def _tables(self, project, table, spark):
        """Make the tables again that a test has changed."""
        for name in STRATEGIES:
            if spark.catalog.tableExists(table(name).name) and table(name).version == 0:
                continue
            project.run_sql(f"drop table if exists {{schema}}.{name}")
            text = "string" if name == "nested" else "char(5)"
            declared = f"id int, c {text}, s struct<c: char(5)>"
            project.run_sql(f"create table {{schema}}.{name} ({declared}) using delta")

    def test_a_text_of_their_length_is_stored(self, table):
        run = dbt("run", "--select", *CHECKED, text="'größe'")
        for name in CHECKED:
            assert run.status(name) == "success", run.message(name)
            assert table(name).rows("c") == [("größe",)]

    @pytest.mark.parametrize("text", ["ab", "", "ab   x"])
    def test_a_shorter_or_longer_text_stops_the_run(self, table, text):
        run = dbt("run", "--select", *CHECKED, text=f"'{text}'")
        for name in CHECKED:
            path = "s.c" if name == "nested" else "c"
            assert run.status(name) == "error"
            expected = f"has the value {text} (string) for the column {path} of "
            assert expected in run.message(name)
            assert table(name).version == 0

    def test_padding_is_stored_if_the_model_accepts_it(self, table):
        run = dbt("run", "--select", "accepted", text="'ab'")
        assert run.status("accepted") == "success"
        assert table("accepted").rows("c") == [("ab   ",)]

    def test_as_a_key_is_refused_with_a_remedy(self, project, table, spark):
        run = dbt("run", "--select", "keyed", text="'abcde'")
        assert run.status("keyed") == "error"
        assert "this key is a char column of the table" in run.message("keyed")
        assert "rtrim(`c`)" in run.message("keyed")
        assert table("keyed").version == 0
        # The remedy in the message:
        name = table("keyed").name
        arguments = {"relations": [name], "columns": {"c": "string"}}
        dbt("run-operation", "widen_columns", "--args", str(arguments))
        spark.sql(f"update {name} set c = rtrim(c)")
        run = dbt("run", "--select", "keyed", text="'ab'")
        assert run.status("keyed") == "success", run.message("keyed")
        assert table("keyed").rows("c") == [("ab",)]

    def test_in_a_condition_of_a_merge_is_explained(self, project):
        dbt("run", "--select", "conditioned", text="'abcde'")
        run = dbt("run", "--select", "conditioned", text="'abcde'")
        assert "uses a char column of the table" in run.message("conditioned")
        assert "INTERNAL_ERROR" not in run.message("conditioned")


UNION = """
{{ config(materialized='incremental') }}
select c from {{ target.schema }}.padded {{ "union all select 'ab'" if is_incremental() }}
"""
MADE = """
{{ config(materialized='table') }}
select c from {{ target.schema }}.padded union all select '{{ var('text', 'ab') }}' -- a comment
"""
NESTED = """
{{ config(materialized='table') }}
select s, a, m from {{ target.schema }}.nested
union all
select named_struct('c', TEXT), array(named_struct('c', 'abcde')), map('abcde', 'abcde')
union all
select named_struct('c', 'abcde'), array(named_struct('c', ELEMENT)), map('abcde', VALUE)
"""
TEXTS = {"struct": "TEXT", "element": "ELEMENT", "entry": "VALUE"}
PATHS = {"struct": "s.c", "element": "a.element.c", "entry": "m.value"}
BESIDE = """
{{ config(materialized='incremental', on_schema_change=var('mode'), type_widening=true) }}
select 1 as id, SELECTED as s
"""
BESIDES = {
    "widened": (
        "array<struct<c: char(2), n: int>>",
        "array(named_struct('c', 'ab', 'n', 5000000000L))",
    ),
    "added": ("struct<c: char(2)>", "named_struct('c', 'ab', 'n', 1)"),
    "dropped": ("struct<c: char(2), n: int>", "named_struct('c', 'ab')"),
}


class TestUnionsOfCharSources:
    @pytest.fixture(scope="class")
    def models(self):
        nested = {name: NESTED.replace(place, "'ab'") for name, place in TEXTS.items()}
        models = {"joined": UNION, "made": MADE, "kept": NESTED, **nested}
        for place in TEXTS.values():
            models = {name: text.replace(place, "'abcde'") for name, text in models.items()}
        return {f"{name}.sql": text for name, text in models.items()}

    def test_are_checked_inside_a_column_of_a_new_table(self, project, table, spark):
        project.run_sql(
            "create table {schema}.nested (s struct<c: char(5)>, a array<struct<c: char(5)>>, "
            "m map<char(5), char(5)>) using delta"
        )
        project.run_sql(
            "insert into {schema}.nested values "
            "(named_struct('c', 'xy'), array(named_struct('c', 'xy'), null), map('xy', 'xy')), "
            "(null, null, null)"
        )
        run = dbt("run", "-s", "kept", *TEXTS)
        assert run.status("kept") == "success", run.message("kept")
        assert len(table("kept").rows()) == 4
        assert "char(5)" in str(spark.table(table("kept").name).schema["m"].metadata)
        for name, path in PATHS.items():
            assert run.status(name) == "error"
            expected = f"has the value ab (string) for the column {path} of"
            assert expected in run.message(name)

    @pytest.mark.slow
    def test_are_checked_although_they_declare_a_char(self, project, table, spark):
        project.run_sql("create table {schema}.padded (c char(5)) using delta")
        project.run_sql("insert into {schema}.padded values ('xy')")
        assert dbt("run", "-s", "joined").status("joined") == "success"
        run = dbt("run")
        for model in ("joined", "made"):
            assert run.status(model) == "error"
            assert "has the value ab (string) for the column c of" in run.message(model)
        assert table("joined").rows() == [("xy   ",)]
        run = dbt("run", "-s", "made", text="abcde")
        assert run.status("made") == "success", run.message("made")
        assert table("made").rows() == [("abcde",), ("xy   ",)]
        assert "char(5)" in str(spark.table(table("made").name).schema["c"].metadata)


READ = """
{{ config(materialized='incremental') }}
select c, s, v, n from {{ target.schema }}.declared
{% if var('chars') %} where c is not null
union all select 'ab', named_struct('c', 'ab'), 'ab', 2 {% endif %}
"""


class TestUnionsBySqlAlone:
    @pytest.fixture(scope="class")
    def models(self):
        only_varchar = READ.replace("c, s, v, n", "v, n").replace("declared", "without_char")
        return {"strings.sql": READ, "varchars.sql": only_varchar}

    @pytest.fixture(scope="class")
    def snapshots(self):
        config = "{{ config(unique_key='n', strategy='check', check_cols=['c']) }}"
        query = READ.partition("}}")[2]
        return {"snapped.sql": f"{{% snapshot snapped %}}{config}{query}{{% endsnapshot %}}"}

    def test_make_a_table_of_strings(self, project, table, by_sql_alone, spark):
        project.run_sql(
            "create table {schema}.declared (c char(5), s struct<c: char(5)>, v varchar(9), n int) "
            "using delta"
        )
        project.run_sql(
            "create table {schema}.without_char (v varchar(9) comment 'Text', n int) using delta"
        )
        project.run_sql(
            "insert into {schema}.declared values ('xy', named_struct('c', 'xy'), 'xy', 1)"
        )
        run = dbt("build", "-s", "strings", "snapped", chars=True)
        for name in ("strings", "snapped"):
            assert run.status(name) == "success", run.message(name)
            padded, exact = ("xy   ", "xy   ", "xy", 1), ("ab", "ab", "ab", 2)
            assert sorted(table(name).rows("c", "s.c", "v", "n")) == [exact, padded]
            assert table(name).types["s"] == "struct<c:string>"
        # The next run writes to a table of strings, too.
        assert dbt("run", "-s", "strings", chars=True).status("strings") == "success"
        assert table("strings").rows("c").count(("ab",)) == 2

    def test_leave_a_query_without_a_char_as_it_is(self, project, table, by_sql_alone, spark):
        assert dbt("run", "-s", "varchars", chars=False).status("varchars") == "success"
        (v, _) = spark.table(table("varchars").name).schema.fields
        assert v.metadata == {"__CHAR_VARCHAR_TYPE_STRING": "varchar(9)", "comment": "Text"}


class TestFieldsBesideAChar:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": BESIDE.replace("SELECTED", s) for name, (_, s) in BESIDES.items()}

    @needs_delta_4
    def test_are_not_changed_because_spark_would_read_other_values(self, project, table):
        for name, (declared, _) in BESIDES.items():
            project.run_sql(
                f"create table {{schema}}.{name} (id int, s {declared}) using delta "
                "tblproperties ('delta.columnMapping.mode' = 'name')"
            )
        run = dbt("run", mode="sync_all_columns")
        for name in BESIDES:
            assert run.status(name) == "error"
            assert "its column contains a char" in run.message(name)
            assert table(name).version == 0


SNAPSHOT = """
{% snapshot tracked %}
{{ config(unique_key='id', strategy='check', check_cols='all', target_schema=target.schema) }}
select id, c, trim(c) as trimmed from {{ target.schema }}.src
{% endsnapshot %}
"""


@pytest.mark.slow
class TestSnapshotsOfCharSources:
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"tracked.sql": SNAPSHOT}

    def test_make_no_versions_without_changes(self, project, table):
        project.run_sql("create table {schema}.src (id int, c char(5)) using delta")
        project.run_sql("insert into {schema}.src values (1, 'ab'), (2, 'abcde')")
        for _ in range(3):
            run = dbt("snapshot")
            assert run.status("tracked") == "success", run.message("tracked")
        assert len(table("tracked").rows("id")) == 2
        project.run_sql("update {schema}.src set c = 'x' where id = 1")
        dbt("snapshot")
        assert table("tracked").rows("id", "trimmed") == [(1, "ab"), (1, "x"), (2, "abcde")]


class TestAWideTableBySqlAlone:
    """Spark shows no more than 25 columns of a plan."""

    @pytest.fixture(scope="class")
    def models(self):
        texts = "".join(f"'x' as t{number}, " for number in range(30))
        config = "{{ config(materialized='incremental', incremental_strategy='append') }}"
        return {"wide.sql": f"{config} select {texts} 'ab' as c"}

    def test_has_its_chars_checked(self, project, table, by_sql_alone):
        declared = "".join(f"t{number} string, " for number in range(30))
        project.run_sql(f"create table {{schema}}.wide ({declared} c char(5)) using delta")
        run = dbt("run")
        assert "(string) for the column c of" in run.message("wide"), run.message("wide")
        assert table("wide").rows("c") == []


NOT_SHOWN = {
    "spark.sql.readSideCharPadding": "false",
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.maxPlanStringLength": "40",
}


class TestACharThatASettingHides:
    @pytest.fixture(scope="class")
    def models(self):
        config = "{{ config(materialized='incremental', incremental_strategy='append') }}"
        return {"hidden.sql": f"{config} select 'ab' as c"}

    @pytest.mark.parametrize("name", NOT_SHOWN)
    def test_is_checked_by_sql_alone(self, project, table, spark, by_sql_alone, name):
        project.run_sql("drop table if exists {schema}.hidden")
        project.run_sql("create table {schema}.hidden (c char(5)) using delta")
        with settings_of(spark, {name: NOT_SHOWN[name]}):
            run = dbt("run")
        assert "(string) for the column c of" in run.message("hidden"), run.message("hidden")
        assert table("hidden").rows("c") == []
