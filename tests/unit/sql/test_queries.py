import pytest

from dbt.adapters.deltawiden.sql.queries import select_from


@pytest.mark.parametrize("end", ["", ";", ";\n  ", ";;\n"])
def test_the_query_is_in_brackets_without_its_semicolons(end):
    query = select_from("id + 1", f"select 1 as id{end}")
    assert query == "select id + 1 from (\nselect 1 as id\n)"


def test_a_comment_at_the_end_of_the_query_does_not_hide_the_bracket():
    assert select_from("*", "select 1 -- one").endswith("-- one\n)")
