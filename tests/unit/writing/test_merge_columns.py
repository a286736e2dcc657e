"""The columns that a MERGE updates."""

from dataclasses import dataclass

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.column import DeltaWidenColumn
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.writing.merge import merge_update_columns


@dataclass
class Column:
    column: str
    in_source: bool = True

    @property
    def quoted(self) -> str:
        return quote(self.column)


COLUMNS = [Column("id"), Column("Amount"), Column("my col"), Column("gone", in_source=False)]


@pytest.mark.parametrize(
    ("included", "excluded", "expected"),
    [
        (None, None, None),
        ([], "", None),
        ("amount", None, ["`Amount`"]),
        (["AMOUNT", "my col"], None, ["`Amount`", "`my col`"]),
        ("`my col`", None, ["`my col`"]),
        ("amount.x", None, ["amount.x"]),
        (None, "id", ["`Amount`", "`my col`"]),
        (None, ["gone", "Amount"], ["`id`", "`my col`"]),
    ],
)
def test_columns_are_included_or_excluded(included, excluded, expected):
    assert merge_update_columns(included, excluded, COLUMNS) == expected


def test_a_column_that_is_not_written_can_be_excluded():
    assert merge_update_columns(None, ["ID", "Made"], COLUMNS[:2], ["made"]) == ["`Amount`"]
    assert merge_update_columns(None, "made", COLUMNS[:2], ["made"]) == ["`id`", "`Amount`"]
    assert merge_update_columns(None, ["id", "amount"], COLUMNS[:2]) == []


@pytest.mark.parametrize(
    ("included", "excluded", "message"),
    [
        ("id", "amount", "cannot specify merge_update_columns and merge_exclude_columns"),
        ("amuont", None, "merge_update_columns: there is no column amuont; there are id, Amount"),
        ("gone", None, "merge_update_columns: there is no column gone"),
        (None, ["id", "amount.x"], "merge_exclude_columns: amount.x is a field, which"),
        (None, ["id", "amuont"], "merge_exclude_columns: there is no column amuont"),
    ],
)
def test_an_unknown_column_is_an_error(included, excluded, message: str):
    with pytest.raises(CompilationError) as error:
        merge_update_columns(included, excluded, COLUMNS)
    assert message in error.value.msg


def test_a_column_of_dbt_does_not_say_whether_the_model_has_it():
    columns = [
        DeltaWidenColumn(column="id", dtype="int"),
        DeltaWidenColumn(column="n", dtype="int"),
    ]
    assert merge_update_columns(None, "id", columns) == ["`n`"]
