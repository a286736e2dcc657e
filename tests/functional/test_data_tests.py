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


AMOUNTS = """
select 1 as id, cast(1.2367 as decimal(6,4)) as amount, 5000000000 as n, '2024-01-01' as at
"""
CAST = """
select id, cast(amount as decimal(8,2)) as amount, cast(n as int) as n, cast(at as date) as day,
  cast(at as timestamp) as at, {{ dbt.safe_cast("'abc'", 'int') }} as no_number
from {{ ref('amounts') }}
"""
OF_CASTS = """
  - name: {name}
    model: casts
    given: [{{input: ref('amounts'), rows: [{{id: 1, amount: {given}, n: 7, at: '2024-01-01'}}]}}]
    expect: {{rows: [{{id: 1, {expected}}}]}}
"""
CASES = {
    "of_kept_values": (
        "1.2367",
        "amount: 1.24, n: 7, day: 2024-01-01, at: '2024-01-01', no_number: null",
    ),
    "of_equal_texts": (
        "'1.236700'",
        "amount: '1.240', n: '7.0', day: '2024-01-01 00:00:00', at: '2024-1-1 00:00'",
    ),
    "of_a_rounded_value": ("1.2367", "amount: 1.2367"),
    "of_an_overflow": ("1.2367", "n: 4294967303"),
    "of_no_number": ("1.2367", "no_number: abc"),
    "of_no_day": ("1.2367", "at: 01.01.2024"),
    "of_a_rounded_input": ("1.23671", "amount: 1.24"),
}


class TestUnitTestsWhoseValuesACastWouldChange:
    @pytest.fixture(scope="class")
    def models(self):
        tests = (OF_CASTS.format(name=name, given=g, expected=e) for name, (g, e) in CASES.items())
        return {
            "amounts.sql": AMOUNTS,
            "casts.sql": CAST,
            "tests.yml": f"unit_tests:{''.join(tests)}",
        }

    @pytest.fixture(scope="class")
    def built(self, project):
        dbt("run", "--select", "amounts")
        return dbt("test")

    def test_values_that_a_cast_keeps_are_compared(self, built):
        for name in ("of_kept_values", "of_equal_texts"):
            assert built.status(name) == "pass", built.message(name)

    @pytest.mark.parametrize(
        ("name", "error"),
        [
            ("of_a_rounded_value", "value 1.2367 for the column amount of type decimal(8,2)"),
            ("of_an_overflow", "value 4294967303 for the column n of type int"),
            ("of_no_number", "value 'abc' for the column no_number of type int"),
            ("of_no_day", "value '01.01.2024' for the column at of type timestamp"),
            ("of_a_rounded_input", "input amounts has the value 1.23671 for a column of type"),
        ],
    )
    def test_a_value_that_a_cast_would_change_is_an_error(self, built, name, error):
        assert built.status(name) == "error", built.message(name)
        assert error in " ".join(built.message(name).split())
