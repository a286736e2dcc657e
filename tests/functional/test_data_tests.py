"""Data tests that store rows, and unit tests whose values are expressions."""

import pytest

from tests.functional.support import dbt

UNIT_TEST = """
unit_tests:
  - name: expressions
    model: copied
    given:
      - input: ref('nested')
        rows:
          - {tags: 'array("a\\\\b", ''c'')', at: 'map("k", "${spark.x}")'}
          - {tags: null}
    expect:
      rows:
        - {tags: null, at: null, length: null}
        - {tags: 'array("a\\\\b", "c")', at: 'map(''k'', concat("$", "{spark.x}"))', length: 3}
"""
OF_ONE_NAME = """
  - name: of_one_name
    model: model_{n}
    given: []
    expect:
      rows: [{{column_{n}: 1}}]
"""
SELECTED = "select tags, at, length(tags[0]) as length from {{ ref('nested') }}"


class TestStoredRows:
    @pytest.fixture(scope="class")
    def models(self):
        numbers = range(8)
        return {
            **{f"model_{n}.sql": f"select 1 as column_{n}" for n in numbers},
            "nested.sql": "select array('x') as tags, map('k', 'v') as at",
            "copied.sql": SELECTED,
            "tests.yml": UNIT_TEST + "".join(OF_ONE_NAME.format(n=n) for n in numbers),
        }

    @pytest.fixture(scope="class")
    def tests(self):
        stored = (
            "{{ config(store_failures=true) }} select length, count(*) from {{ ref('copied') }}"
        )
        return {"unnamed.sql": f"{stored} group by length having count(*) > 5"}

    def test_a_column_needs_no_name_and_a_nested_value_is_an_expression(self, project, table):
        for _ in range(2):
            build = dbt("build")
            assert build.status("expressions") == "pass", build.message("expressions")
            assert build.status("unnamed") == "pass", build.message("unnamed")

    def test_unit_tests_of_one_name_run_at_the_same_time(self, project):
        for _ in range(2):
            assert "PASS=8 " in (output := dbt("test", "--select", "of_one_name").output), output


OF_A_TEXT = """
unit_tests:
  - name: of_a_text
    model: joined
    given:
      - input: ref('ids')
        rows: [{id: 1, text: a}, {id: 2, text: b}]
    expect:
      rows: [{id: 1, text: a, name: first}]
"""


class TestUnitTestOfATextAndAVarchar:
    @pytest.fixture(scope="class")
    def models(self):
        joined = (
            "select id, text, name from {{ ref('ids') }} join {{ target.schema }}.names using (id)"
        )
        ids = "select 1 as id, 'x' as text"
        return {"ids.sql": ids, "joined.sql": joined, "tests.yml": OF_A_TEXT}

    def test_passes(self, project):
        project.run_sql("create table {schema}.names (id int, name varchar(9)) using parquet")
        project.run_sql("insert into {schema}.names values (1, 'first')")
        build = dbt("build")
        assert build.status("of_a_text") == "pass", build.message("of_a_text")


@pytest.mark.usefixtures("by_sql_alone")
class TestUnitTestOfATextAndAVarcharBySql(TestUnitTestOfATextAndAVarchar):
    pass
