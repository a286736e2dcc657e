"""What dbt-spark's `http` needs of a server: its path, and a certificate that Python trusts."""

from pathlib import Path

import pytest

from tests.functional.test_start import dbt, set_profile
from tests.functional.test_start import project as project


@pytest.fixture
def target(dbt_profile_target: dict[str, object]) -> dict[str, object]:
    return {**dbt_profile_target, "schema": "default"}


def test_a_connection(project: Path, target: dict[str, object]):
    set_profile(project, target)
    assert "Connection test: [OK connection ok]" in dbt(project, "debug").stdout


def test_a_certificate_that_python_does_not_trust_is_an_error(
    project: Path, target: dict[str, object]
):
    set_profile(project, target)
    debug = dbt(project, "debug", SSL_CERT_FILE="")
    assert "certificate verify failed: self-signed certificate" in debug.stdout


def test_another_path_is_an_error(project: Path, target: dict[str, object]):
    """dbt-spark's client does not look at the status of the response."""
    set_profile(project, {**target, "cluster": "another"})
    assert "Failed to connect, is your token valid?" in dbt(project, "debug").stdout
