import pytest

from dbt.adapters.deltawiden.sql.queries import select_from


@pytest.mark.parametrize("query", ["select 1 as id", "select 1 as id;", "select 1 as id;\n  "])
def test_the_query_is_in_brackets_without_its_semicolon(query):
    assert select_from("id + 1", query) == "select id + 1 from (\nselect 1 as id\n)"


def test_a_comment_at_the_end_of_the_query_does_not_hide_the_bracket():
    assert select_from("*", "select 1 -- one").endswith("-- one\n)")
