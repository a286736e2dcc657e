"""The types of the conformance tests, with values at their boundaries."""

from typing import NamedTuple

from pyspark.sql import types as spark


class Position(NamedTuple):
    """The position of a type in a column.

    Attributes:
        type: the column's type; ``{}`` is the type in question.
        path: the text after the column's name.
    """

    type: str
    path: str


POSITIONS = {
    "top level": Position("{}", ""),
    "struct field": Position("struct<x: {}>", ".x"),
    "array element": Position("array<{}>", ".element"),
    "map key": Position("map<{}, int>", ".key"),
    "map value": Position("map<int, {}>", ".value"),
    "field in an array": Position("array<struct<x: {}>>", ".element.x"),
    "element in a map": Position("map<int, array<{}>>", ".value.element"),
}

WIDENED = (
    "void",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(1,1)",
    "decimal(5,2)",
    "decimal(10,0)",
    "decimal(10,2)",
    "decimal(12,2)",
    "decimal(12,4)",
    "decimal(20,0)",
    "decimal(22,2)",
    "decimal(38,0)",
    "decimal(38,18)",
    "decimal(38,38)",
    "string",
    "binary",
    "boolean",
    "date",
    "timestamp",
    "timestamp_ntz",
    "varchar(5)",
    "varchar(10)",
    "char(5)",
    "char(10)",
    "variant",
)
"""Types that a Delta column can have."""


def can_stand_in(name: str, position: str) -> bool:
    """Return whether a column can have the type there. A map key can't be a variant or void."""
    return position != "map key" or name not in ("variant", "void")


def types_lacking() -> set[str]:
    """The types that the installed Spark does not have."""
    return set() if hasattr(spark, "VariantType") else {"variant"}


BOUNDARIES: dict[str, tuple[str, ...]] = {
    "void": ("null",),
    "tinyint": ("-128", "-1", "0", "127"),
    "smallint": ("-32768", "-1", "0", "32767"),
    "int": ("-2147483648", "-1", "0", "16777217", "2147483647"),
    "bigint": ("-9223372036854775808", "-1", "0", "9007199254740993", "9223372036854775807"),
    "float": (
        "'0.1'",
        "'-0.0'",
        "'16777216'",
        "'3.4028235e38'",
        "'1.4e-45'",
        "'NaN'",
        "'-Infinity'",
    ),
    "double": (
        "'0.1'",
        "'1.123456789012'",
        "'9007199254740992'",
        "'1.7976931348623157e308'",
        "'4.9e-324'",
        "'NaN'",
        "'Infinity'",
    ),
    "decimal(2,0)": ("-99", "0", "99"),
    "decimal(4,0)": ("-9999", "9999"),
    "decimal(5,2)": ("-999.99", "0.01", "999.99"),
    "decimal(7,0)": ("-9999999", "9999999"),
    "decimal(8,0)": ("-99999999", "16777217", "99999999"),
    "decimal(9,0)": ("-999999999", "999999999"),
    "decimal(10,2)": ("-99999999.99", "0.01", "99999999.99"),
    "decimal(12,4)": ("-99999999.9999", "0.0001", "99999999.9999"),
    "decimal(15,0)": ("-999999999999999", "999999999999999"),
    "decimal(16,0)": ("-9999999999999999", "9007199254740993"),
    "decimal(18,0)": ("-999999999999999999", "999999999999999999"),
    "decimal(19,0)": ("-9999999999999999999", "9999999999999999999"),
    "decimal(20,0)": ("-99999999999999999999", "99999999999999999999"),
    "decimal(38,0)": ("99999999999999999999999999999999999999",),
    "decimal(38,38)": ("0.00000000000000000000000000000000000001",),
    "string": ("''", "'a'", "'9'", "'größe'"),
    "binary": ("X''", "X'61'", "X'FFFE'"),
    "boolean": ("true", "false"),
    "date": ("date'0001-01-01'", "date'1582-10-15'", "date'2024-03-10'", "date'9999-12-31'"),
    # New York had no 02:30 on 10 March 2024, and 01:30 twice on 3 November.
    "timestamp": (
        "timestamp'2024-01-01 10:11:12.123456Z'",
        "timestamp'2024-11-03 01:30:00-04:00'",
        "timestamp'2024-11-03 01:30:00-05:00'",
    ),
    "timestamp_ntz": (
        "timestamp_ntz'2024-01-01 10:11:12.123456'",
        "timestamp_ntz'2024-03-10 02:30:00'",
        "timestamp_ntz'2024-11-03 01:30:00'",
    ),
    "interval day to second": ("interval '1 02:03:04.5' day to second",),
    "interval year to month": ("interval '1-2' year to month",),
    "variant": ("parse_json('{\"a\": 1}')", "parse_json('1')"),
}
"""Values of a type, as SQL that casts to it exactly."""

STORED = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(5,2)",
    "decimal(10,0)",
    "decimal(12,2)",
    "decimal(12,4)",
    "decimal(19,0)",
    "decimal(38,18)",
    "string",
    "binary",
    "boolean",
    "date",
    "timestamp",
    "timestamp_ntz",
    "variant",
)
"""Types of the Delta columns that the boundary values are written to."""
