"""The columns that an expression in a table's definition uses."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbt.adapters.deltawiden.sql.identifiers import Path, path_sql
from dbt.adapters.deltawiden.sql.references import referenced_paths, uses
from tests.unit.strategies import paths


def used(expression: str) -> set[str]:
    """The paths that an expression uses, as text, for names without a dot."""
    return {".".join(path) for path in referenced_paths(expression)}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("amount > 0", {"amount"}),
        ("1 > 0", set()),
        ("a between b and c + d", {"a", "b", "c", "d"}),
        ("case when a then b else c end", {"a", "b", "c"}),
        # Delta keeps a constraint as the tokens of its text with spaces between them.
        ("s . x > 0", {"s.x"}),
        ("size ( arr ) > 0", {"arr"}),
        ("a IN ( 'b' , 'c' ) AND d IS NOT NULL", {"a", "d"}),
        ("a <=> b and a rlike '\\\\d+' and not c", {"a", "b", "c"}),
        ("a -- b", {"a"}),
        ("a /* b */ > 0", {"a"}),
    ],
)
def test_the_columns_of_an_expression_are_found_and_nothing_else(expression, expected):
    assert used(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("size(arr) > 0", {"arr"}),
        ("size(size) > 0", {"size"}),
        ("date(date) > to_date(day)", {"date", "day"}),
        ("abs(-1) > count", {"count"}),
        ("current_date() > d", {"d"}),
        ("extract(year from ts) > 2000", {"ts"}),
        ("date_trunc('day', ts) < timestampadd(DAY, 1, other)", {"ts", "other"}),
    ],
)
def test_a_function_or_unit_is_no_column_unless_its_name_is_used_as_one(expression, expected):
    assert used(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("cast(a as date) > date '2020-01-01'", {"a"}),
        ("cast(date as date) > '2020-01-01'", {"date"}),
        ("date > '2020-01-01'", {"date"}),
        ("a > timestamp '2020-01-01 00:00:00'", {"a"}),
        ("cast(a as struct<b: int>).b > 0", {"a"}),
        ("a::int > 0", {"a"}),
        ("a + interval '1' day > b", {"a", "b"}),
    ],
)
def test_a_type_is_no_column_unless_its_name_is_used_as_one(expression, expected):
    assert used(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("exists(arr, x -> x > 0)", {"arr"}),
        ("exists(arr, x -> x.amount > amount)", {"arr", "amount"}),
        ("exists(arr, x -> x > 0) and x > 0", {"arr", "x"}),
        ("filter(x, x -> x > 0) is null", {"x"}),
        ("transform(m, (k, v) -> k + v + w) is null", {"m", "w"}),
        ("exists(arr, x -> exists(x.more, y -> y > x.least + z))", {"arr", "z"}),
        ("exists(arr, `x` -> `x` > 0)", {"arr"}),
        ("aggregate(arr, 0, (acc, x) -> acc + x, acc -> acc + x) > 0", {"arr", "x"}),
    ],
)
def test_a_parameter_of_a_lambda_is_no_column(expression, expected):
    assert used(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("s.x > 0", {("s", "x")}),
        ("s.a.b.c > 0", {("s", "a", "b", "c")}),
        ("s.date > 0", {("s", "date")}),
        ("m.key > 0", {("m", "key")}),
        ("arr[0].x > 0", {("arr",)}),
        ("s.arr[i].x > 0", {("s", "arr"), ("i",)}),
        ("m['k'].x > 0", {("m",)}),
        ("(s).x > 0", {("s",)}),
        ("element_at(arr, 1).x > 0", {("arr",)}),
        ("named_struct('a', b).a > 0", {("b",)}),
    ],
)
def test_a_path_goes_as_far_as_the_expression_names_fields(expression: str, expected: set[Path]):
    assert referenced_paths(expression) == expected


@pytest.mark.parametrize(
    ("expression", "path"),
    [
        ("`my col` > 0", ("my col",)),
        ("`a.b`.`c``d` > 0", ("a.b", "c`d")),
        ("s.`x y` > 0", ("s", "x y")),
        ("```` > 0", ("`",)),
        ("`select` > 0", ("select",)),
        ("`größe` > 0 or größe is null", ("größe",)),
        ("`🙂` > 0", ("🙂",)),
        ("A.`B c` > 0", ("a", "b c")),
    ],
)
def test_a_quoted_name_is_read_to_its_end(expression: str, path: Path):
    assert referenced_paths(expression) == {path}


# Every word that starts a statement can be the name of a column, without quotes too.
STATEMENTS = (
    *("alter", "analyze", "begin", "cache", "call", "comment", "commit", "copy", "create"),
    *("declare", "delete", "desc", "describe", "drop", "end", "execute", "explain", "export"),
    *("grant", "insert", "kill", "load", "merge", "optimize", "prepare", "refresh", "rename"),
    *("reset", "revoke", "rollback", "set", "show", "start", "truncate", "update", "use"),
    *("vacuum", "values"),
)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_column_named_like_a_statement_is_found(name: str):
    for expression in (f"{name} > 0", f"{name} is not null", f"abs({name}) > 0"):
        assert uses(expression, (name,)), expression


@pytest.mark.parametrize(
    "name", ["date", "timestamp", "year", "interval", "array", "map", "struct"]
)
def test_a_column_named_like_a_type_is_found(name: str):
    for expression in (f"{name} > 0", f"{name}.x > 0", f"abs({name}) > 0"):
        assert uses(expression, (name,)), expression


@given(paths)
@example(("a`b",))
@example(("\\",))
@example(("İ",))
def test_a_quoted_column_with_any_name_is_found(path: Path):
    expression = f"{path_sql(path)} > 0"
    assert uses(expression, path)
    assert uses(expression, tuple(part.lower() for part in path))


@given(paths, paths)
def test_a_quoted_column_is_the_only_one_that_is_found(path: Path, other: Path):
    folded = [tuple(part.lower() for part in column) for column in (path, other)]
    shorter = min(len(path), len(other))
    related = folded[0][:shorter] == folded[1][:shorter]
    assert uses(f"{path_sql(path)} > 0", other) == related


@pytest.mark.parametrize(
    ("expression", "path", "expected"),
    [
        ("s.x > 0", ("s", "x"), True),
        ("s.x > 0", ("s",), True),
        ("s.x > 0", ("s", "x", "y"), True),
        ("s.x > 0", ("s", "y"), False),
        ("s.x > 0", ("x",), False),
        ("s is not null", ("s", "x"), True),
        ("s is not null", ("s2",), False),
        ("size(arr) > 0", ("arr", "element"), True),
        ("arr[0].x > 0", ("arr", "element", "y"), True),
        ("m['k'] > 0", ("m", "value"), True),
        ("S.X > 0", ("s", "x"), True),
        ("s.x > 0", ("S", "X"), True),
        ("`Größe` > 0", ("GRÖSSE",), False),
        ("`GRÖẞE` > 0", ("größe",), True),
    ],
)
def test_an_expression_uses_the_paths_it_names_and_the_paths_above_and_below_them(
    expression: str, path: Path, expected: bool
):
    assert uses(expression, path) is expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a b c", {"a", "b", "c"}),
        ("amount >", {"amount"}),
        ("s.x = = y", {"s", "x", "y"}),
        ("`my col` = = `c``d`", {"my col", "c`d"}),
        ("AMOUNT = = 0", {"amount", "0"}),
        ("", set()),
    ],
)
def test_an_expression_that_cannot_be_parsed_uses_every_word(expression: str, expected: set[str]):
    assert used(expression) == expected


@pytest.mark.parametrize("depth", [10, 100])
@pytest.mark.parametrize(
    ("before", "after"), [("(", ")"), ("abs(", ")"), ("not ", ""), ("", " + 1")]
)
def test_an_expression_may_be_of_any_depth(before: str, after: str, depth: int):
    assert uses(f"{before * depth}amount{after * depth} > 0", ("amount",))


@given(st.text(st.sampled_from("ab`'\" .,()[]<>=-:?;{}%$#@\\\n/*01é🙂"), max_size=20))
def test_any_text_is_read_without_an_error(text: str):
    assert all(part == part.lower() for path in referenced_paths(text) for part in path)
