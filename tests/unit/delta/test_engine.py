"""What a server says of its versions."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.engine import Engine, read_engine
from tests.unit.delta.answers import answering

SPARK = "select version()"
DELTA = "select java_method('io.delta.package', 'VERSION')"


def test_a_server_is_asked_for_both_versions():
    ask, queries = answering([("4.1.4 45b9b176e6e2",)], [("4.4.0",)])
    assert read_engine(ask) == Engine(spark=(4, 1, 4), delta=(4, 4, 0))
    assert queries == [SPARK, DELTA]


def test_where_the_profile_says_which_delta_it_is_only_spark_is_asked():
    ask, queries = answering([("3.5.9",)])
    assert read_engine(ask, "3.3.3-rc1") == Engine(spark=(3, 5, 9), delta=(3, 3, 3))
    assert queries == [SPARK]


def test_a_server_that_does_not_say_which_delta_it_runs_needs_the_setting():
    refused = DbtRuntimeError("java_method is not allowed")
    ask, _ = answering([("4.1.4",)], refused)
    with pytest.raises(DbtRuntimeError) as error:
        read_engine(ask)
    assert "set delta_version in the profile" in error.value.msg
    assert "java_method is not allowed" in error.value.msg
    assert error.value.__cause__ is refused


def test_another_error_of_the_server_is_not_taken_for_a_missing_setting():
    refused = DbtRuntimeError("connection lost")
    ask, _ = answering(refused)
    with pytest.raises(DbtRuntimeError) as error:
        read_engine(ask)
    assert error.value is refused
