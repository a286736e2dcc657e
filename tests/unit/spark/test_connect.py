"""What is said of a Spark Connect server that does not answer."""

import socket

import pytest
from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
from dbt.adapters.deltawiden.spark.connect import open_connect


def test_a_server_that_does_not_answer_is_named_at_once():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        with pytest.raises(FailedToConnectError) as refused:
            open_connect("127.0.0.1", port, {}, token="secret")
    assert f"No Spark Connect server answers at 127.0.0.1:{port}" in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("given", "port"), [({}, 15002), ({"port": 443}, 443)])
def test_its_port_is_spark_connects_unless_the_profile_says_another(given, port):
    profile = {"method": "connect", "host": "here", "schema": "s", **given}
    assert DeltaWidenCredentials.from_dict(profile).port == port


def test_the_port_of_other_methods_stays_dbt_sparks():
    assert DeltaWidenCredentials.from_dict({"schema": "s"}).port == 443


def test_its_token_is_not_among_what_dbt_debug_shows():
    profile = {"method": "connect", "host": "here", "schema": "s", "token": "secret"}
    shown = dict(DeltaWidenCredentials.from_dict(profile).connection_info())
    assert "token" not in shown
    assert shown["host"] == "here"
