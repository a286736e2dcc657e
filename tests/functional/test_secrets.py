"""Secrets of the profile are in no log, no error and no artifact."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

from tests.functional.test_start import dbt, set_profile
from tests.functional.test_start import project as project

SECRET = "correct-horse-battery-staple"
PIN = "4711-0815"


def what_dbt_leaves(project: Path, printed: subprocess.CompletedProcess[str]) -> str:
    files = [*(project / "logs").rglob("*"), *(project / "target").rglob("*")]
    texts = [file.read_text(errors="replace") for file in files if file.is_file()]
    return "\n".join([printed.stdout, printed.stderr, *texts])


def test_no_secret_is_shown_or_an_argument_of_a_process(project: Path):
    settings = {
        "spark.shop.password": SECRET,
        "spark.shop.name": "the-shop",
        "spark.shop.dsn": "{{ env_var('DBT_ENV_SECRET_SHOP') }}",
        "spark.driver.extraJavaOptions": (
            "-Dshop.plain='a b' -Dshop.pin={{ env_var('DBT_ENV_SECRET_SHOP') }}"
        ),
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName=own_metastore;create=true;Pwd={SECRET}"
        ),
    }
    set_profile(project, {"type": "deltawiden", "schema": "x", "server_side_parameters": settings})
    # Spark substitutes the values of settings in the statement, so its error has them.
    (project / "models" / "one.sql").write_text(
        "select * from `${spark.shop.name}`.`${spark.shop.password}`"
    )
    (project / "models" / "two.py").write_text(
        "from pathlib import Path\n"
        "def model(dbt, session):\n"
        "    files = Path('/proc').glob('[0-9]*/cmdline')\n"
        "    arguments = ' '.join(file.read_text(errors='replace') for file in files)\n"
        "    system = session._jvm.java.lang.System\n"
        "    secrets = [session.conf.get(f'spark.shop.{key}') for key in ('password', 'dsn')]\n"
        "    assert system.getProperty('shop.pin') == secrets[1]\n"
        "    assert system.getProperty('shop.plain') == 'a b'\n"
        "    assert 'the-shop' not in arguments\n"
        "    assert not any(secret in arguments for secret in secrets)\n"
        "    system.err.println('log of ' + ' and '.join(secrets))\n"
        "    if secrets:\n"
        "        raise ValueError('no access with ' + ' and '.join(secrets))\n"
        "    return session.range(1)\n"
    )
    run = dbt(project, "--debug", "run", DBT_ENV_SECRET_SHOP=PIN)
    assert "[TABLE_OR_VIEW_NOT_FOUND] The table or view `the-shop`.`***" in run.stdout
    assert "no access with ***** and *****" in run.stdout
    results = json.loads((project / "target" / "run_results.json").read_text())
    assert "no access with ***** and *****" in results["results"][1]["message"]
    left = what_dbt_leaves(project, run)
    assert SECRET not in left
    assert PIN not in left
    log = project / "logs" / "spark.log"
    assert f"log of {'*' * len(SECRET)} and {'*' * len(PIN)}" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert (project / "own_metastore").exists()


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
