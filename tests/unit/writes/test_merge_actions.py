"""The assignments of an `update set` clause."""

import pytest

from dbt.adapters.deltawiden.writes.merge_actions import Assignment, read_assignments


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t.a = 'x'", [("t.a", "'x'")]),
        ("a = 'del,eted', b = f(1, 2)", [("a", "'del,eted'"), ("b", "f(1, 2)")]),
        ("t . `my col` = 1", [("t.`my col`", "1")]),
        ("t.`a,``b`.c = b = 1", [("t.`a,``b`.c", "b = 1")]),
        (
            "a = case when x = 1 then 2 else f(a, b) end",
            [("a", "case when x = 1 then 2 else f(a, b) end")],
        ),
        (
            "a = array(1, 2)[0], b = map('k', 1)['k']",
            [("a", "array(1, 2)[0]"), ("b", "map('k', 1)['k']")],
        ),
        ("a = 'it\\'s, so' -- , c = 1\n, b = 2", [("a", "'it\\'s, so'"), ("b", "2")]),
    ],
)
def test_assignments_are_split_at_their_own_commas(text: str, expected: list[tuple[str, str]]):
    assert read_assignments(text) == [Assignment(*pair) for pair in expected]


@pytest.mark.parametrize("text", ["a", "= 1", "a =", "a = 1,", "a = 1, b", "*"])
def test_what_is_no_assignment_is_an_error_that_shows_it(text: str):
    with pytest.raises(ValueError, match="is not of the form column = expression: "):
        read_assignments(text)


def test_a_text_that_does_not_end_is_an_error():
    with pytest.raises(ValueError, match="can't be read: a = 'x"):
        read_assignments("a = 'x")
