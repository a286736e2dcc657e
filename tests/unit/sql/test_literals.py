"""Values of a seed as literals of Spark SQL."""

import math
import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.deltawiden.sql.literals import literal
from tests.unit.strategies import many_examples

# The escape sequences of a literal. Before any other character a backslash means nothing.
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}


def read_text(text: str) -> str:
    """Read a text literal as Spark does."""
    assert text[0] == text[-1] == "'"
    value, rest = "", text[1:-1]
    while rest:
        assert rest[0] != "'", "the literal ends before its last character"
        if rest[0] != "\\":
            value, rest = value + rest[0], rest[1:]
        elif code := re.match(r"\\u([0-9a-fA-F]{4})", rest):
            value, rest = value + chr(int(code[1], 16)), rest[6:]
        else:
            assert len(rest) > 1, "the last quote is escaped"
            kept = "\\" if rest[1] in "%_" else ""
            value, rest = value + kept + ESCAPES.get(rest[1], rest[1]), rest[2:]
    return value


@many_examples
@given(st.one_of(st.text(), st.text("'\\%_nu0{$}")))
def test_a_text_is_read_back_as_it_was(text: str):
    assert read_text(literal(text)) == text


@pytest.mark.parametrize("text", ["it's", "\\", "\\'", "'; drop table t; --", "a\nb", "\\u0041"])
def test_no_text_ends_its_literal_early(text: str):
    assert read_text(literal(text)) == text


@pytest.mark.parametrize("text", ["${env:HOME}", "${spark.app.name}", "a ${system:user.name} b"])
def test_a_text_holds_nothing_that_spark_would_substitute(text: str):
    # Spark replaces ${...} in a statement before it parses it, inside of literals too.
    assert "${" not in literal(text)
    assert read_text(literal(text)) == text


@given(st.integers())
def test_an_integer_is_its_digits(number: int):
    assert literal(number) == str(number)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_keeps_every_digit_and_has_no_exponent(number: Decimal):
    text = literal(number)
    assert re.fullmatch(r"-?\d+(\.\d+)?", text)
    assert Decimal(text) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [("1.10", "1.10"), ("1E+3", "1000"), ("1E-3", "0.001"), ("-0.5", "-0.5")],
)
def test_a_decimal_keeps_its_scale(number: str, text: str):
    assert literal(Decimal(number)) == text


@given(st.floats())
def test_a_float_is_read_back_to_the_last_bit(number: float):
    text = re.fullmatch(r"double\('([^']+)'\)", literal(number))
    assert text
    back = float(text[1])
    assert back == number or (math.isnan(back) and math.isnan(number))
    assert math.copysign(1, back) == math.copysign(1, number) or math.isnan(number)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1, "1"),
        ("", "''"),
        ("größe", "'größe'"),
        (date(2024, 2, 29), "'2024-02-29'"),
        (datetime(2024, 2, 29, 10, 11, 12), "'2024-02-29 10:11:12'"),
        (datetime(2024, 2, 29, 10, 11, 12, 123456), "'2024-02-29 10:11:12.123456'"),
        (
            datetime(2024, 2, 29, 10, 11, 12, tzinfo=timezone(timedelta(hours=-5))),
            "'2024-02-29 10:11:12-05:00'",
        ),
    ],
)
def test_every_kind_of_value_has_its_literal(value: Any, text: str):
    assert literal(value) == text


@given(st.one_of(st.datetimes(), st.dates()))
def test_a_time_is_read_back_to_the_microsecond(moment: date):
    assert type(moment).fromisoformat(literal(moment).strip("'")) == moment
