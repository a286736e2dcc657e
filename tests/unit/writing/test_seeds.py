"""The texts of a seed file that a column stores exactly."""

from decimal import Decimal
from zoneinfo import ZoneInfo

import agate
import pytest
from dbt_common.clients.agate_helper import from_csv
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import IntegerType

from dbt.adapters.deltawiden.sql.types import parse_type, type_text
from dbt.adapters.deltawiden.writing.seeds import (
    SeedRefused,
    _exact_type,
    _zone,
    check_seed,
    seed_values,
    text_check,
)


@pytest.mark.parametrize(
    ("column", "stored", "refused"),
    [
        ("tinyint", ["127", "-128", "+7", " 7 ", "7.00"], ["128", "-129", "7.1", "1e1", "", "x"]),
        ("bigint", ["9223372036854775807", "-9223372036854775808"], ["9223372036854775808"]),
        (
            "decimal(4,2)",
            ["12.34", "12.340", ".5", "1e1", "0.00e9"],
            ["100", "1.234", "1e2", "NaN"],
        ),
        ("decimal(38,0)", ["9" * 38], ["9" * 39, "0.5"]),
        (
            "double",
            ["0.1", "1e308", "1234567890123456", "NaN", "-Infinity", "0.5000000000000000000"],
            ["1e309", "0.12345678901234567", "9007199254740993", "1_0", "0x1"],
        ),
        ("float", ["0.1", "16777216", "3.4028235e38", "inf"], ["16777217", "1e39", "0.123456789"]),
        ("boolean", ["true", "F", "yes", "0"], ["2", "truth"]),
        (
            "date",
            ["2024-02-29", "2024-2-9"],
            ["2023-02-29", "2024-13-01", "2024-01-01 10:00", "2024"],
        ),
        (
            "timestamp",
            [
                "2024-01-01",
                "2024-01-01T10:11",
                "2024-01-01 10:11:12.123456Z",
                "2024-01-01 10:11:12 Europe/Paris",
                "2024-01-01 10:11:12+02:00",
                "2024-01-01 10:11:12-18:00",
                "9999-12-31 23:59:59",
            ],
            [
                *("2024-01-01 25:00", "2024-01-01 10:11:12.1234567", "2024-01-01 x", "10:11"),
                # Spark reads a zone after seconds only.
                *("2024-01-01T10:11Z", "2024-01-01 10:11+02:00", "2024-01-01T"),
                *("2024-01-01 10:11:12 America/NewYork", "2024-01-01 10:11:12+18:01"),
                *("2024-01-01 10:11:12+530", "2024-01-01 10:11:12+02:60"),
                "2024-03-31 02:30:00 Europe/Paris",
            ],
        ),
        ("timestamp_ntz", ["2024-01-01 10:11:12"], ["2024-01-01 10:11:12Z"]),
        ("char(2)", ["ab"], ["a", "abc"]),
        ("varchar(2)", ["", "ab"], ["abc"]),
        ("string", ["", "anything"], []),
    ],
)
def test_a_column_stores_the_value_of_a_text(column, stored, refused):
    is_exact = text_check(parse_type(column))
    assert [text for text in stored if not is_exact(text)] == []
    assert [text for text in refused if is_exact(text)] == []


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("int", "7\u00a0"),
        ("int", "\uff17"),
        ("decimal(4,2)", "\u0661.5"),
        ("double", "1.5\u2003"),
        ("double", "\u0131nf"),
        ("boolean", "true\u00a0"),
        ("date", "\uff12024-01-01"),
        ("timestamp", "2024-01-01 10:11:12\u00a0Z"),
        ("timestamp_ntz", "2024-01-01 10:11:1\uff12"),
    ],
)
def test_a_text_with_spaces_and_digits_that_spark_does_not_read_is_refused(column, text):
    assert not text_check(parse_type(column))(text)


def test_a_time_that_the_zone_of_the_session_skips_is_none_of_a_timestamp():
    skipped = "2024-03-10 02:30:00"
    new_york = ZoneInfo("America/New_York")
    is_exact = text_check(parse_type("timestamp"), new_york)
    assert not is_exact(skipped)
    for kept in (f"{skipped} Z", "2024-03-10 03:30:00", "2024-11-03 01:30:00", "2024-03-10"):
        assert is_exact(kept)
    # Outside of Python's range in UTC.
    assert is_exact("9999-12-31 23:59:59")
    assert text_check(parse_type("timestamp"), ZoneInfo("Asia/Tokyo"))("0001-01-01")
    assert text_check(parse_type("timestamp"), None)(skipped)
    assert text_check(parse_type("timestamp_ntz"), new_york)(skipped)


@pytest.mark.parametrize(
    ("declared", "texts", "exact"),
    [
        ("int", ["1", "3000000000"], "bigint"),
        ("bigint", ["-12345678901234567890", "1"], "decimal(20,0)"),
        ("int", ["7.9", "-10"], "decimal(3,1)"),
        ("decimal(4,2)", ["0.001", "99"], "decimal(5,3)"),
        ("float", ["62.3888186", "0.5"], "double"),
        ("float", ["0.12345678901234567"], "decimal(17,17)"),
        ("int", ["1e300"], "double"),
        ("int", ["2024-01-02"], "date"),
        ("date", ["2024-01-02 10:11:12"], "timestamp_ntz"),
        ("int", ["1", "abc"], "string"),
        ("date", ["2024-13-45"], "string"),
        ("varchar(2)", ["abc"], "string"),
    ],
)
def test_another_type_is_named_that_stores_every_text(declared, texts, exact):
    assert type_text(_exact_type(texts, parse_type(declared))) == exact


def test_a_zone_of_the_session_that_python_does_not_know_is_refused():
    assert _zone("UTC") is not None
    assert _zone("+02:00") is None
    with pytest.raises(DbtRuntimeError, match="Python does not know PST"):
        _zone("PST")


def test_texts_are_those_of_the_file(tmp_path):
    file = tmp_path / "texts.csv"
    lines = [
        b"\xef\xbb\xbfa,b,c",
        b'"x\r\ny",1,"x\r\ny"',
        b'"x\ny\rz"',
        b" x ,1e2, x ",
        b"null,,NULL",
    ]
    lines += [b" , , ", b"", b'"\r\n",1," \n x"']
    file.write_bytes(b"\r\n".join(lines) + b"\r\n")
    table = from_csv(str(file), ["c"])
    table.original_abspath = str(file)
    values = seed_values({"config": {"column_types": {"c": "string"}}}, table)
    assert values == [
        ["x\r\ny", "1", "x\r\ny"],
        ["x\ny\rz", None, None],
        [" x ", "100", " x "],
        [None, None, None],
        [None, None, None],
        [None, None, None],
        [None, "1", " \n x"],
    ]


@pytest.mark.parametrize(
    ("texts", "inferred", "refused", "number"),
    [
        (["02134", "10001"], "bigint", [2], "bigint"),
        (["1", " -007", "+4930123"], "bigint", [3, 4], "bigint"),
        (["00.5", "1.25"], "double", [2], "double"),
        (["007", "12345678901234567890"], "bigint", [2, 3], "decimal(20,0)"),
    ],
)
def test_a_number_that_can_be_a_code_needs_a_type(tmp_path, texts, inferred, refused, number):
    file = tmp_path / "codes.csv"
    file.write_text("\n".join(["c", *texts]), encoding="utf-8")

    def check(declared: dict[str, str], type_: str) -> None:
        table = from_csv(str(file), declared)
        table.original_abspath = str(file)
        config = {"column_types": declared}
        seed = {"config": config, "unique_id": "seed.test.codes", "original_file_path": "codes.csv"}
        check_seed(seed, table, {"c": type_}, fetch_rows=lambda query: [])

    with pytest.raises(SeedRefused) as raised:
        check({}, inferred)
    found = str(raised.value)
    assert [line for line in range(2, 5) if f"line {line}, column c:" in found] == refused
    assert f'{{"c": "string"}} stores all of column c, and {{"c": "{number}"}} its' in found
    for type_ in ("string", number):
        check({"c": type_}, type_)
        # dbt parses the values of this column.
        check({"C": type_}, type_)


@pytest.mark.parametrize(
    ("text", "type_", "is_stored"),
    [
        ("1e3", "bigint", True),
        (" -15E2\t", "bigint", True),
        ("1.50e1", "double", True),
        ("9223372036854775807e0", "bigint", True),
        ("1e19", "bigint", False),
        ("1e500", "double", False),
        ("12345678901234567890123456789e1", "double", False),
        ("+1e3", "bigint", False),
        ("50%", "bigint", False),
        ("$5", "bigint", False),
        ('"1,000"', "bigint", False),
    ],
)
def test_a_number_with_an_exponent_is_stored_as_the_digits_it_means(
    tmp_path, text, type_, is_stored
):
    file = tmp_path / "numbers.csv"
    file.write_text(f"n,m\n{text},1\n", encoding="utf-8")

    def check(declared: dict[str, str]) -> None:
        table = from_csv(str(file), list(declared))
        table.original_abspath = str(file)
        seed = {"config": {"column_types": declared}, "unique_id": "seed.test.numbers"}
        seed["original_file_path"] = "numbers.csv"
        check_seed(seed, table, {"n": type_, "m": "int"}, fetch_rows=lambda query: [])
        ((written, _),) = seed_values(seed, table)
        assert Decimal(written) == Decimal(text.strip())
        assert "e" not in written.lower()

    if is_stored:
        check({})
    else:
        with pytest.raises(SeedRefused):
            check({})
    # The text of the file is written to a column that has a type.
    if type_ == "bigint":
        with pytest.raises(SeedRefused):
            check({"n": type_})


def test_texts_that_are_no_codes_need_no_type(tmp_path):
    file = tmp_path / "others.csv"
    file.write_text("a,b,c,d,e,f\n0,0.5,-0.5,0e1,2024-01-01,02134 Boston\n", encoding="utf-8")
    table = from_csv(str(file), [])
    table.original_abspath = str(file)
    types = dict(zip("abcdef", ["bigint", *["double"] * 3, "date", "string"], strict=True))
    seed = {"config": {}, "unique_id": "seed.test.others", "original_file_path": "others.csv"}
    assert len(check_seed(seed, table, types, fetch_rows=lambda query: [])) == len(types)


def test_a_seed_without_its_rows_for_an_empty_run_is_checked(tmp_path):
    """As dbt-core 1.12 passes one to ``dbt seed --empty``."""
    file = tmp_path / "numbers.csv"
    file.write_text("n\n1\n", encoding="utf-8")
    table = agate.Table.from_csv(str(file)).limit(0)
    table.original_abspath = str(file)
    seed = {"config": {}, "unique_id": "seed.test.numbers"}
    assert check_seed(seed, table, {"n": "int"}, fetch_rows=lambda query: []) == [IntegerType()]
    assert seed_values(seed, table) == []
