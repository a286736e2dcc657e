"""The secrets of a profile, and the places that hide them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dbt_common.events.base_types import EventLevel
from dbt_common.events.event_manager_client import add_logger_to_manager, cleanup_event_logger
from dbt_common.events.functions import fire_event
from dbt_common.events.logger import LineFormat, LoggerConfig
from dbt_common.events.types import Note

from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
from dbt.adapters.deltawiden.spark import redaction as secrets
from dbt.adapters.deltawiden.spark.redaction import (
    find_secrets,
    hide,
    hide_in_file,
    is_secret,
    scrubbed,
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
        "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net",
        "spark.hadoop.fs.azure.sas.container.shop.blob.core.windows.net",
        "spark.hadoop.fs.s3a.encryption.key",
        "spark.hadoop.fs.s3a.server-side-encryption.key",
        "spark.hadoop.dfs.adls.oauth2.credential",
        "spark.hadoop.fs.gs.auth.service.account.private.key",
        "spark.hadoop.ssl.keystore.pass",
        "spark.shop.apikey",
        "spark.shop.api-key",
        "spark.shop.passphrase",
        "spark.shop.dbPwd",
    ],
)
def test_a_setting_that_spark_or_hadoop_redacts_is_a_secret(setting: str):
    assert is_secret(setting, "x")


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("jdbc:mysql://h/m?user=hive&password=hunter2&useSSL=true", {"hunter2"}),
        ("jdbc:derby:m;create=true;user=hive;password=hunter2", {"hunter2"}),
        (
            "jdbc:postgresql://h/m?sslpassword=key%2D1&Password=p%40ss",
            {"key%2D1", "key-1", "p%40ss", "p@ss"},
        ),
        ("jdbc:mysql://hive:hunter2@h:3306/m", {"hunter2"}),
        ("jdbc:sqlserver://h;databaseName=m;User=hive;Pwd=hunter2", {"hunter2"}),
        ("jdbc:oracle:thin:hive/hunter2@h:1521:m", {"hunter2"}),
        ("jdbc:oracle:thin:@h:1521/m", set()),
        ("jdbc:derby:;databaseName=/data/m;create=true", set()),
        ("thrift://h:9083,thrift://user@h:9083", set()),
    ],
)
def test_a_password_in_a_url_is_a_secret(url: str, secrets: set[str]):
    settings = {"spark.hadoop.javax.jdo.option.ConnectionURL": url}
    assert find_secrets(settings, {}, None) == secrets


def test_a_setting_that_the_jvm_is_launched_with_is_hidden():
    settings = {
        "spark.jars.repositories": "https://me:hunter2@h/maven",
        "spark.driver.extraJavaOptions": "-Dhttps.proxyPassword=hunter3 -Dx=1",
    }
    assert find_secrets(settings, {}, None) == {"hunter2", "hunter3"}


@pytest.mark.parametrize(
    ("options", "secrets"),
    [
        ("-Daws.secretAccessKey=abcd -Dx=1", {"abcd"}),
        ("-Dspark.hadoop.fs.s3a.secret.key=abcd", {"abcd"}),
        ("'-Dx.token=a b' -Dx.token.enabled=true", {"a b"}),
        ("-Dx.token=abcd -Dit's=1", {"abcd"}),
    ],
)
def test_a_secret_in_java_options_is_hidden(options: str, secrets: set[str]):
    assert find_secrets({"spark.driver.extraJavaOptions": options}, {}, None) == secrets
    assert find_secrets({"spark.executor.extraJavaOptions": options}, {}, None) == secrets


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("JAVA_TOOL_OPTIONS", "-XX:+ExitOnOutOfMemoryError -Dhttps.proxyPassword=hunter2"),
        ("JDK_JAVA_OPTIONS", "-Dx.token=hunter2"),
        ("_JAVA_OPTIONS", "-Dx.token=hunter2"),
        ("SPARK_SUBMIT_OPTS", "-Dx.url=https://me:hunter2@h/"),
        ("PYSPARK_SUBMIT_ARGS", "--conf spark.x.password=hunter2 pyspark-shell"),
        ("PYSPARK_SUBMIT_ARGS", "--driver-java-options '-Dx.token=hunter2 -Dy=1' pyspark-shell"),
        (
            "PYSPARK_SUBMIT_ARGS",
            "--conf 'spark.driver.extraJavaOptions=-Dy=1 -Dx.token=hunter2' pyspark-shell",
        ),
    ],
)
def test_a_secret_in_a_variable_of_java_or_spark_is_hidden(
    variable: str, text: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(variable, text)
    hide(find_secrets({}, {}, None))
    assert "hunter2" not in scrubbed(f"Picked up {variable}: {text}")


def test_a_variable_that_dbt_keeps_secret_is_hidden_in_each_spelling(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("DBT_ENV_SECRET_SHOP", "a<b&c/d")
    monkeypatch.setenv("SHOP", "not secret")
    found = find_secrets({"spark.shop.dsn": "x"}, {}, None)
    assert found == {"a<b&c/d"}
    hide(found)
    assert scrubbed("a<b&c/d, a&lt;b&amp;c/d, a%3Cb%26c%2Fd") == "*****, *****, *****"
    log = tmp_path / "spark.log"
    log.write_text("url=a<b&c/d;\nnext\n")
    hide_in_file(log)
    assert log.read_text() == "url=*******;\nnext\n"
    hide_in_file(tmp_path / "missing.log")


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
