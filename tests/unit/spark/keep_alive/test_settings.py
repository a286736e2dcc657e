"""Which runs share a kept Spark, and what can't be kept."""

import os
import sys
from pathlib import Path

import pyspark
import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.spark.keep_alive import settings
from dbt.adapters.deltawiden.spark.keep_alive.settings import (
    check_can_be_kept,
    embedded_metastore,
    kept_environment,
    kept_start,
    place,
    settings_key,
)
from dbt.adapters.deltawiden.spark.start import SparkStart

PATH = {"PATH": os.environ["PATH"]}


def start(profile: dict[str, str], environment: dict[str, str] = PATH) -> SparkStart:
    return SparkStart.read(profile, environment)


URL = "spark.hadoop.javax.jdo.option.ConnectionURL"


def test_the_same_settings_have_the_same_key():
    assert settings_key(start({"a": "1", "b": "2"})) == settings_key(start({"b": "2", "a": "1"}))


@pytest.mark.parametrize(
    ("parameters", "environment"),
    [
        ({"spark.driver.memory": "2g"}, {}),
        ({"spark.sql.ansi.enabled": "true"}, {}),
        ({"spark.hadoop.fs.s3a.secret.key": "other"}, {}),
        ({}, {"SPARK_HOME": "/opt/spark"}),
        ({}, {"AWS_SESSION_TOKEN": "new"}),
        ({}, {"TZ": "Asia/Tokyo"}),
        ({}, {"PYTHONPATH": "/lib"}),
        ({}, {"JAVA_HOME": "/opt/jdk"}),
        ({}, {"PYSPARK_SUBMIT_ARGS": "--conf spark.x=1 pyspark-shell"}),
    ],
)
def test_another_setting_or_variable_has_another_key(parameters, environment):
    assert settings_key(start(parameters, {**PATH, **environment})) != settings_key(start({}))


def test_another_folder_or_version_has_another_key(tmp_path: Path, monkeypatch):
    before = settings_key(start({}))
    with monkeypatch.context() as patch:
        patch.setattr(settings, "adapter_version", "9.9.9")
        assert settings_key(start({})) != before
    monkeypatch.chdir(tmp_path)
    assert settings_key(start({})) != before


def test_another_name_of_the_same_python_changes_nothing(monkeypatch):
    before = settings_key(start({}))
    monkeypatch.setattr(sys, "executable", f"{sys.executable}.9")
    assert settings_key(start({})) == before


def test_another_environment_has_another_key(monkeypatch, tmp_path: Path):
    before = settings_key(start({}))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert settings_key(start({})) != before


@pytest.mark.parametrize("variable", ["TERM", "SSH_TTY", "DBT_TARGET", "SPARK_REMOTE", "WINDOWID"])
def test_a_variable_of_a_terminal_or_of_dbt_changes_nothing(variable: str):
    assert settings_key(start({}, {**PATH, variable: "x"})) == settings_key(start({}))


def test_a_changed_file_has_another_key(tmp_path: Path):
    jar = tmp_path / "functions.jar"
    jar.write_bytes(b"1")
    (tmp_path / "conf").mkdir()
    environment = {**PATH, "SPARK_CONF_DIR": str(tmp_path / "conf")}
    parameters = {"spark.jars": f"file:{jar}"}
    first = settings_key(start(parameters, environment))
    jar.write_bytes(b"22")
    second = settings_key(start(parameters, environment))
    (tmp_path / "conf" / "hive-site.xml").write_text("<configuration/>")
    third = settings_key(start(parameters, environment))
    assert len({first, second, third}) == 3


@pytest.mark.parametrize("entry", ["", "/*"])
def test_a_changed_file_of_a_folder_on_the_class_path_has_another_key(tmp_path: Path, entry: str):
    parameters = {"spark.driver.extraClassPath": f"/x.jar:{tmp_path}{entry}"}
    first = settings_key(start(parameters))
    (tmp_path / "functions.jar").write_bytes(b"1")
    second = settings_key(start(parameters))
    (tmp_path / "functions.jar").write_bytes(b"22")
    assert len({first, second, settings_key(start(parameters))}) == 3


def test_another_time_zone_of_the_system_has_another_key(tmp_path: Path, monkeypatch):
    zone = tmp_path / "localtime"
    monkeypatch.setattr(settings, "_TIME_ZONE_FILES", (str(zone),))
    keys = set()
    for name in ("Amsterdam", "Tokyo"):
        (tmp_path / name).touch()
        zone.unlink(missing_ok=True)
        zone.symlink_to(tmp_path / name)
        keys.add(settings_key(start({})))
    assert len(keys) == 2


def test_a_key_has_no_secret():
    assert "hunter2" not in settings_key(start({"spark.hadoop.fs.s3a.secret.key": "hunter2"}))


# Where the metastore is


@pytest.mark.parametrize(
    ("parameters", "folder"),
    [
        ({}, "metastore_db"),
        ({URL: "jdbc:derby:;databaseName=/data/m;create=true"}, "/data/m"),
        ({URL: "jdbc:derby:here;create=true"}, "here"),
        ({"spark.sql.catalogImplementation": "in-memory"}, None),
        ({"spark.hadoop.hive.metastore.uris": "thrift://h:9083"}, None),
        ({URL: "jdbc:postgresql://h/m"}, None),
        ({URL: "jdbc:derby://h:1527/m"}, None),
    ],
)
def test_the_embedded_metastore_is_found(parameters: dict[str, str], folder: str | None):
    expected = folder and os.path.realpath(folder)
    assert embedded_metastore(start(parameters).every) == expected


def test_only_one_spark_can_have_an_embedded_metastore():
    more, metastore = {"spark.driver.memory": "2g"}, {URL: "jdbc:postgresql://h/m"}
    assert place(start({})) == place(start(more))
    assert place(start(metastore)) != place(start({**metastore, **more}))


def test_containers_with_one_host_name_have_a_spark_each(tmp_path: Path, monkeypatch):
    places = {place(start({}))}
    namespace = tmp_path / "pid"
    monkeypatch.setattr(settings, "_PID_NAMESPACE", str(namespace))
    places.add(place(start({})))
    namespace.symlink_to("pid:[4026531836000]")
    assert len({*places, place(start({}))}) == 3


def test_another_host_name_of_a_mac_changes_nothing(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    before = place(start({}))
    monkeypatch.setattr(settings.platform, "node", lambda: "another")
    assert place(start({})) == before


# How it starts


def test_the_server_listens_on_this_machine_only_and_ends_without_memory():
    given = {"spark.plugins": "a.B", "spark.driver.extraJavaOptions": "-Dx=1"}
    parameters = kept_start(start(given)).settings
    assert parameters["spark.connect.grpc.binding.address"] == "127.0.0.1"
    assert parameters["spark.plugins"] == "a.B,org.apache.spark.sql.connect.SparkConnectPlugin"
    options = parameters["spark.driver.extraJavaOptions"]
    assert options == "-Dx=1 -XX:+ExitOnOutOfMemoryError"
    assert not any("token" in key for key in parameters)


def test_python_processes_are_used_once_unless_the_user_decides():
    reuse = "spark.python.worker.reuse"
    assert kept_start(start({})).settings[reuse] == "false"
    assert kept_start(start({reuse: "true"})).settings[reuse] == "true"


def test_the_variables_of_another_spark_are_not_handed_on():
    environment = kept_environment(
        start({}, {"SPARK_REMOTE": "sc://h", "SPARK_API_MODE": "connect"})
    )
    assert environment.keys() == {"PYSPARK_PYTHON"}
    assert kept_environment(start({}, {"PYSPARK_PYTHON": "p"})) == {"PYSPARK_PYTHON": "p"}


# What can't be kept


@pytest.mark.parametrize(
    ("parameters", "environment", "text"),
    [
        ({"spark.master": "spark://h:7077"}, {}, "spark.master is a cluster"),
        ({}, {"MASTER": "yarn"}, "spark.master is a cluster"),
        ({}, {"PYSPARK_GATEWAY_PORT": "1"}, "spark-submit has started one"),
    ],
)
def test_another_spark_is_refused(parameters, environment, text: str):
    with pytest.raises(DbtConfigError, match=text):
        check_can_be_kept(start(parameters, environment))


def test_an_old_spark_is_refused(monkeypatch):
    monkeypatch.setattr(settings.pyspark, "__version__", "3.5.9")
    with pytest.raises(DbtConfigError, match=r"Spark 4\.0 or newer.*pyspark is 3\.5\.9"):
        check_can_be_kept(start({}, {}))


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(settings, "_CLIENT_PACKAGES", ("grpc", "no_such_package"))
    with pytest.raises(DbtConfigError) as refused:
        check_can_be_kept(start({}, {}))
    # From wherever the user has pyspark, and without another version of it.
    assert f"pip install 'pyspark[connect]=={pyspark.__version__}' (missing: no_such_package)" in (
        str(refused.value)
    )
