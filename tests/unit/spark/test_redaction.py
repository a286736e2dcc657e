"""The secrets of a profile, and the places that hide them."""

import json
import sys
from collections.abc import Iterator

import pytest
from dbt_common.events.base_types import EventLevel
from dbt_common.events.event_manager_client import (
    add_logger_to_manager,
    cleanup_event_logger,
)
from dbt_common.events.functions import fire_event
from dbt_common.events.logger import LineFormat, LoggerConfig
from dbt_common.events.types import Note

from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
from dbt.adapters.deltawiden.spark import redaction as secrets
from dbt.adapters.deltawiden.spark.redaction import (
    find_secrets,
    is_secret,
    scrubbed,
    without_secrets,
)


@pytest.fixture(autouse=True)
def _nothing_hidden(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(secrets, "_hidden", ())
    yield
    cleanup_event_logger()


@pytest.mark.parametrize(
    "setting",
    [
        "spark.hadoop.fs.s3a.secret.key",
        "spark.hadoop.fs.s3a.access.key",
        "spark.hadoop.fs.s3a.session.token",
        "spark.hadoop.javax.jdo.option.ConnectionPassword",
        "spark.ssl.keyPassword",
        "spark.authenticate.secret",
    ],
)
def test_a_setting_that_spark_redacts_is_a_secret(setting: str):
    assert is_secret(setting)
    assert without_secrets({setting: "x", "spark.master": "local"}) == {"spark.master": "local"}


def test_all_secrets_of_a_profile_are_found():
    credentials = {"token": "the-token", "password": None}
    settings = {"spark.a.password": "pass-word", "spark.token.enabled": "true", "spark.x": "y"}
    suffix = "AuthMech=3;PWD=the-pwd;Auth_AccessToken = the-access ;Host=here"
    assert find_secrets(settings, credentials, suffix) == {
        "the-token",
        "pass-word",
        "the-pwd",
        "the-access",
    }


def test_credentials_hide_their_values():
    DeltaWidenCredentials(schema="x", host="h", token="abc", password="abcdef")
    assert scrubbed("abcdef, then abc, then ab") == "*****, then *****, then ab"


@pytest.mark.parametrize("line_format", [LineFormat.PlainText, LineFormat.Json])
def test_no_line_of_a_log_has_a_secret(line_format: LineFormat, capfd: pytest.CaptureFixture[str]):
    config = LoggerConfig(
        name="log", line_format=line_format, level=EventLevel.DEBUG, output_stream=sys.stdout
    )
    add_logger_to_manager(config)
    secret = 'quote" and \\backslash'
    secrets.hide([secret])
    secrets.hide(["another"])
    fire_event(Note(msg=f"first {secret} and another"), level=EventLevel.INFO)
    printed = capfd.readouterr().out
    assert "first ***** and *****" in printed
    assert secret not in printed
    assert json.dumps(secret) not in printed
