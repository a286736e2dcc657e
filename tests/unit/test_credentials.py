"""The catalog of a profile, and the settings that every session has."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
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
