"""The texts of a refusal."""

import re
import string

import pytest
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.widening.refusals import Reason, Refusal
from tests.unit.schemas import data_type

INT, DECIMAL = data_type("int"), data_type("decimal(12,2)")
ENABLE = "dbt run-operation enable_type_widening"


def words(
    reason: Reason, path: Path = ("amount",), detail: str = "", name: str = ""
) -> tuple[str, str]:
    refusal = Refusal(reason, path, INT, DECIMAL, detail, name)
    return refusal.words("`s`.`t`", "dbt run-operation widen_columns", ENABLE)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_meaning_and_a_remedy(reason: Reason):
    meaning, remedy = words(reason, detail="DETAIL")
    assert meaning
    assert remedy
    assert not re.search(r"\{\w", meaning + remedy)
    # They are parts of sentences: "Why: {meaning}."
    assert not meaning.endswith((".", ";", " "))
    assert not remedy.endswith((".", ";", " "))


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_uses_only_known_fields(reason: Reason):
    texts = (reason.meaning, reason.remedy)
    used = {field for text in texts for _, field, _, _ in string.Formatter().parse(text) if field}
    assert used <= {
        "column",
        "table",
        "from_type",
        "detail",
        "name",
        "by_hand",
        "enable",
        "rebuild",
    }


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (Reason.MANUAL, "dbt run-operation widen_columns"),
        (Reason.IMPOSSIBLE, "cast the column in the model to int"),
        (Reason.NOT_ENABLED, f"set type_widening: true on the model, or run: {ENABLE}. Programs"),
        (Reason.NOT_ENABLED, "can then no longer read the table: see docs/readers.md"),
        (Reason.TURNED_OFF, "remove that setting"),
        (Reason.DROP_NEEDS_COLUMN_MAPPING, "'delta.columnMapping.mode' = 'name'"),
        (Reason.DROP_NEEDS_COLUMN_MAPPING, "alter table `s`.`t` set tblproperties"),
        (Reason.DROP_NEEDS_COLUMN_MAPPING, "without column mapping can't read a table that has it"),
        (Reason.NAME_NEEDS_COLUMN_MAPPING, "without column mapping can't read a table that has it"),
        (
            Reason.RENAME_NEEDS_COLUMN_MAPPING,
            "without column mapping can't read a table that has it",
        ),
        (Reason.MISSING_AND_NOT_NULL, "alter table `s`.`t` alter column `amount` drop not null"),
        (Reason.MISSING_AND_PARTITIONED_BY, "--full-refresh"),
        (Reason.MODE_IS_FAIL, "append_new_columns or sync_all_columns"),
        (Reason.CONSTRAINT, "alter table `s`.`t` drop constraint `n`"),
        (Reason.CONSTRAINT, "alter table `s`.`t` add constraint `n` check (DETAIL)"),
        (Reason.GENERATED, "cast the column in the model to int"),
        (Reason.INPUT_OF_GENERATED, "alter table `s`.`t` drop column `n`"),
        (Reason.IDENTITY, "leave it out of the model"),
        (
            Reason.PREVIEW_ONLY,
            "alter table `s`.`t` set tblproperties ('delta.feature.typeWidening' = 'supported')",
        ),
        (Reason.WRITER_COMPATIBILITY, "('delta.enableIcebergWriterCompat`n`' = 'false')"),
        (Reason.WRITER_COMPATIBILITY_AND_NEW, "remove the column from the model"),
        (Reason.NOT_IN_ICEBERG, "cast the column in the model"),
        (Reason.NOT_STORABLE, "for example to string"),
        (Reason.VOID, "cast(null as ...)"),
        (
            Reason.NAME_NEEDS_COLUMN_MAPPING,
            "alter table `s`.`t` set tblproperties ('delta.columnMapping.mode' = 'name')",
        ),
        (Reason.GONE_AND_CLUSTERED_BY, "alter table `s`.`t` cluster by none"),
        (Reason.VIEW, "the table that the view selects from"),
    ],
)
def test_the_remedy_has_statements_that_can_be_copied(reason: Reason, expected: str):
    assert expected in words(reason, detail="DETAIL", name="`n`")[1]


@pytest.mark.parametrize(
    ("reason", "detail", "expected"),
    [
        (Reason.TOO_MANY_DIGITS, "41", "needs 41 digits, and the maximum is 38"),
        (Reason.NOT_DELTA, "iceberg", "not a Delta table (iceberg)"),
        (Reason.INCOMPATIBLE, "ducklake, iceberg_v2", "compatible with ducklake, iceberg_v2"),
        (Reason.ENGINE_TOO_OLD, "4.0", "Delta 4.0 or newer"),
        (Reason.CONSTRAINT, "amount > 0", "CHECK constraint `n` uses this column: amount > 0"),
        (Reason.GENERATED, "a * 10", "the type of its expression: a * 10"),
        (Reason.INPUT_OF_GENERATED, "a * 10", "column `n` is computed from this column: a * 10"),
        (Reason.NOT_STORABLE, "interval day", "of type interval day"),
        (Reason.NAME_NEEDS_COLUMN_MAPPING, "`my col`", "one of ,;{}()=: `my col`"),
        (Reason.CONSTRAINT, "a rlike '{detail}'", "a rlike '{detail}'"),
    ],
)
def test_the_meaning_contains_the_detail(reason: Reason, detail: str, expected: str):
    assert expected in words(reason, detail=detail, name="`n`")[0]


def test_a_column_in_a_statement_is_quoted_at_every_part():
    _, remedy = words(Reason.MISSING_AND_NOT_NULL, ("my col", "a`b"))
    assert "alter column `my col`.`a``b` drop not null" in remedy


def test_names_with_braces_stay_as_they_are():
    refusal = Refusal(Reason.DROP_NEEDS_COLUMN_MAPPING, ("{x}",), INT)
    assert "alter table `{s}`.`{0}` set" in refusal.words("`{s}`.`{0}`", "", "")[1]


@pytest.mark.parametrize(
    ("path", "from_type", "to_type", "subject"),
    [
        (("amount",), INT, DECIMAL, "amount: int -> decimal(12,2)"),
        (("s", "my col"), INT, DECIMAL, "s.`my col`: int -> decimal(12,2)"),
        (("new",), None, data_type(["date"]), "new: array<date>"),
        (("gone",), data_type({"a b": "int"}), None, "gone: struct<`a b`: int>"),
    ],
)
def test_the_subject_is_the_path_with_its_types(
    path: Path, from_type: DataType | None, to_type: DataType | None, subject: str
):
    assert Refusal(Reason.IMPOSSIBLE, path, from_type, to_type).subject == subject
