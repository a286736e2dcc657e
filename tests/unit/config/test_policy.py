"""How a model's configuration is read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.deltawiden.config.policy import (
    InvalidConfiguration,
    OnLossyWrite,
    OnSchemaChange,
    Policy,
    RewriteLimit,
    read_policy,
    stops_at_loss,
)
from dbt.adapters.deltawiden.delta.protocol import Compatibility

ANY_SIZE = RewriteLimit(None, None, is_asked_for=True)
MB_256, KB = (RewriteLimit(size, None, is_asked_for=True) for size in (268_435_456, 1_024))
KEYS = (
    *("on_schema_change", "type_widening", "type_widening_compatible_with", "on_lossy_write"),
    "rewrite_widened_files",
)


@pytest.mark.parametrize(
    "config",
    [{}, {"unique_key": "id"}, *(dict.fromkeys(KEYS, empty) for empty in (None, "", [], {}, ()))],
)
def test_an_unset_key_has_its_default(config: dict[str, Any]):
    assert read_policy(config) == Policy(
        on_schema_change=OnSchemaChange.IGNORE,
        type_widening=None,
        compatible_with=frozenset(),
        on_lossy_write=OnLossyWrite.ERROR,
    )


@pytest.mark.parametrize(
    ("key", "given_value", "attribute", "expected"),
    [
        ("on_schema_change", "ignore", "on_schema_change", OnSchemaChange.IGNORE),
        ("on_schema_change", "fail", "on_schema_change", OnSchemaChange.FAIL),
        (
            "on_schema_change",
            "append_new_columns",
            "on_schema_change",
            OnSchemaChange.APPEND_NEW_COLUMNS,
        ),
        (
            "on_schema_change",
            "sync_all_columns",
            "on_schema_change",
            OnSchemaChange.SYNC_ALL_COLUMNS,
        ),
        ("type_widening", True, "type_widening", True),
        ("type_widening", False, "type_widening", False),
        ("rewrite_widened_files", True, "rewrite_widened_files", ANY_SIZE),
        ("rewrite_widened_files", "256mb", "rewrite_widened_files", MB_256),
        ("rewrite_widened_files", "1 KB", "rewrite_widened_files", KB),
        ("on_lossy_write", "warn", "on_lossy_write", OnLossyWrite.WARN),
        ("on_lossy_write", "error", "on_lossy_write", OnLossyWrite.ERROR),
        ("on_lossy_write", "ignore", "on_lossy_write", OnLossyWrite.IGNORE),
        ("type_widening_compatible_with", [], "compatible_with", frozenset()),
        (
            "type_widening_compatible_with",
            ["iceberg_v2"],
            "compatible_with",
            {Compatibility.ICEBERG_V2},
        ),
        (
            "type_widening_compatible_with",
            ("ducklake", "iceberg_v2", "ducklake"),
            "compatible_with",
            {Compatibility.ICEBERG_V2, Compatibility.DUCKLAKE},
        ),
    ],
)
def test_every_accepted_value_is_read(key, given_value, attribute, expected):
    assert getattr(read_policy({key: given_value}), attribute) == expected


WRONG: list[tuple[str, Any, list[str]]] = [
    (
        "on_schema_change",
        "sync",
        ["ignore", "append_new_columns", "sync_all_columns", "fail"],
    ),
    ("on_schema_change", "IGNORE", ["ignore"]),
    ("on_schema_change", ["ignore"], ["ignore"]),
    ("on_schema_change", True, ["ignore"]),
    ("type_widening", "true", ["true", "false"]),
    ("type_widening", 1, ["true", "false"]),
    ("type_widening", ["true"], ["true", "false"]),
    ("rewrite_widened_files", "1 parsec", ["true", "false", "256mb"]),
    ("rewrite_widened_files", 1024, ["true", "false", "256mb"]),
    ("on_lossy_write", "raise", ["warn", "error", "ignore"]),
    ("on_lossy_write", False, ["warn", "error", "ignore"]),
    ("type_widening_compatible_with", "iceberg_v2", ["a list of", "iceberg_v2", "ducklake"]),
    ("type_widening_compatible_with", ["iceberg"], ["a list of", "iceberg_v2", "ducklake"]),
    ("type_widening_compatible_with", [None], ["a list of", "iceberg_v2", "ducklake"]),
    ("type_widening_compatible_with", {"iceberg_v2": True}, ["a list of", "iceberg_v2"]),
]


@pytest.mark.parametrize(("key", "value", "accepted"), WRONG)
def test_a_wrong_value_is_refused_with_the_key_the_value_and_the_accepted_values(
    key: str, value: Any, accepted: list[str]
):
    with pytest.raises(InvalidConfiguration) as refused:
        read_policy({key: value})
    message = str(refused.value)
    assert message.startswith(f"{key}: got ")
    listed = message.split("accepted: ")[1]
    assert all(text in listed for text in accepted)


@pytest.mark.parametrize("item", [{"iceberg_v2": True}, ["iceberg_v2"]])
def test_a_list_item_that_is_a_list_or_a_mapping_is_refused(item: Any):
    with pytest.raises(InvalidConfiguration, match="type_widening_compatible_with: got"):
        read_policy({"type_widening_compatible_with": [item]})


def test_all_wrong_values_are_in_one_error():
    with pytest.raises(InvalidConfiguration) as refused:
        read_policy(
            {
                "on_schema_change": "sync",
                "type_widening": "yes",
                "type_widening_compatible_with": ["iceberg", "parquet", "ducklake"],
                "on_lossy_write": "stop",
            }
        )
    lines = str(refused.value).splitlines()
    assert [line.split(";")[0] for line in lines] == [
        "on_schema_change: got 'sync'",
        "type_widening: got 'yes'",
        "type_widening_compatible_with: got 'iceberg'",
        "type_widening_compatible_with: got 'parquet'",
        "on_lossy_write: got 'stop'",
    ]


@pytest.mark.parametrize("empty", [None, ""])
def test_a_model_with_an_empty_value_stops_at_loss(empty: str | None):
    assert stops_at_loss({"on_lossy_write": empty})
    assert not stops_at_loss({"on_lossy_write": "ignore"})


@given(
    st.sampled_from(["on_schema_change", "on_lossy_write", "type_widening_compatible_with"]),
    st.text(min_size=1),
)
def test_a_text_is_accepted_or_refused_and_never_replaced_by_the_default(key: str, text: str):
    enums = {"on_schema_change": OnSchemaChange, "on_lossy_write": OnLossyWrite}
    try:
        policy = read_policy({key: text})
    except InvalidConfiguration:
        return
    assert getattr(policy, key) is enums[key](text)


@pytest.mark.parametrize(
    ("mode", "adds", "drops"),
    [
        ("ignore", False, False),
        ("append_new_columns", True, False),
        ("sync_all_columns", True, True),
        ("fail", False, False),
    ],
)
def test_a_mode_adds_and_drops_columns_as_dbt_documents(mode: str, adds: bool, drops: bool):
    policy = read_policy({"on_schema_change": mode})
    assert (policy.adds, policy.drops) == (adds, drops)
