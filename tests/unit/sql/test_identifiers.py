"""Names as SQL identifiers. Any text stays one name."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbt.adapters.deltawiden.sql.identifiers import (
    columns_sql,
    name_sql,
    parse_path,
    path_sql,
    path_text,
    quote,
    quote_once,
    read_name,
)
from tests.unit.strategies import many_examples, paths


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("a", "`a`"), ("a.b", "`a.b`"), ("my col", "`my col`"), ("`", "````"), ("a`b", "`a``b`")],
)
def test_a_name_is_quoted_in_backticks_and_its_backticks_are_doubled(name: str, quoted: str):
    assert quote(name) == quoted


@many_examples
@given(paths)
@example(("`", "``", "a`.`b"))
def test_a_path_can_be_read_back_from_its_sql(path: tuple[str, ...]):
    assert parse_path(path_sql(path)) == path


@many_examples
@given(paths)
@example((" a ", "1", "select"))
def test_a_path_can_be_read_back_from_its_text(path: tuple[str, ...]):
    assert parse_path(path_text(path)) == path


@given(st.text("`"))
def test_a_name_of_backticks_alone_is_quoted_into_an_even_number_of_them(backticks: str):
    assert quote(backticks) == "`" * (2 * len(backticks) + 2)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("amount", ("amount",)),
        ("s.x", ("s", "x")),
        ("m.value.`my col`", ("m", "value", "my col")),
        ("`a.b`.c", ("a.b", "c")),
        ("straße.größe", ("straße", "größe")),
        ("my col", ("my col",)),
        ("s . x", ("s", "x")),
    ],
)
def test_a_path_is_read_as_people_write_it(text: str, path: tuple[str, ...]):
    assert parse_path(text) == path


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "`a", "a`b`", "`a`b", "``", "` ``"])
def test_a_text_that_is_not_a_path_is_refused_and_named(text: str):
    with pytest.raises(ValueError, match="is not a name") as refused:
        parse_path(text)
    assert f"'{text}'" in str(refused.value)


@pytest.mark.parametrize("text", [" ", "a. ", " .a", "a. .b"])
def test_a_part_of_spaces_alone_is_an_empty_part_and_refused(text: str):
    with pytest.raises(ValueError, match="is not a name"):
        parse_path(text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("amount",), "amount"),
        (("s", "x_1"), "s.x_1"),
        (("a.b", "c"), "`a.b`.c"),
        (("my col",), "`my col`"),
        (("1st",), "`1st`"),
        (("größe",), "`größe`"),
        (("a`b",), "`a``b`"),
    ],
)
def test_a_path_is_shown_with_quotes_only_if_a_part_needs_them(path, text: str):
    assert path_text(path) == text


BROKEN = ["`", "``", "`a", "`a`b`", "a; drop x", "`a` = 1 or `b`", "a) as select 1 --", "a/*"]
STANDS = ["orders", "_x1", "s.id", "catalog.sales", "`my col`", "`a``b`.c", "delta.`/data/a-b`"]


@pytest.mark.parametrize("name", STANDS)
def test_a_name_that_spark_reads_as_one_stays_as_its_author_wrote_it(name: str):
    assert quote_once(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "my-col", "1e5", "a b", "a.", ".a", "a..b", "straße", "a\n", "x\x00", *BROKEN],
)
def test_any_other_name_is_quoted_as_a_whole(name: str):
    assert quote_once(name) == quote(name)


@pytest.mark.parametrize(
    ("name", "path", "sql"),
    [
        ("s.größe", ("s", "größe"), "`s`.`größe`"),
        ("straße.x", ("straße", "x"), "`straße`.`x`"),
        ("stats.2024", ("stats", "2024"), "`stats`.`2024`"),
        ("`my col`.1st", ("my col", "1st"), "`my col`.`1st`"),
        ("2024", ("2024",), "`2024`"),
        ("s.my-field", ("s.my-field",), "`s.my-field`"),
    ],
)
def test_a_path_of_words_is_one_though_spark_needs_quotes(name: str, path, sql: str):
    assert (read_name(name), quote_once(name), name_sql(name)) == (path, sql, sql)
    assert columns_sql([name]) == sql


@many_examples
@given(st.text(min_size=1))
def test_a_name_that_is_quoted_once_stays_so(name: str):
    assert quote_once(quote_once(name)) == quote_once(name)


@many_examples
@given(st.text("ab`.-;' ()", min_size=1))
def test_a_quoted_name_is_one_path(name: str):
    assert path_sql(parse_path(quote_once(name)))


def test_every_part_of_a_relation_is_quoted_and_a_path_stays_one():
    assert name_sql("sales", "my-orders") == "`sales`.`my-orders`"
    assert name_sql("catalog.sales", "orders") == "`catalog`.`sales`.`orders`"
    assert name_sql("delta", "`/data/a``b`") == "`delta`.`/data/a``b`"


@pytest.mark.parametrize(
    ("given", "sql"),
    [
        ("day", "day"),
        ("day, hour", "day, hour"),
        (["day", "hour"], "day, hour"),
        (["day,hour"], "`day,hour`"),
        ("`my,day`, hour", "`my,day`, hour"),
        (["my-day", "hour"], "`my-day`, hour"),
        ("days(ts), bucket(16, id)", "days(ts), bucket(16, id)"),
        (["bucket(16, `my id`)"], "bucket(16, `my id`)"),
        ("my-day, hour", "`my-day, hour`"),
        ("a) as select 1 --", "`a) as select 1 --`"),
        ("days(ts)) location '/x' --", "`days(ts)) location '/x' --`"),
        ("größe, s.2024", "`größe`, `s`.`2024`"),
        ("a,", "`a,`"),
        ([], ""),
    ],
)
def test_a_list_of_columns_is_read_as_its_author_wrote_it(given: str | list[str], sql: str):
    assert columns_sql(given) == sql
