"""The catalog of a profile, and the settings that every session has."""

import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden import credentials as credentials_module
from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials, read_duration
from dbt.adapters.deltawiden.spark.settings import DECIMAL_FILTERS, LISTS_IN_FILTERS, SAFE_SETTINGS


def profile(**given: Any) -> DeltaWidenCredentials:
    DeltaWidenCredentials.validate(DeltaWidenCredentials.translate_aliases(given))
    return DeltaWidenCredentials.from_dict(given)


@pytest.mark.parametrize("key", ["catalog", "database"])
def test_the_catalog_has_dbts_name_or_its_own(key: str):
    credentials = profile(schema="shop", **{key: "lake"})
    assert credentials.database == "lake"
    shown = dict(credentials.connection_info(with_aliases=True))
    assert shown["catalog"] == shown["database"] == "lake"


def test_a_profile_without_a_catalog_shows_none():
    shown = dict(profile(schema="shop").connection_info(with_aliases=True))
    assert shown == {"method": "session", "schema": "shop", "database": None, "catalog": None}


def test_dbt_debug_shows_no_empty_catalog():
    assert list(dict(profile(schema="shop").connection_info())) == ["method", "schema"]


def test_a_target_type_is_one_that_packages_know():
    assert (
        dict(profile(schema="shop", target_type="spark").connection_info())["target_type"]
        == "spark"
    )
    with pytest.raises(
        DbtConfigError, match="target_type is 'sparks'; accepted are deltawiden and spark"
    ):
        profile(schema="shop", target_type="sparks")


def test_a_catalog_with_the_name_of_the_schema_is_none():
    """dbt-spark allows this, and ignores it."""
    assert profile(schema="shop", database="shop").database is None


# The settings of every session

METHODS = {
    "session": {},
    "kept alive": {"keep_alive": "5m"},
    "connect": {"method": "connect", "host": "h"},
    "thrift": {"method": "thrift", "host": "h", "user": "u"},
    "http": {"method": "http", "host": "h", "token": "t", "cluster": "c"},
    "odbc": {"method": "odbc", "host": "h", "driver": "d", "cluster": "c"},
}


@pytest.fixture(autouse=True)
def _odbc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", ModuleType("pyodbc"))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


@pytest.mark.parametrize("given", METHODS.values(), ids=METHODS)
def test_every_session_has_the_safe_settings_unless_the_profile_has_others(given: dict[str, Any]):
    # A Thrift server gives its sessions no other settings.
    prefix = "set:hiveconf:" if given.get("method") in ("thrift", "http") else ""
    parameters = profile(schema="shop", **given).server_side_parameters
    assert {key: parameters[prefix + key] for key in SAFE_SETTINGS} == SAFE_SETTINGS
    own = {prefix + DECIMAL_FILTERS: "true", "spark.x": "y"}
    parameters = profile(schema="shop", **given, server_side_parameters=own).server_side_parameters
    assert parameters[prefix + DECIMAL_FILTERS] == "true"
    assert parameters[prefix + LISTS_IN_FILTERS] == "0"


@pytest.mark.parametrize("method", ["thrift", "http"])
def test_a_setting_without_the_prefix_does_not_count_on_a_thrift_server(method: str):
    """The server does not give it to its sessions."""
    own = {DECIMAL_FILTERS: "true"}
    credentials = profile(schema="shop", **METHODS[method], server_side_parameters=own)
    assert credentials.server_side_parameters[f"set:hiveconf:{DECIMAL_FILTERS}"] == "false"
    assert credentials.given_settings[DECIMAL_FILTERS] == "false"


def test_a_sql_warehouse_gets_no_settings():
    """It refuses a session with settings that it does not know."""
    given = {"method": "odbc", "host": "h", "driver": "d", "endpoint": "e"}
    assert not SAFE_SETTINGS.keys() & profile(schema="shop", **given).server_side_parameters.keys()


def test_spark_defaults_take_precedence_in_a_spark_that_dbt_starts(tmp_path: Path):
    (tmp_path / "spark-defaults.conf").write_text(f"{LISTS_IN_FILTERS} 50\n")
    credentials = profile(schema="shop")
    assert LISTS_IN_FILTERS not in credentials.server_side_parameters
    assert credentials.given_settings[LISTS_IN_FILTERS] == "50"
    connect = profile(schema="shop", **METHODS["connect"])
    assert connect.server_side_parameters[LISTS_IN_FILTERS] == "0"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("900s", 900), ("15m", 900), ("1h", 3600), (" 15 M ", 900), ("1s", 1)],
)
def test_a_duration_is_a_whole_number_with_a_unit(text: str, seconds: int):
    assert read_duration(text) == seconds


@pytest.mark.parametrize(
    "value",
    ["", "15", "m", "0s", "0m", "-5m", "1.5h", "15 minutes", "1h30m", "1d", 900, 15.0, True, []],
)
def test_another_value_is_an_error_that_names_it_and_what_is_accepted(value: Any):
    with pytest.raises(DbtConfigError) as raised:
        read_duration(value)
    assert f"keep_alive is {value!r}" in str(raised.value)
    assert "900s, 15m or 1h" in str(raised.value)


def credentials(**keys: Any) -> DeltaWidenCredentials:
    profile = {"schema": "x", **keys}
    DeltaWidenCredentials.validate(profile)
    return DeltaWidenCredentials.from_dict(profile)


def test_spark_ends_with_dbt_by_default():
    assert credentials().kept_seconds is None
    assert credentials().session_method == "session"
    assert "keep_alive" not in dict(credentials().connection_info())


def test_a_spark_that_is_kept_alive_is_used_as_a_spark_connect_server():
    kept = credentials(keep_alive="15m")
    assert (kept.kept_seconds, kept.session_method, kept.has_session) == (900, "connect", True)


@pytest.mark.parametrize("value", ["soon", 900, True])
def test_a_profile_with_another_value_is_refused(value: Any):
    with pytest.raises(DbtConfigError, match="keep_alive is"):
        credentials(keep_alive=value)


@pytest.mark.parametrize("method", ["connect", "thrift", "http"])
def test_only_the_spark_of_dbt_itself_can_be_kept_alive(method: str):
    text = f"keep_alive and method: {method}.*use method: session"
    with pytest.raises(DbtConfigError, match=text):
        credentials(keep_alive="15m", method=method, host="h", port=1, cluster="c", token="t")


def test_dbt_debug_shows_that_no_spark_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(credentials_module, "get_flags", lambda: Namespace(WHICH="debug"))
    shown = dict(credentials(keep_alive="15m").connection_info())
    assert (shown["keep_alive"], shown["spark"]) == ("15m", "not running")


def test_what_other_commands_see_does_not_change_from_command_to_command(monkeypatch):
    """Else dbt parses the whole project again."""
    monkeypatch.setattr(credentials_module, "get_flags", lambda: Namespace(WHICH="run"))
    assert "spark" not in dict(credentials(keep_alive="15m").connection_info())
