"""The warning about a second driver that writes to tables on S3."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden import warnings
from dbt.adapters.deltawiden.spark.storage_folder import warn_of_a_second_driver

S3 = "s3a://lake/warehouse"


def test_tables_on_s3_are_warned_of_once_in_an_invocation(warned, monkeypatch):
    warn_of_a_second_driver("file:/data", {}.get)
    warn_of_a_second_driver(S3, {}.get)
    warn_of_a_second_driver(S3, {}.get)
    (text,) = warned
    assert "only one driver at a time" in text
    assert "s3a://lake/warehouse" in text
    assert "Set spark.delta.logStore.s3a.impl" in text
    monkeypatch.setattr(warnings, "get_invocation_id", lambda: "another")
    warn_of_a_second_driver(S3, {}.get)
    assert len(warned) == 2


@pytest.mark.parametrize(
    ("location", "settings"),
    [
        ("", {}),
        ("file:/data/s3a", {}),
        ("abfss://lake@account.example/warehouse", {}),
        (S3, {"spark.delta.logStore.s3a.impl": "io.delta.storage.S3SingleDriverLogStore"}),
        (S3, {"spark.delta.logStore.class": "com.example.LogStore"}),
    ],
)
def test_other_storage_and_a_chosen_log_store_are_not(warned, location, settings):
    warn_of_a_second_driver(location, settings.get)
    assert warned == []


def test_the_log_store_of_the_scheme_counts(warned):
    other = {"spark.delta.logStore.s3.impl": "io.delta.storage.S3SingleDriverLogStore"}
    warn_of_a_second_driver(S3, other.get)
    assert len(warned) == 1


def test_an_error_that_is_made_of_the_warning_comes_each_time(monkeypatch):
    def fail(event):
        raise DbtRuntimeError(event.base_msg)

    monkeypatch.setattr(warnings, "_warned", set())
    monkeypatch.setattr(warnings, "warn_or_error", fail)
    for _ in range(2):
        with pytest.raises(DbtRuntimeError, match="only one driver"):
            warn_of_a_second_driver(S3, {}.get)
