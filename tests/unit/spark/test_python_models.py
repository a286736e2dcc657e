"""The variable that lets PySpark's functions make expressions for Spark Connect."""

import os
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.spark.connect import ConnectConnection
from dbt.adapters.deltawiden.spark.python_models import (
    _CONNECT_MODE,
    SessionJob,
    check_submission,
    release_functions,
    use_functions_of,
)


class ConnectSession:
    """An object of a class that is in the module of PySpark's own."""

    __module__ = "pyspark.sql.connect.session"
    conf = SimpleNamespace(get=lambda name, default: default)

    def table(self, name: str) -> str:
        return name


@pytest.fixture(autouse=True)
def _without_the_variable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(_CONNECT_MODE, raising=False)
    yield
    release_functions()


def test_the_variable_stays_until_the_command_ends():
    use_functions_of(ConnectSession())
    use_functions_of(ConnectSession())
    assert os.environ[_CONNECT_MODE] == "1"
    release_functions()
    assert _CONNECT_MODE not in os.environ


def test_another_thread_can_read_all_variables_while_a_model_ends():
    readings = []

    def start_to_read(*_: object) -> None:
        readings.append(iter(os.environ.items()))
        next(readings[0])

    node = {"original_file_path": "models/m.py", "config": {}, "schema": "s", "alias": "m"}
    connection = ConnectConnection(ConnectSession())
    job = SessionJob(node, None, lambda: connection, start_to_read)
    job.submit("dbt_table('t')")
    assert (_CONNECT_MODE, "1") in list(readings[0])


def test_the_user_s_own_variable_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(_CONNECT_MODE, "1")
    use_functions_of(ConnectSession())
    release_functions()
    assert os.environ[_CONNECT_MODE] == "1"


@pytest.mark.parametrize("method", ["session", "connect"])
@pytest.mark.parametrize("asked", ["job_cluster", "all_purpose_cluster", "serverless_cluster"])
def test_a_job_of_databricks_is_not_posted_to_the_host_of_a_session(asked: str, method: str):
    with pytest.raises(DbtRuntimeError, match=f"{asked}, and .* Remove submission_method"):
        check_submission(asked, method, has_session=True)


@pytest.mark.parametrize(
    ("asked", "method", "has_session"),
    [
        (None, "session", True),
        ("session", "connect", True),
        (None, "http", False),
        ("job_cluster", "http", False),
    ],
)
def test_other_ways_to_run_a_python_model_are_not_refused(
    asked: str | None, method: str, has_session: bool
):
    check_submission(asked, method, has_session)


def test_a_session_in_this_process_needs_none():
    use_functions_of(object())
    assert _CONNECT_MODE not in os.environ
