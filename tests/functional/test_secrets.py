"""Secrets of the profile are in no log, no error and no artifact."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.functional.test_start import dbt, set_profile
from tests.functional.test_start import project as project

SECRET = "correct-horse-battery-staple"


def what_dbt_leaves(project: Path, printed: subprocess.CompletedProcess[str]) -> str:
    files = [*(project / "logs").rglob("*"), *(project / "target").rglob("*")]
    texts = [file.read_text(errors="replace") for file in files if file.is_file()]
    return "\n".join([printed.stdout, printed.stderr, *texts])


def test_an_error_does_not_show_a_setting(project: Path):
    settings = {"spark.shop.password": SECRET, "spark.shop.name": "the-shop"}
    set_profile(project, {"type": "deltawiden", "schema": "x", "server_side_parameters": settings})
    # Spark substitutes the values of settings in the statement, so its error has them.
    (project / "models" / "one.sql").write_text(
        "select * from `${spark.shop.name}`.`${spark.shop.password}`"
    )
    (project / "models" / "two.py").write_text(
        "def model(dbt, session):\n"
        "    value = session.conf.get('spark.shop.password')\n"
        "    if value:\n"
        "        raise ValueError('no access with ' + value)\n"
        "    return session.range(1)\n"
    )
    run = dbt(project, "--debug", "run")
    assert "[TABLE_OR_VIEW_NOT_FOUND] The table or view `the-shop`.`***" in run.stdout
    assert "no access with *****" in run.stdout
    results = json.loads((project / "target" / "run_results.json").read_text())
    assert "no access with *****" in results["results"][1]["message"]
    assert SECRET not in what_dbt_leaves(project, run)


@pytest.mark.slow
@pytest.mark.parametrize(
    "output",
    [
        {"method": "connect", "host": "127.0.0.1", "port": 1, "token": SECRET, "user": "me"},
        {"method": "thrift", "host": "127.0.0.1", "port": 1, "password": SECRET, "user": "me"}
        | {"auth": "LDAP"},
        {"method": "http", "host": "127.0.0.1", "port": 1, "token": SECRET, "cluster": "c"}
        | {"organization": "0"},
        {"method": "connect", "host": SECRET + ".invalid", "port": 1, "token": SECRET},
    ],
    ids=["connect", "thrift", "http", "in_the_host"],
)
def test_the_error_of_a_missing_server_does_not_show_the_secret(
    project: Path, output: dict[str, object]
):
    set_profile(project, {"type": "deltawiden", "schema": "x", "connect_retries": 0, **output})
    run = dbt(project, "--debug", "debug")
    assert run.returncode != 0
    assert SECRET not in what_dbt_leaves(project, run)


@pytest.mark.slow
def test_a_secret_is_no_argument_of_a_process(project: Path):
    settings = {
        "spark.shop.password": SECRET,
        "spark.shop.name": "the-shop",
        "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net": SECRET,
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName=own_metastore;create=true;password={SECRET}"
        ),
    }
    set_profile(project, {"type": "deltawiden", "schema": "x", "server_side_parameters": settings})
    (project / "models" / "two.py").write_text(
        "from pathlib import Path\n"
        "def model(dbt, session):\n"
        "    files = Path('/proc').glob('[0-9]*/cmdline')\n"
        "    arguments = ' '.join(file.read_text(errors='replace') for file in files)\n"
        "    assert 'spark.shop.name=the-shop' in arguments\n"
        "    assert session.conf.get('spark.shop.password') not in arguments\n"
        "    return session.range(1)\n"
    )
    run = dbt(project, "run", "--select", "two")
    assert run.returncode == 0, run.stdout
    assert (project / "own_metastore").exists()
