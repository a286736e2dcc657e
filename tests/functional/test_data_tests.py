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
SELECTED = "select tags, at, length(tags[0]) as length from {{ ref('nested') }}"


class TestStoredRows:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "nested.sql": "select array('x') as tags, map('k', 'v') as at",
            "copied.sql": SELECTED,
            "tests.yml": UNIT_TEST,
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
