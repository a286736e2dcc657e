"""What blocks a change of a column's type, and all blockers of a change together."""

import pytest

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import by_hand, details, make_plan, policy, reasons, table_snapshot

# The preview of type widening

PREVIEW = frozenset({"typeWidening-preview"})
STABLE = frozenset({"typeWidening"})


@pytest.mark.parametrize(
    ("table", "source", "features", "refused"),
    [
        ("int", "bigint", PREVIEW, True),
        ("float", "double", PREVIEW, True),
        ("decimal(10,2)", "decimal(12,2)", PREVIEW, True),
        ("date", "timestamp_ntz", PREVIEW, True),
        ("tinyint", "bigint", PREVIEW, True),
        ("tinyint", "smallint", PREVIEW, False),
        ("tinyint", "int", PREVIEW, False),
        ("smallint", "int", PREVIEW, False),
        ("varchar(5)", "varchar(10)", PREVIEW, False),
        ("void", "bigint", PREVIEW, False),
        ("int", "bigint", PREVIEW | STABLE, False),
        ("int", "bigint", STABLE, False),
        ("int", "bigint", frozenset(), False),
    ],
)
def test_the_preview_permits_only_the_changes_that_it_has(table, source, features, refused: bool):
    plan = by_hand(table, source, table_snapshot(features=features))
    assert [refusal.reason for refusal in plan.refusals] == (
        [Reason.PREVIEW_ONLY] if refused else []
    )


# All blockers together


@pytest.mark.parametrize(
    ("setting", "mode", "expected"),
    [
        (None, "append_new_columns", [Reason.NOT_ENABLED, Reason.CONSTRAINT]),
        (None, "sync_all_columns", [Reason.NOT_ENABLED, Reason.CONSTRAINT]),
        (False, "append_new_columns", [Reason.TURNED_OFF, Reason.CONSTRAINT]),
        (True, "append_new_columns", [Reason.CONSTRAINT]),
        # With fail neither setting is the first to change. The constraint is a refusal in any mode.
        (None, "fail", [Reason.CONSTRAINT]),
        (False, "fail", [Reason.CONSTRAINT]),
    ],
)
def test_settings_and_a_check_constraint_are_refused_together(setting, mode: str, expected):
    snapshot = table_snapshot({"delta.constraints.c": "v > 0"})
    plan = make_plan({"v": "int"}, {"v": "bigint"}, policy(mode, type_widening=setting), snapshot)
    assert [refusal.reason for refusal in plan.refusals] == expected


def test_all_blockers_of_one_change_are_refused_together():
    snapshot = table_snapshot(
        {"delta.constraints.c": "v is not null", "delta.enableIcebergWriterCompatV1": "true"},
        features=PREVIEW,
        generation_expressions={"v": "w", "x": "cast(v as date)"},
    )
    plan = make_plan({"v": "date"}, {"v": "timestamp_ntz"}, snapshot=snapshot)
    assert details(plan) == [
        (Reason.INCOMPATIBLE, "iceberg_v2"),
        (Reason.NOT_ENABLED, ""),
        (Reason.CONSTRAINT, "v is not null"),
        (Reason.INPUT_OF_GENERATED, "cast(v as date)"),
        (Reason.GENERATED, "w"),
        (Reason.PREVIEW_ONLY, ""),
        (Reason.WRITER_COMPATIBILITY, "column mapping is none, not id"),
        (Reason.WRITER_COMPATIBILITY, "it does not allow typeWidening-preview"),
    ]
    assert plan.statements == []


# The length of nested text


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [
        ("varchar(5)", "varchar(10)"),
        ("varchar(5)", "string"),
        ("char(5)", "varchar(5)"),
        ("char(5)", "string"),
    ],
)
@pytest.mark.parametrize("path", [("s", "x"), ("a", "element"), ("m", "key"), ("m", "value", "x")])
def test_the_length_of_nested_text_is_never_changed(from_type: str, to_type: str, path: Path):
    assert reasons(by_hand(from_type, to_type, path=path)) == [(path, Reason.NESTED_LENGTH)]
    assert not by_hand(from_type, to_type, path=path[:1]).refusals


# Other formats than Delta


@pytest.mark.parametrize(
    ("table_format", "reason"), [("view", Reason.VIEW), ("parquet", Reason.NOT_DELTA)]
)
def test_the_only_refusal_of_another_format_is_the_format(table_format: str, reason: Reason):
    snapshot = table_snapshot({"delta.constraints.c": "v > 0"}, format=table_format)
    assert reasons(by_hand("int", "bigint", snapshot)) == [(("v",), reason)]
