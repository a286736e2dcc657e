"""The connection to a Spark Connect server: errors, the default port, the token."""

import socket
import sys

import pyspark
import pytest
from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
from dbt.adapters.deltawiden.spark.connect import open_connect, refuse_old


def test_a_server_that_does_not_answer_is_named_at_once():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        with pytest.raises(FailedToConnectError) as refused:
            open_connect("127.0.0.1", port, {}, token="secret")
    assert f"No Spark Connect server answers at 127.0.0.1:{port}" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_missing_packages_are_named_with_the_command_that_installs_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.session", None)
    with pytest.raises(DbtConfigError) as refused:
        open_connect("here", 15002, {})
    assert "method: connect needs packages that are not installed" in str(refused.value)
    assert f"pip install 'pyspark[connect]=={pyspark.__version__}'" in str(refused.value)


@pytest.mark.parametrize("old", [("3.5.9", "4.1.4"), ("4.1.4", "3.5.9")])
def test_a_spark_that_replaces_sessions_without_an_error_is_refused(old):
    refuse_old("4.0.0", "4.1.4")
    with pytest.raises(DbtConfigError, match="needs Spark 4"):
        refuse_old(*old)


@pytest.mark.parametrize(("given", "port"), [({}, 15002), ({"port": 443}, 443)])
def test_the_default_port_is_that_of_spark_connect(given, port):
    profile = {"method": "connect", "host": "here", "schema": "s", **given}
    assert DeltaWidenCredentials.from_dict(profile).port == port


def test_the_default_port_of_other_methods_is_that_of_dbt_spark():
    assert DeltaWidenCredentials.from_dict({"schema": "s"}).port == 443


def test_dbt_debug_does_not_show_the_token():
    profile = {"method": "connect", "host": "here", "schema": "s", "token": "secret"}
    shown = dict(DeltaWidenCredentials.from_dict(profile).connection_info())
    assert "token" not in shown
    assert shown["host"] == "here"
