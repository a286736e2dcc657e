"""A text that is too long for a varchar column is not stored, and the error says so."""

import pytest

from tests.functional.support import dbt

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='append_new_columns', {config}) }}}}
select 1 as id, {{{{ var('text') }}}} as c, 2 as added
"""
STRATEGIES = {
    "append": "incremental_strategy='append'",
    "merge": "incremental_strategy='merge', unique_key='id'",
    "replace_where": "incremental_strategy='replace_where', incremental_predicates='id > 0'",
    "delete_and_insert": "incremental_strategy='delete+insert', unique_key='id'",
}


class TestVarcharColumns:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": MODEL.format(config=c) for name, c in STRATEGIES.items()}

    @pytest.fixture(scope="class", autouse=True)
    def _tables(self, project):
        for name in STRATEGIES:
            project.run_sql(f"create table {{schema}}.{name} (id int, c varchar(5)) using delta")
            project.run_sql(f"insert into {{schema}}.{name} values (1, 'old')")

    def test_a_longer_text_is_not_stored_and_the_rows_stay(self, table):
        run = dbt("run", text="'abcdef'")
        for name in STRATEGIES:
            assert run.status(name) == "error"
            message = run.message(name)
            assert 'Value "abcdef" exceeds' in message, message
            assert "length(c) <= 5" in message
            assert "Nothing was written.\n" in message
            assert "REPLACE_WHERE_MISMATCH" not in message
            assert table(name).rows("id", "c", "added") == [(1, "old", None)]

    def test_a_text_that_fits_is_stored_afterwards(self, table):
        run = dbt("run", text="'gr\u00f6\u00dfe'")
        for name in STRATEGIES:
            assert run.status(name) == "success", run.message(name)
            assert (1, "gr\u00f6\u00dfe", 2) in table(name).rows("id", "c", "added")


INSERTED = """
{{{{ config(materialized='incremental', file_format='{file_format}') }}}}
select 1 as id, {{{{ var('c') }}}} as c, named_struct('c', {{{{ var('nested', "'ab '") }}}}) as s
"""
JOINED = """
{{ config(materialized='table', file_format='parquet') }}
select c from {{ target.schema }}.parquet where false union all select {{ var('c') }}
"""


SHOWN = """
{% macro shown() %}
  {% for name in ['parquet', 'orc', 'delta', 'over'] %}
    {% set columns = adapter.get_columns_in_relation(ref(name)) | map(attribute='dtype') %}
    {% do log('types of ' ~ name ~ ': ' ~ columns | join('|'), info=True) %}
  {% endfor %}
{% endmacro %}
"""


class TestVarcharOfOtherFormats:
    @pytest.fixture(scope="class")
    def macros(self):
        return {"shown.sql": SHOWN}

    @pytest.fixture(scope="class")
    def models(self):
        formats = {f"{each}.sql": INSERTED.format(file_format=each) for each in ("parquet", "orc")}
        others = {"delta.sql": "select 1 as id", "over.sql": "select 1 as id"}
        return {**formats, **others, "joined.sql": JOINED}

    def test_has_the_types_of_describe_in_macros(self, project, spark):
        columns = "id int, c varchar(5), s struct<c: varchar(3)>, f char(2), p string"
        names = ("parquet", "orc", "delta", "over")
        for name in names[:-1]:
            project.run_sql(f"create table {{schema}}.{name} ({columns}) using {name}")
        project.run_sql("create view {schema}.over as select * from {schema}.parquet")
        run = dbt("run-operation", "shown")
        for name in names:
            rows = spark.sql(f"describe table {project.test_schema}.{name}").collect()
            types = "|".join(row.data_type for row in rows)
            assert f"types of {name}: {types}\n" in run.output
            project.run_sql(f"drop {'view' if name == 'over' else 'table'} {{schema}}.{name}")

    def test_has_a_whole_type_in_macros_if_describe_cuts_it(self, project):
        fields = ", ".join(f"f{n}: varchar(3)" for n in range(30))
        columns = f"c varchar(5), s struct<{fields}>"
        project.run_sql(f"create table {{schema}}.parquet ({columns}) using parquet")
        run = dbt("run-operation", "shown")
        texts = ",".join(f"f{n}:string" for n in range(30))
        assert f"types of parquet: varchar(5)|struct<{texts}>\n" in run.output
        project.run_sql("drop table {schema}.parquet")

    def test_does_not_lose_spaces_at_the_end(self, project, table):
        for name in ("parquet", "orc"):
            project.run_sql(
                f"create table {{schema}}.{name} (id int, c varchar(3), s struct<c: varchar(3)>) "
                f"using {name}"
            )
        run = dbt("run", "--exclude", "delta", "over", c="'abc '")
        for name in ("parquet", "orc", "joined"):
            assert "has the value abc  (string) for the column c of" in run.message(name)
            assert "whose type varchar(3)" in run.message(name)
        run = dbt("run", c="'ab '", nested="'abc '")
        for name in ("parquet", "orc"):
            assert "has the value abc  (string) for the column s.c of" in run.message(name)
        assert table("joined").rows() == [("ab ",)]
        run = dbt("run", c="'ab '")
        for name in ("parquet", "orc"):
            assert run.status(name) == "success", run.message(name)
            assert table(name).rows("id", "c", "s.c") == [(1, "ab ", "ab ")]


@pytest.mark.usefixtures("by_sql_alone")
class TestVarcharOfOtherFormatsBySql:
    @pytest.fixture(scope="class")
    def models(self):
        long = ", ".join(f"'f{n}', {{{{{{{{ var('c') }}}}}}}}" for n in range(30))
        return {
            "parquet.sql": INSERTED.format(file_format="parquet"),
            "long.sql": INSERTED.replace("'c', {{{{ var('nested', \"'ab '\") }}}}", long).format(
                file_format="parquet"
            ),
        }

    def test_does_not_lose_spaces_at_the_end(self, project, table):
        declared = "(id int, c char(2), s struct<c: varchar(3)>)"
        project.run_sql(f"create table {{schema}}.parquet {declared} using parquet")
        for values in ({"c": "'a'"}, {"c": "'ab'", "nested": "'abc '"}):
            run = dbt("run", "-s", "parquet", **values)
            assert "has the value a" in run.message("parquet")
        assert dbt("run", "-s", "parquet", c="'ab'").status("parquet") == "success"
        assert table("parquet").rows("id", "c", "s.c") == [(1, "ab", "ab ")]

    def test_does_not_lose_spaces_in_a_struct_whose_type_describe_cuts(self, project, table, spark):
        fields = ", ".join(f"f{n}: varchar(3)" for n in range(30))
        project.run_sql(
            f"create table {{schema}}.long (id int, c string, s struct<{fields}>) using parquet"
        )
        message = dbt("run", "-s", "long", c="'abc '").message("long")
        assert "has the value abc  (string) for the column s.f0 of" in message
        assert dbt("run", "-s", "long", c="'ab '").status("long") == "success"
        spark.sql(f"refresh table {table('long').name}")  # It was written in another session.
        assert table("long").rows("id", "s.f29") == [(1, "ab ")]
