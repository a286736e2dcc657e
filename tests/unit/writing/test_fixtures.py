"""The values in the rows of a unit test that a cast would change."""

from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.writing.fixtures import check_fixture, is_changed

# Each as in YAML: a text is quoted there, or comes from a CSV file.
NULLS = ["", " ", "null", "NULL"]


@pytest.mark.parametrize(
    ("column", "kept", "changed"),
    [
        ("tinyint", [1, 127, "1", " 1 ", 1.0, True, *NULLS], [128, "128", 1.5, "abc", "1e2"]),
        ("int", [-5, 1e3, "+7", "7.0"], [5000000000, "5000000000", 7.5, "7.5", "true"]),
        ("bigint", [1, 5000000000, 1e18, float("inf")], [1e19, "9223372036854775808"]),
        (
            "decimal(8,2)",
            [1, 1.2, "1.20", 1.24, "1e2", 0.0, "-7", float("nan"), *NULLS],
            [1.2367, "1.2367", 1e7, "1000000", "1,5", "NaN"],
        ),
        (
            "double",
            [
                1,
                0.1,
                1.2367,
                "0.333333333333333333333",
                "1e308",
                "-Infinity",
                "nan",
                "1.5d",
                "0x1p3",
            ],
            ["abc", "1,5", "1_0"],
        ),
        ("float", [16777217, 0.1, "1.23456789", "inf", "3f"], ["1.5.1", "x"]),
        ("boolean", ["true", "F", "yes", "0", 1, 5, True], ["2", "truth"]),
        (
            "date",
            [
                *(
                    "2024-02-29",
                    "2024-2-9",
                    "2024",
                    "2024-05",
                    "2024-01-01 00:00:00",
                    "2024-01-01T",
                ),
                *("2024-01-01 00:00:00-08:00", "12024-01-01", "-2024-01-01", "0000-01-01", *NULLS),
                *("today", "Tomorrow", "epoch"),
            ],
            [
                *(
                    "2023-02-29",
                    "2024-13-01",
                    "2024-01-01 10:00",
                    "01/31/2024",
                    "20240101",
                ),
                *("10:11", "2024-01-01x", "2024/01/01"),
            ],
        ),
        (
            "timestamp",
            [
                *("2024-01-01", "2024", "2024-01-01T10:11", "2024-01-01 10:11:12.1234567", "10:11"),
                *(
                    "2024-01-01 10:11:12 Europe/Paris",
                    "2013-11-03 00:00:00-0",
                    "2024-01-01 1:1 PST",
                ),
                *(
                    "T10:11:12",
                    "T10",
                    "2024-01-01 10",
                    "9999-12-31 23:59:59",
                    "now",
                    "epoch UTC",
                    *NULLS,
                ),
            ],
            ["abc", "2024-13-45", "2024-01-01 24:00:00", "31.12.2024", "1704067200000"],
        ),
        ("timestamp_ntz", ["2024-01-01", "2013-11-03 00:00:00-0"], ["x", "2024-02-30 10:00"]),
        ("string", [1, "abc", 1.5, True], []),
        ("varchar(2)", ["abc"], []),
        ("binary", ["abc"], []),
        ("array<int>", ["abc", 'array("a")'], []),
        ("a type of tomorrow", ["abc", 1.5], []),
    ],
)
def test_a_value_is_changed_only_if_its_cast_makes_another_one(
    column: str, kept: list[Any], changed: list[Any]
):
    def rendered(value: Any) -> Any:
        return literal(value) if isinstance(value, str) else value

    assert [value for value in kept if is_changed(rendered(value), column)] == []
    assert [value for value in changed if not is_changed(rendered(value), column)] == []


def test_an_expression_is_no_value():
    assert not is_changed("null", "int")
    assert not is_changed("amount", "int")
    assert not is_changed("upper('abc')", "int")


def in_macros(*called: str, kind: str = "unit_test", **config: Any) -> dict[str, Any]:
    return {
        "context_macro_stack": SimpleNamespace(call_stack=list(called)),
        "model": {"name": "of_amounts", "resource_type": kind},
        "config": config,
    }


FORMAT_ROW = "macro.dbt.format_row"


def test_the_error_names_the_place_the_value_the_column_and_the_type():
    rows = [{"id": 1, "amount": 1.2367}, {"id": 2}]
    with pytest.raises(CompilationError) as error:
        check_fixture(in_macros(FORMAT_ROW, expected_rows=rows), 1.2367, "decimal(8,2)")
    assert str(error.value.msg).startswith(
        "In this unit test, of_amounts expects the value 1.2367 for the column amount of type "
        "decimal(8,2). Spark would make another value of it, or null"
    )
    with pytest.raises(CompilationError) as error:
        check_fixture(in_macros(FORMAT_ROW, kind="model"), "'abc'", "int")
    assert "the input of_amounts has the value 'abc' for a column of type int" in error.value.msg


def test_a_model_may_cast_as_it_likes():
    check_fixture(in_macros("macro.dbt.safe_cast"), "'abc'", "int")
