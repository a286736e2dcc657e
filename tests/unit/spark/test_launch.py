"""The environment that the JVM of the embedded Spark is launched with."""

import os

import pytest

from dbt.adapters.deltawiden.spark.launch import _java_options, archive_for

OPTIONS = "SPARK_SUBMIT_OPTS"


def test_our_options_come_before_the_user_s_and_only_for_the_launch(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv(OPTIONS, "-Dmine=1")
    with _java_options(["-XX:SharedArchiveFile=/my cache/x.jsa"]):
        assert os.environ[OPTIONS] == "'-XX:SharedArchiveFile=/my cache/x.jsa' -Dmine=1"
    assert os.environ[OPTIONS] == "-Dmine=1"
    with _java_options([]):
        assert os.environ[OPTIONS] == "-Dmine=1"


def test_the_variable_is_removed_after_the_launch(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(OPTIONS, raising=False)
    with _java_options([]):
        assert OPTIONS not in os.environ
    with pytest.raises(ValueError, match="no JVM"), _java_options(["-Dx=1"]):
        raise ValueError("no JVM")
    assert OPTIONS not in os.environ


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({"spark.master": "yarn"}, {}),
        ({"spark.master": "local[*]", "spark.jars.packages": "a:b:1"}, {}),
        ({"spark.master": "local[*]"}, {"spark.jars": "/mine.jar"}),
    ],
)
def test_there_is_no_archive_on_a_cluster_or_for_unknown_jars(
    settings: dict[str, str], given: dict[str, str]
):
    assert archive_for(settings, given) is None
