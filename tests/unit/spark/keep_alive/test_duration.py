"""The profile's ``keep_alive``."""

from argparse import Namespace
from typing import Any

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden import credentials as credentials_module
from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
from dbt.adapters.deltawiden.spark.keep_alive.duration import read_duration


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
