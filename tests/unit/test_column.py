"""The kind of a column's type, for macros."""

import pytest

from dbt.adapters.deltawiden.column import DeltaWidenColumn

KINDS = ("string", "integer", "float", "numeric")


@pytest.mark.parametrize(
    ("data_type", "kind"),
    [
        ("string", "string"),
        ("string collate UTF8_LCASE", "string"),
        ("varchar(20)", "string"),
        ("char(3)", "string"),
        ("tinyint", "integer"),
        ("smallint", "integer"),
        ("int", "integer"),
        ("BIGINT", "integer"),
        ("float", "float"),
        ("double", "float"),
        ("decimal(10,2)", "numeric"),
        ("boolean", None),
        ("date", None),
        ("timestamp_ntz", None),
        ("array<string>", None),
        ("struct<a:int>", None),
        ("map<string,int>", None),
    ],
)
def test_a_type_is_of_one_kind_at_most(data_type: str, kind: str | None):
    column = DeltaWidenColumn("c", data_type)
    assert [name for name in KINDS if getattr(column, f"is_{name}")()] == ([kind] if kind else [])
    assert column.is_number() == (kind in ("integer", "float", "numeric"))


def test_no_column_is_expanded_outside_of_a_plan():
    assert not DeltaWidenColumn("c", "varchar(1)").can_expand_to(DeltaWidenColumn("c", "string"))
