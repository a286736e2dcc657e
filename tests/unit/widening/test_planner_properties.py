"""When a plan may change types, and the table properties that it sets for that."""

import pytest

from dbt.adapters.deltawiden.config.policy import OnSchemaChange
from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import AUTOMATIC_MODES, ENABLED, make_plan, policy, reasons, table_snapshot


@pytest.mark.parametrize(
    ("setting", "properties", "refused", "sets_the_property"),
    [
        (None, ENABLED, None, False),
        (None, {}, Reason.NOT_ENABLED, False),
        (None, {"delta.enableTypeWidening": "false"}, Reason.NOT_ENABLED, False),
        (None, {"delta.enableTypeWidening": "TRUE"}, None, False),
        (True, ENABLED, None, False),
        (True, {}, None, True),
        (True, {"delta.enableTypeWidening": "false"}, None, True),
        (False, ENABLED, Reason.TURNED_OFF, False),
        (False, {}, Reason.TURNED_OFF, False),
    ],
)
def test_a_table_is_widened_if_its_property_or_the_model_enables_it(
    setting, properties, refused, sets_the_property
):
    plan = make_plan(
        {"v": "int"}, {"v": "bigint"}, policy(type_widening=setting), table_snapshot(properties)
    )
    assert [reason for _, reason in reasons(plan)] == ([refused] if refused else [])
    assert dict(plan.properties) == (ENABLED if sets_the_property else {})


@pytest.mark.parametrize("source", ["int", "string", "decimal(12,2)", "varchar(5)", "variant"])
@pytest.mark.parametrize("setting", [None, True, False])
@pytest.mark.parametrize("mode", AUTOMATIC_MODES)
def test_a_void_column_takes_the_type_of_the_source_without_the_property(
    source: str, setting: bool | None, mode: OnSchemaChange
):
    model = policy(mode, type_widening=setting, compatible_with=frozenset(Compatibility))
    plan = make_plan({"v": "void"}, {"v": source}, model, table_snapshot({}))
    assert reasons(plan) == []
    assert plan.statements == [f"alter table `s`.`t` alter column `v` type {source}"]


def test_a_void_column_that_becomes_timestamp_ntz_needs_only_its_feature():
    plan = make_plan({"v": "void"}, {"v": "timestamp_ntz"}, snapshot=table_snapshot({}))
    assert dict(plan.properties) == {"delta.feature.timestampNtz": "supported"}


@pytest.mark.parametrize("source", [["int"], {"a": "int"}, ("int", "int")])
def test_a_void_column_never_becomes_a_nested_type(source):
    assert reasons(make_plan({"v": "void"}, {"v": source})) == [(("v",), Reason.IMPOSSIBLE)]


@pytest.mark.parametrize("setting", [None, True, False])
def test_no_property_is_set_if_no_type_is_changed(setting: bool | None):
    plan = make_plan(
        {"v": "int"}, {"v": "int", "w": "int"}, policy(type_widening=setting), table_snapshot({})
    )
    assert plan.statements == ["alter table `s`.`t` add columns (`w` int)"]


@pytest.mark.parametrize("source", ["timestamp_ntz", [{"t": "timestamp_ntz"}]])
@pytest.mark.parametrize(("features", "enabled"), [((), True), (("timestampNtz",), False)])
def test_a_feature_that_a_new_column_needs_is_supported_once(source, features, enabled: bool):
    snapshot = table_snapshot(features=frozenset(features))
    plan = make_plan({}, {"v": source, "w": source}, snapshot=snapshot)
    expected = {"delta.feature.timestampNtz": "supported"} if enabled else {}
    assert dict(plan.properties) == expected


def test_a_feature_that_the_table_supports_is_not_enabled_again():
    snapshot = table_snapshot(features=frozenset({"timestampNtz"}))
    plan = make_plan({"d": "date"}, {"d": "timestamp_ntz"}, snapshot=snapshot)
    assert plan.statements == ["alter table `s`.`t` alter column `d` type timestamp_ntz"]
