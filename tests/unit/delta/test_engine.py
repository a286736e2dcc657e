"""The versions of Spark and Delta that a server reports."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.engine import Engine, read_engine
from tests.unit.delta.answers import answering

SPARK = "select version()"
DELTA = "select java_method('io.delta.package', 'VERSION')"


def test_both_versions_are_read_from_a_server():
    run_query, queries = answering([("4.1.4 45b9b176e6e2",)], [("4.4.0",)])
    assert read_engine(run_query) == Engine(spark=(4, 1, 4), delta=(4, 4, 0))
    assert queries == [SPARK, DELTA]


def test_a_delta_version_in_the_profile_is_not_read_from_the_server():
    run_query, queries = answering([("3.5.9",)])
    assert read_engine(run_query, "3.3.3-rc1") == Engine(spark=(3, 5, 9), delta=(3, 3, 3))
    assert queries == [SPARK]


def test_a_server_that_does_not_show_its_delta_version_needs_the_setting():
    refused = DbtRuntimeError("java_method is not allowed")
    run_query, _ = answering([("4.1.4",)], refused)
    with pytest.raises(DbtRuntimeError) as error:
        read_engine(run_query)
    assert "set delta_version in the profile" in error.value.msg
    assert "java_method is not allowed" in error.value.msg
    assert error.value.__cause__ is refused


def test_another_error_of_the_server_is_raised_as_it_is():
    refused = DbtRuntimeError("connection lost")
    run_query, _ = answering(refused)
    with pytest.raises(DbtRuntimeError) as error:
        read_engine(run_query)
    assert error.value is refused
