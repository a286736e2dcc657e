"""The workflow in `docs/ci.md` runs, and its output is the one on the page.

The workflow and the profile are those of the document. The test adds what a repository and its CI
have: models, a Hive metastore, a folder for tables, and a package index with the adapter's wheel.
"""

import contextlib
import http.server
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs

import pyspark
import pytest
import yaml

from tests.functional.support import Table, dbt, needs_delta_4

pytestmark = needs_delta_4

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
WORKFLOW = ".github/workflows/type-widening.yml"

WIDER = {"amount": "decimal(10,4)", "ordered_at": "timestamp_ntz"}
ALTER = (
    "alter table `prod`.`orders` alter column "
    "`amount` type decimal(10,4), `ordered_at` type timestamp_ntz"
)
BY_HAND = (
    "dbt run-operation widen_columns --args "
    """'{"relations": ["prod.orders"], "columns": {"quantity": "double"}}'"""
)

CONFIG = """
{{ config(
    materialized='incremental', on_schema_change='append_new_columns', type_widening=true
) }}
"""
CUSTOMERS = CONFIG + "select 1 as customer_id, 'x' as name"


def orders(quantity: str = "int", amount: str = "decimal(8,2)", ordered_at: str = "date") -> str:
    """The model that the pull requests change."""
    return CONFIG + (
        f"select 1 as order_id, cast(2 as {quantity}) as quantity, cast(9.5 as {amount}) as amount,"
        f" cast('2024-01-02' as {ordered_at}) as ordered_at"
    )


def blocks(document: str) -> list[str]:
    """The fenced blocks of a document."""
    fenced = re.finditer(r"^(`{3,})\w+\n(.*?)^\1$", document, re.DOTALL | re.MULTILINE)
    return [match.group(2) for match in fenced]


FILES = {
    match.group(1): block
    for block in blocks(DOCUMENT)
    if (match := re.match(r"# (\S*\.(?:yml|txt))\n", block))
}
"""The files that the document shows, by the path in their first line."""

(SHOWN,) = [json.loads(block) for block in blocks(DOCUMENT) if block.startswith("{")]
"""The part of the check's JSON that the document shows."""


@dataclass(frozen=True)
class Step:
    """The result of a step: its outcome in GitHub's words, its exit code, and its output."""

    outcome: str
    code: int = 0
    output: str = ""


@dataclass
class Job:
    """One run of the document's job, without the steps that are actions of others.

    Attributes:
        folder: the repository.
        environment: the variables that the runner sets for each step.
        context: the values of the expressions in the workflow.
        steps: the results of the steps with a command, by name.
        summary: the job's summary, in Markdown.
    """

    folder: Path
    environment: Mapping[str, str]
    context: Mapping[str, str]
    steps: dict[str, Step] = field(default_factory=dict)
    summary: str = ""

    @property
    def passes(self) -> bool:
        return "failure" not in {step.outcome for step in self.steps.values()}

    def run(self, workflow: Mapping[str, Any]) -> None:
        (job,) = workflow["jobs"].values()
        shell = workflow.get("defaults", {}).get("run", {}).get("shell", "")
        summary = self.folder.parent / f"summary-{self.context['github.event.number']}.md"
        given = {"GITHUB_STEP_SUMMARY": str(summary), **job["env"]}
        self.environment = {**self.environment, **self._evaluated(given)}
        names = {step["id"]: step["name"] for step in job["steps"] if "id" in step}
        for step in job["steps"]:
            if "run" not in step:
                continue
            if self._runs(step.get("if", "success()"), names):
                self.steps[step["name"]] = self._step(step, step.get("shell", shell))
            else:
                self.steps[step["name"]] = Step("skipped")
        self.summary = summary.read_text() if summary.exists() else ""

    def _step(self, step: Mapping[str, Any], shell: str) -> Step:
        # https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax
        # #jobsjob_idstepsshell: a file with the command, for the shell that is named.
        command = {
            "": ["bash", "-e"],
            "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"],
            "python": ["python"],
        }[shell]
        script = self.folder.parent / "step"
        script.write_text(step["run"])
        ended = subprocess.run(
            [*command, str(script)],
            cwd=self.folder,
            env={**self.environment, **self._evaluated(step.get("env", {}))},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        outcome = "failure" if ended.returncode else "success"
        return Step(outcome, ended.returncode, plain(ended.stdout))

    def _runs(self, condition: str, names: Mapping[str, str]) -> bool:
        """Evaluate a step's `if`, in the few forms that the document has."""
        started = re.fullmatch(
            r"always\(\) && steps\.(\w+)\.outcome != 'skipped'|always\(\)|success\(\)", condition
        )
        assert started, f"the test does not know what this means: {condition}"
        if started.group(1):
            return self.steps[names[started.group(1)]].outcome != "skipped"
        return condition == "always()" or self.passes

    def _evaluated(self, values: Mapping[str, str]) -> dict[str, str]:
        return {
            key: re.sub(r"\$\{\{ (.+?) \}\}", lambda match: self.context[match.group(1)], value)
            for key, value in values.items()
        }


def plain(printed: str) -> str:
    """Return the output of a terminal without colours, times and trailing blanks."""
    uncoloured = re.sub(r"\x1b\[\d*m", "", printed)
    without = re.sub(r"^\d\d:\d\d:\d\d  ", "", uncoloured, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in without.splitlines())


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@contextlib.contextmanager
def without_data_files(schema: Path, aside: Path) -> Iterator[None]:
    """Move the data files of a schema's tables away, and keep the transaction logs."""
    moved = {path: aside / path.name for path in schema.glob("*/*.parquet")}
    assert moved
    aside.mkdir()
    for file, place in moved.items():
        file.rename(place)
    yield
    for file, place in moved.items():
        place.rename(file)
    aside.rmdir()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ci")


@pytest.fixture(scope="module")
def metastore(folder: Path) -> Iterator[str]:
    """The address of a Hive metastore as in production, which PySpark includes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    database = f"jdbc:derby:;databaseName={folder / 'metastore'};create=true"
    settings = {
        "javax.jdo.option.ConnectionURL": database,
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        # The default pool, and Hive's asynchronous log, need jars that PySpark does not have.
        "datanucleus.connectionPoolingType": "none",
    }
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    jars = Path(pyspark.__file__).parent / "jars"
    command = [java, "-Xmx256m", "-Dhive.async.log.enabled=false", "-cp", f"{jars}/*"]
    command += ["org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)]
    for key, value in settings.items():
        command += ["--hiveconf", f"{key}={value}"]
    with (folder / "metastore.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        wait_for(server, port, folder / "metastore.log")
        yield f"thrift://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def wait_for(server: subprocess.Popen, port: int, log: Path) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    server.kill()
    pytest.fail(f"the metastore did not start:\n{log.read_text()}")


@pytest.fixture(scope="module")
def runner(folder: Path, wheel: Path) -> dict[str, str]:
    """The environment of a runner: its own Python, with the adapter's wheel in its package index.

    The dependencies are installed as links to those of this Python. The adapter is not installed.
    """
    environment = folder / "python"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    shared = folder / "shared"
    shared.mkdir()
    for package in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "deltawiden" not in package.name:
            (shared / package.name).symlink_to(package)
    (site / "shared.pth").write_text(f"{shared}\n")
    dbt = environment / "bin" / "dbt"
    start = "from dbt.cli.main import cli; cli()"
    dbt.write_text(f'#!/bin/sh\nexec "{environment}/bin/python" -c "{start}" "$@"\n')
    dbt.chmod(0o755)
    # A JVM that lives for seconds gains nothing from the second compiler.
    java = f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    foreign = ("DBT_", "PIP_", "PYTHON", "PYSPARK_", "SPARK_")
    own = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return {
        **own,
        "PATH": f"{environment}/bin{os.pathsep}{own['PATH']}",
        "JAVA_TOOL_OPTIONS": java.strip(),
        # The links lead to the environment of the tests, so nothing is written there.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheel.parent),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "0",
    }


@pytest.fixture(scope="module")
def repository(folder: Path) -> Path:
    """An analytics repository with the files that the document shows."""
    repository = folder / "shop"
    (repository / "models").mkdir(parents=True)
    (repository / "profiles.yml").write_text(FILES["profiles.yml"])
    # The package index of the test has the adapter's wheel.
    requirements = FILES["requirements.txt"].replace(" @ git+https://HOST/REPOSITORY@COMMIT", "")
    assert "\ndbt-deltawiden\n" in requirements
    (repository / "requirements.txt").write_text(requirements)
    (repository / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    (repository / "models" / "customers.sql").write_text(CUSTOMERS)
    return repository


@pytest.fixture(scope="module")
def variables(folder: Path, metastore: str) -> dict[str, str]:
    """The variables of the repository that the document names."""
    return {"METASTORE_URI": metastore, "WAREHOUSE": str(folder / "warehouse")}


@pytest.fixture(scope="module")
def deploy(repository: Path, runner: dict[str, str], variables: dict[str, str], folder: Path):
    """Return a function that runs the models in production and returns dbt's log."""

    def run(model: str) -> str:
        (repository / "models" / "orders.sql").write_text(model)
        logs = folder / "deployment"
        dbt = str(Path(sys.executable).parent / "dbt")
        command = [dbt, "--log-path", str(logs), "run", "--target", "prod"]
        ended = subprocess.run(
            command,
            cwd=repository,
            env={**runner, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout
        return (logs / "dbt.log").read_text()

    return run


@pytest.fixture(scope="module")
def production(deploy, folder: Path) -> Path:
    """The schema that was deployed before the pull requests."""
    deploy(orders())
    return folder / "warehouse" / "prod.db"


@pytest.fixture(scope="module")
def pull_request(repository, runner, variables, production, folder):
    """Return a function that runs the document's job for a pull request."""

    def run(number: int, model: str) -> Job:
        (repository / "models" / "orders.sql").write_text(model)
        context = {f"vars.{name}": value for name, value in variables.items()}
        job = Job(repository, runner, {**context, "github.event.number": str(number)})
        with without_data_files(production, folder / "aside"):
            job.run(yaml.safe_load(FILES[WORKFLOW]))
        assert not (folder / "warehouse" / f"ci_{number}.db").exists()
        return job

    return run


def test_only_known_actions_are_not_run():
    (job,) = yaml.safe_load(FILES[WORKFLOW])["jobs"].values()
    actions = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in actions)
    assert [action.partition("@")[0] for action in actions] == [
        "actions/checkout",
        "actions/setup-python",
        "actions/setup-java",
        "actions/upload-artifact",
    ]
    assert actions[-1].startswith("actions/upload-artifact")
    (artifact,) = [step["with"]["path"] for step in job["steps"] if step.get("uses") == actions[-1]]
    assert artifact == "type-widening.json"


class Received(http.server.BaseHTTPRequestHandler):
    """Stands for GitLab's API, and keeps what a job sends to it."""

    requests: ClassVar[list[tuple[str, str | None, dict[str, list[str]]]]] = []

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.requests.append((self.path, self.headers["PRIVATE-TOKEN"], parse_qs(sent)))
        self.send_response(201)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def test_the_comment_on_gitlab_is_the_markdown_without_the_error(tmp_path: Path):
    document = "## check_type_widening: 1 refused\n\n| `größe` & more | 100 % |\n"
    error = "19:00:00  Encountered an error while running operation: Compilation Error\n  refused\n"
    # The check fails, as bash -e of a workflow would end at it.
    (tmp_path / "printed").write_text(document + error, encoding="utf-8")
    (check,) = (block for block in blocks(DOCUMENT) if "> check.log" in block)
    check = "dbt() { cat printed; return 1; }\n" + check
    (send,) = (block for block in blocks(DOCUMENT) if "PRIVATE-TOKEN" in block)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Received) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        variables = {
            "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api/v4",
            "CI_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "12",
            "COMMENT_TOKEN": "secret",
            "no_proxy": "127.0.0.1",
        }
        run = ["bash", "-e", "-c", f"{check}\n{send}\ntest $result = 1"]
        subprocess.run(run, cwd=tmp_path, env={**os.environ, **variables}, check=True)
        server.shutdown()
    path = "/api/v4/projects/7/merge_requests/12/notes"
    assert Received.requests == [(path, "secret", {"body": [document]})]


@pytest.mark.slow
def test_a_change_that_will_be_widened_passes_and_is_shown(pull_request, production, repository):
    before = contents(production)
    job = pull_request(12, orders(**WIDER))
    assert job.passes, job.steps
    assert "Successfully installed dbt-deltawiden" in job.steps["Install"].output
    assert contents(production) == before

    assert ALTER in job.steps["Check them against production's tables"].output
    document = json.loads((repository / "type-widening.json").read_text())
    tables = {table["model"]: table for table in document["tables"]}
    assert tables["orders"]["statements"][-1] == ALTER
    assert tables["customers"]["statements"] == []
    assert document["failed"] == 0

    assert job.summary.strip() in DOCUMENT
    assert document == SHOWN


@pytest.mark.slow
def test_a_refusal_fails_the_check_and_names_the_remedy(pull_request, production, repository):
    before = contents(production)
    job = pull_request(13, orders(quantity="double"))
    codes = {name: step.code for name, step in job.steps.items()}
    assert codes == {**dict.fromkeys(codes, 0), "Check them against production's tables": 1}
    assert "skipped" not in {step.outcome for step in job.steps.values()}
    assert contents(production) == before

    printed = job.steps["Check them against production's tables"].output
    assert "quantity: int -> double" in printed
    assert f"Do:  to widen it by hand, run: {BY_HAND}" in printed
    document = json.loads((repository / "type-widening.json").read_text())
    assert document["failed"] == 1

    lines = printed.splitlines()
    assert "\n".join(line for line in lines if not line.startswith("{")).strip() in plain(DOCUMENT)


@pytest.mark.slow
def test_the_deployment_runs_exactly_the_statements_that_the_check_showed(deploy, production):
    log = deploy(orders(**WIDER))
    statements = [statement for table in SHOWN["tables"] for statement in table["statements"]]
    assert re.findall(r"^alter table .*", log, re.MULTILINE) == statements


class TestOnClones:
    @pytest.fixture(scope="class")
    def models(self):
        columns = "order_id, cast(1 as {{ var('type', 'tinyint') }}) as quantity"
        return {
            "stg_orders.sql": "select 1 as order_id",
            "orders.sql": f"{CONFIG} select {columns} from {{{{ ref('stg_orders') }}}}",
        }

    @pytest.fixture
    def production(self, project, spark, tmp_path: Path) -> Iterator[Table]:
        """Production's table, whose schema also has what it reads, and the manifest of its run."""
        dbt("ls")
        production = f"{project.test_schema}_prod"
        manifest = Path("target/manifest.json").read_text(encoding="utf-8")
        state = manifest.replace(project.test_schema, production)
        (tmp_path / "manifest.json").write_text(state, encoding="utf-8")
        spark.sql(f"create schema {production}")
        spark.sql(f"create view {production}.stg_orders as select 1 as order_id")
        spark.sql(
            f"create table {production}.orders using delta tblproperties "
            "('delta.enableTypeWidening' = 'true') as select 1 as order_id, 1Y as quantity"
        )
        yield Table(spark, f"{production}.orders")
        spark.sql(f"drop schema {production} cascade")

    def test_a_change_is_made_on_the_clone_and_a_refused_one_fails(
        self, project, table, production: Table, tmp_path: Path
    ):
        (block,) = (block for block in blocks(DOCUMENT) if block.startswith("dbt clone "))
        commands = block.replace(" --target ci", "").replace("prod-artifacts", str(tmp_path))

        def run(model_type: str) -> Any:
            for command in commands.splitlines():
                ended = dbt(*shlex.split(command)[1:], type=model_type)
            return ended

        # CI's schema has no table yet, not even one that the model reads.
        assert run("int").status("orders") == "success"
        assert table("orders").types["quantity"] == "int"
        assert table("orders").rows() == [(1, 1)]
        assert production.types["quantity"] == "tinyint"

        # An earlier step has built the tables as the pull request has them.
        dbt("run", "--empty", "--full-refresh", type="double")
        refused = run("double")
        assert refused.status("orders") == "error"
        assert "quantity: tinyint -> double" in refused.message("orders")
