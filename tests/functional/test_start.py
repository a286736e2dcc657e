"""The start of embedded Spark: quiet, without configuration, and with clear errors."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

DBT = str(Path(sys.executable).parent / "dbt")
# A line of dbt: a time, then text, without colours.
DBT_LINE = re.compile(r"\d\d:\d\d:\d\d  ")


# Operations that need Spark, Delta or a metastore, and take less time than a model.
MACROS = """
{% macro ask(statement) %}
  {% do log(run_query(statement).rows[0][1], info=True) %}
{% endmacro %}

{% macro list_tables(sleeps=false) %}
  {% do run_query('show tables') %}
  {% do log('The metastore is open', info=True) %}
  {% if sleeps %}
    {% do run_query("select java_method('java.lang.Thread', 'sleep', 300000L)") %}
  {% endif %}
{% endmacro %}
"""
DELTA = "{statement: \"select 1, java_method('io.delta.package', 'VERSION')\"}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one model, with the smallest profile."""
    (tmp_path / "macros").mkdir()
    (tmp_path / "macros" / "macros.sql").write_text(MACROS)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "one.sql").write_text(
        "{{ config(materialized='incremental', on_schema_change='append_new_columns',"
        " type_widening=true) }}\n"
        "select cast(1 as {{ var('type') }}) as n"
    )
    settings = {"name": "small", "profile": "small", "flags": {"send_anonymous_usage_stats": False}}
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump(settings))
    set_profile(tmp_path, {"type": "deltawiden", "schema": "x"})
    return tmp_path


def set_profile(project: Path, output: dict[str, object]) -> None:
    profile = {"small": {"target": "dev", "outputs": {"dev": output}}}
    (project / "profiles.yml").write_text(yaml.safe_dump(profile))


def dbt(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [DBT, "--no-use-colors", *arguments],
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_smallest_profile_runs_and_the_terminal_shows_dbt_lines_only(project: Path):
    first = dbt(project, "run", "--vars", "type: int")
    second = dbt(project, "run", "--vars", "type: bigint")
    for run in (first, second):
        assert run.returncode == 0, run.stdout
        assert run.stderr == ""
        lines = [line for line in run.stdout.splitlines() if line]
        assert [line for line in lines if not DBT_LINE.match(line)] == []
    assert "`x`.`one`: widened n: int -> bigint" in second.stdout
    # The output of Spark and of its metastore is in the folder of dbt's log.
    log = (project / "logs" / "spark.log").read_text()
    assert "WARN" in log
    assert "Booting Derby" in log
    assert [*project.rglob("derby.log")] == []


@pytest.mark.slow
def test_nothing_is_left_in_the_temporary_folder(project: Path):
    folder = project / "temporary"
    folder.mkdir()
    options = {"spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}"}
    set_profile(project, {"type": "deltawiden", "schema": "x", "server_side_parameters": options})
    run = dbt(project, "run", "--vars", "type: int", TMPDIR=str(folder))
    assert run.returncode == 0, run.stdout
    assert ended(project)
    assert [*folder.iterdir()] == []


@pytest.mark.slow
def test_a_profile_of_dbt_spark_works_with_its_type_changed(project: Path):
    set_profile(
        project,
        {
            "type": "deltawiden",
            "method": "session",
            "host": "NA",
            "schema": "x",
            "threads": 1,
            "server_side_parameters": {"spark.driver.memory": "1g"},
        },
    )
    run = dbt(project, "run", "--vars", "type: int")
    assert run.returncode == 0, run.stdout


@pytest.mark.slow
def test_a_master_in_the_configuration_of_spark_is_used(project: Path, tmp_path: Path):
    (tmp_path / "spark-defaults.conf").write_text("spark.master local[3]\n")
    arguments = "{statement: 'set spark.master'}"
    run = dbt(project, "run-operation", "ask", "--args", arguments, SPARK_CONF_DIR=str(tmp_path))
    assert run.returncode == 0, run.stdout
    assert "local[3]" in run.stdout


def test_the_error_without_java_says_what_to_install(project: Path, tmp_path: Path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in Path("/usr/bin").iterdir():
        if not tool.name.startswith("java"):
            (tools / tool.name).symlink_to(tool)
    run = dbt(project, "run", "--vars", "type: int", PATH=str(tools), JAVA_HOME="")
    assert run.returncode != 0
    assert "Spark needs Java 17 or newer, and no Java was found. Install it" in run.stdout
    assert "JAVA_GATEWAY_EXITED" not in run.stdout


@pytest.mark.slow
def test_the_error_of_an_old_java_names_the_required_version(project: Path, tmp_path: Path):
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\nexit 1\n")
    java.chmod(0o755)
    run = dbt(project, "run", "--vars", "type: int", JAVA_HOME=str(tmp_path / "jdk"))
    assert run.returncode != 0
    assert "Spark needs Java 17 or newer, and the Java that was found is 11.0.2" in run.stdout


def test_jars_that_cannot_be_downloaded_are_named(project: Path):
    package = "io.delta:delta-spark_4.1_2.13:0.0.0"
    set_profile(
        project,
        {
            "type": "deltawiden",
            "schema": "x",
            "server_side_parameters": {"spark.jars.packages": package},
        },
    )
    run = dbt(project, "run", "--vars", "type: int")
    assert run.returncode != 0
    assert f"could not download these jars from Maven Central: {package}" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SPARK_REMOTE", "sc://localhost"),
        ("SPARK_API_MODE", "connect"),
        ("SPARK_CONNECT_MODE_ENABLED", "1"),
    ],
)
def test_a_variable_that_asks_for_a_server_is_named(project: Path, variable: str, value: str):
    run = dbt(project, "run-operation", "ask", "--args", DELTA, **{variable: value})
    assert run.returncode != 0
    assert f"The environment variable {variable} is set" in run.stdout
    assert f"Use method: connect, or unset {variable}" in run.stdout


@pytest.mark.slow
def test_settings_in_the_profile_override_pyspark_submit_args(project: Path):
    set_profile(
        project,
        {
            "type": "deltawiden",
            "schema": "x",
            "server_side_parameters": {"spark.driver.memory": "1100m"},
        },
    )
    arguments = "--conf spark.driver.memory=1200m --packages org.apache.commons:commons-csv:1.10.0"
    # Delta is there all the same.
    statement = "select version(), concat('${spark.driver.memory}', ', Delta ', VERSION)"
    with_delta = statement.replace("VERSION", "java_method('io.delta.package', 'VERSION')")
    run = dbt(
        project,
        *("run-operation", "ask", "--args", json.dumps({"statement": with_delta})),
        PYSPARK_SUBMIT_ARGS=f"{arguments} pyspark-shell",
    )
    assert f"1100m, Delta {version('delta-spark')}" in run.stdout, run.stdout


RESOLVED = ":: resolving dependencies ::"
# Otherwise, these starts would also make an archive of classes in their cache.
NO_ARCHIVE = {"JAVA_TOOL_OPTIONS": "-Xshare:auto"}


@pytest.mark.slow
def test_delta_is_resolved_at_the_first_start_only(project: Path, tmp_path: Path):
    cache = tmp_path / "cache"

    def spark_log_of_run() -> str:
        run = dbt(
            *(project, "run-operation", "ask", "--args", DELTA),
            **{"XDG_CACHE_HOME": str(cache), **NO_ARCHIVE},
        )
        assert run.returncode == 0, run.stdout
        return (project / "logs" / "spark.log").read_text()

    assert RESOLVED in spark_log_of_run()
    assert RESOLVED not in spark_log_of_run()
    (kept,) = (cache / "dbt-deltawiden").glob("*.json")
    sizes = json.loads(kept.read_text())
    kept.write_text(json.dumps({jar: size + 1 for jar, size in sizes.items()}))
    assert RESOLVED in spark_log_of_run()
    assert json.loads(kept.read_text()) == sizes


@pytest.mark.slow
def test_delta_is_resolved_again_after_a_failed_start(project: Path, tmp_path: Path):
    cache = tmp_path / "cache"
    command = ("run-operation", "ask", "--args", DELTA)
    variables = {"XDG_CACHE_HOME": str(cache), **NO_ARCHIVE}
    assert dbt(project, *command, **variables).returncode == 0
    bad = {"spark.driver.memory": "none"}
    set_profile(project, {"type": "deltawiden", "schema": "x", "server_side_parameters": bad})
    assert dbt(project, *command, **variables).returncode != 0
    assert [*(cache / "dbt-deltawiden").glob("*.json")] == []


@pytest.mark.slow
def test_two_first_starts_at_once_download_the_jars_once(project: Path, tmp_path: Path):
    # Ivy's cache is in the folder of the user that Java is told.
    java_options = f"-Duser.home={tmp_path} -Xshare:auto"
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "JAVA_TOOL_OPTIONS": java_options}
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        shutil.copytree(project / "macros", folder / "macros")
        shutil.copy(project / "dbt_project.yml", folder)
        shutil.copy(project / "profiles.yml", folder)

    def ask(folder: Path) -> subprocess.CompletedProcess[str]:
        return dbt(folder, "run-operation", "ask", "--args", DELTA, **variables)

    with ThreadPoolExecutor() as threads:
        runs = [*threads.map(ask, folders)]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stdout + runs[1].stdout
    logs = [(folder / "logs" / "spark.log").read_text() for folder in folders]
    assert sum(RESOLVED in log for log in logs) == 1
    assert sum("another process that resolves Spark's packages" in run.stdout for run in runs) == 1


BROKEN = "{{ config("


def test_spark_starts_while_dbt_reads_the_project_and_ends_with_it(project: Path):
    (project / "models" / "broken.sql").write_text(BROKEN)
    run = dbt(project, "run", "--vars", "type: int")
    assert run.returncode == 2
    assert "Compilation Error in model broken" in run.stdout
    assert run.stderr == ""
    assert (project / "logs" / "spark.log").exists()
    assert ended(project)
    # An incomplete metastore would stop all later runs.
    assert not (project / "metastore_db").exists()


def test_an_error_in_the_project_does_not_wait_for_the_start(project: Path, tmp_path: Path):
    (project / "models" / "broken.sql").write_text(BROKEN)
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    # It never starts, and ends when dbt does.
    java.write_text("#!/bin/sh\nexec cat\n")
    java.chmod(0o755)
    command = [DBT, "run", "--vars", "type: int"]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path / "jdk")}
    with subprocess.Popen(command, cwd=project, env=environment) as process:
        try:
            assert process.wait(90) == 2
        finally:
            process.kill()
    assert (project / "logs" / "spark.log").exists()
    assert ended(project)


@pytest.mark.slow
def test_the_error_of_an_incomplete_metastore_says_what_it_is(project: Path):
    # The state after a process that was killed while it created the metastore.
    (project / "metastore_db" / "seg0").mkdir(parents=True)
    run = dbt(project, "run-operation", "list_tables")
    assert run.returncode != 0
    folder = project / "metastore_db"
    assert f"The embedded metastore ({folder}) has no service.properties" in run.stdout
    assert "Delete that folder, and run again." in run.stdout
    # dbt's log has the stack.
    assert "Caused by: ERROR XBM0A" in (project / "logs" / "dbt.log").read_text()


@pytest.mark.slow
def test_the_error_of_a_metastore_in_use_says_so(project: Path):
    sleeps = ("--args", "{sleeps: true}")
    command = [DBT, "run-operation", "list_tables", *sleeps]
    log = project / "logs" / "spark.log"
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            assert any("The metastore is open" in line for line in other.stdout)
            of_other = log.stat().st_ino
            run = dbt(project, "run-operation", "list_tables")
        finally:
            other.kill()
    # Each has a log of its own.
    assert log.stat().st_ino == of_other
    assert len([*log.parent.glob("spark-*.log")]) == 1
    assert run.returncode != 0
    folder = project / "metastore_db"
    assert f"The embedded metastore ({folder}) is in use by another process" in run.stdout
    assert ended(project)


@pytest.mark.slow
def test_the_error_of_an_unreachable_metastore_server_names_the_setting(project: Path):
    nobody = {"spark.hadoop.hive.metastore.uris": "thrift://127.0.0.1:9"}
    set_profile(project, {"type": "deltawiden", "schema": "x", "server_side_parameters": nobody})
    run = dbt(project, "run-operation", "list_tables")
    assert run.returncode != 0
    assert "Spark can't open its Hive metastore: Connection refused." in run.stdout
    assert "spark.hadoop.hive.metastore.uris" in run.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["parse"],
        pytest.param(["ls"], marks=pytest.mark.slow),
        pytest.param(["compile", "--no-introspect"], marks=pytest.mark.slow),
    ],
)
def test_a_command_that_may_not_need_spark_does_not_start_it_early(
    project: Path, command: list[str]
):
    (project / "models" / "broken.sql").write_text(BROKEN)
    run = dbt(project, *command, "--vars", "type: int")
    assert "Compilation Error in model broken" in run.stdout
    assert not (project / "logs" / "spark.log").exists()


@pytest.mark.slow
def test_nothing_is_requested_from_a_cluster_before_the_project_is_parsed(project: Path):
    (project / "models" / "broken.sql").write_text(BROKEN)
    cluster = {"spark.master": "spark://127.0.0.1:1"}
    set_profile(project, {"type": "deltawiden", "schema": "x", "server_side_parameters": cluster})
    run = dbt(project, "run", "--vars", "type: int")
    assert "Compilation Error in model broken" in run.stdout
    assert not (project / "logs" / "spark.log").exists()


def ended(folder: Path) -> bool:
    """Wait for every process that works in a folder to end."""
    for _ in range(600):
        if not any(works_in(folder, process) for process in Path("/proc").glob("[0-9]*")):
            return True
        time.sleep(0.1)
    return False


def works_in(folder: Path, process: Path) -> bool:
    try:
        return (process / "cwd").resolve() == folder.resolve()
    except OSError:  # the process has ended, or belongs to another user
        return False
