"""Links, profiles, settings, operations and configuration on the pages exist."""

import ast
import dataclasses
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from dbt.artifacts.resources import NodeConfig, SnapshotConfig
from dbt.config.renderer import ProfileRenderer
from dbt.include.global_project import PACKAGE_PATH as GLOBAL_PROJECT
from dbt.include.spark import PACKAGE_PATH as SPARK_PROJECT
from dbt_common.context import set_invocation_context

from dbt.adapters.deltawiden.connections import DeltaWidenConnectionManager
from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
from dbt.adapters.deltawiden.impl import DeltaWidenConfig
from dbt.adapters.deltawiden.operations.arguments import all_arguments
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.operations import Operations
from dbt.adapters.deltawiden.operations.result import OperationResult
from dbt.adapters.deltawiden.spark.start import SparkStart
from dbt.adapters.deltawiden.spark.unsafe_settings import REFUSED_SETTINGS
from dbt.adapters.deltawiden.sql.raised_errors import REMEDIES
from dbt.include.deltawiden import PACKAGE_PATH
from tests.unit.pages import DOCS, PAGES, ROOT, every_page, in_code, read, table, tables

OPERATIONS = Path(PACKAGE_PATH) / "macros" / "operations.sql"
DESCRIBED = ROOT / "dbt/adapters/deltawiden/operations/operations.yml"

# Links


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes for a page's headings."""
    text, _ = read(page)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        repeated = (f"{plain}-{number}" for number in range(1, 100))
        found.add(next(anchor for anchor in (plain, *repeated) if anchor not in found))
    return found


def links(page: Path) -> list[str]:
    text, _ = read(page)
    without_code = re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", text)
    return re.findall(r"\]\(([^)\s]+)\)", without_code)


def test_each_line_of_the_threat_model_names_tests_that_exist():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    tests = [row[-1] for rows in tables(text) for row in rows[1:]]
    assert len(tests) >= 15
    assert [cell for cell in tests if "`" not in cell and not cell.startswith("none: ")] == []
    named = [name.partition("::") for cell in tests for name in in_code(cell)]
    assert [
        name for file, _, name in named if f"def {name}(" not in (ROOT / file).read_text()
    ] == []


@every_page
def test_relative_links_point_to_files_and_headings(page: Path):
    wrong = []
    for link in links(page):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


def test_every_page_can_be_reached_from_the_readme():
    assert "docs/index.md" in links(ROOT / "README.md")
    linked = {link.partition("#")[0] for link in links(DOCS / "index.md")}
    assert {page.name for page in DOCS.glob("*.md")} <= {"index.md", *linked}


def test_the_package_has_the_versions_of_python_that_are_tested():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    classified = re.findall(r'"Programming Language :: Python :: 3[.](\d+)"', project)
    for page, words in (("README.md", "Tested:"), ("docs/limits.md", "Tested with")):
        text = (ROOT / page).read_text(encoding="utf-8")
        tested = re.search(rf"{words} Python 3[.](\d+) to 3[.](\d+),", text)
        assert tested, page
        first, last = map(int, tested.groups())
        assert [*map(int, classified)] == [*range(first, last + 1)]
        assert f'requires-python = ">=3.{first},<3.{last + 1}"' in project


def test_the_page_names_the_versions_that_the_constraints_pin():
    text, _ = read(DOCS / "from-dbt-spark.md")
    named = re.findall(r"(PySpark|delta-spark|dbt-spark) (\d+\.\d+\.\d+)(?! to)", text)
    pinned = (ROOT / "requirements" / "constraints.txt").read_text(encoding="utf-8").split()
    assert len(named) == 3
    assert {f"{name.lower()}=={version}" for name, version in named} <= {*pinned}


def test_a_release_is_told_each_page_that_says_how_to_install_from_a_clone():
    from_clone = re.compile(r"pip install '?\.|git\+https|on PyPI yet|PyPI has no package")
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    found = {f"{each.relative_to(ROOT)}" for each in pages if from_clone.search(each.read_text())}
    found.remove("docs/releasing.md")
    assert len(found) >= 5
    assert found <= {*in_code(read(DOCS / "releasing.md")[0])}


# Profiles

PROFILES = [
    pytest.param(output, id=f"{number}-{name}")
    for number, block in enumerate(read(DOCS / "connections.md")[1])
    if block.language == "yaml"
    for profile in yaml.safe_load(block.text).values()
    for name, output in profile["outputs"].items()
]


def test_there_is_a_profile_for_every_method():
    methods = {profile.values[0].get("method", "session") for profile in PROFILES}
    assert methods == {"session", "connect", "thrift", "http", "odbc"}


@pytest.mark.parametrize("output", PROFILES)
def test_a_profile_is_accepted(output: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    # It needs an ODBC manager, which a profile's check does not use.
    monkeypatch.setitem(sys.modules, "pyodbc", ModuleType("pyodbc"))
    set_invocation_context(os.environ)
    assert output["type"] == DeltaWidenConnectionManager.TYPE
    rendered = ProfileRenderer({}).render_data(output)
    known = {field.name for field in dataclasses.fields(DeltaWidenCredentials)}
    # dbt ignores unknown keys.
    assert rendered.keys() - known == rendered.keys() & {"type", "threads"}
    given = {key: value for key, value in rendered.items() if key in known}
    DeltaWidenCredentials.validate(given)
    credentials = DeltaWidenCredentials.from_dict(given)
    assert credentials.method == output.get("method", "session")
    assert all(key.startswith("spark.") for key in credentials.given_settings)
    if credentials.method == "session":
        SparkStart.read(credentials.server_side_parameters, {})


def test_the_settings_of_the_embedded_spark_are_the_ones_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # The warehouse is only set in a folder whose name Spark encodes.
    (tmp_path / "a b").mkdir()
    monkeypatch.chdir(tmp_path / "a b")
    rows = table("connections.md", "setting|value|where")
    chosen = SparkStart.read({}, {}).settings
    assert {key for row in rows for key in in_code(row[0])} == chosen.keys()
    cluster = SparkStart.read({"spark.master": "yarn"}, {}).settings.keys()
    for keys, value, where in rows:
        for key in in_code(keys):
            set_on = "everywhere" if key in cluster else "one machine"
            assert where == ("" if key == "spark.master" else set_on), key
            literal = re.fullmatch(r"`([^`]+)`", value.partition(":")[0].partition(",")[0])
            if literal:
                assert chosen[key] == literal.group(1), key


def test_the_page_lists_the_settings_that_are_refused():
    rows = table("connections.md", "setting|refused value")
    assert [
        (in_code(name), in_code(values), in_code(use), why) for name, values, use, why in rows
    ] == [
        ([*each.names], [*each.values], [each.use] if each.use else [], each.why)
        for each in REFUSED_SETTINGS
    ]


# Defects of the engines


def test_the_page_names_each_defect_that_is_tested():
    tests = (ROOT / "tests" / "conformance" / "test_engine_defects.py").read_text(encoding="utf-8")
    tested = set(re.findall(r"^def (test_\w+)", tests, re.MULTILINE))
    text, _ = read(DOCS / "engine-defects.md")
    assert tested == {name for name in in_code(text) if re.fullmatch(r"test_\w+", name)}


def test_the_code_that_the_page_names_for_a_defect_exists():
    text, _ = read(DOCS / "engine-defects.md")
    package = ROOT / "dbt/adapters/deltawiden"
    for place in re.findall(r"Code:(.*?)(?:\n\n|\n- |\Z)", text, re.DOTALL):
        for name, file in re.findall(r"(?:`(\w[\w.]*)`\s+in\s+)?`([\w/]+(?:\.py|/))`", place):
            assert (package / file).exists(), file
            code = (package / file).read_text(encoding="utf-8") if name else ""
            assert all(part in code for part in name.split(".")), (name, file)


def test_the_page_of_errors_has_each_condition():
    text, _ = read(DOCS / "errors.md")
    assert REMEDIES.keys() == set(re.findall(r"^> \[(\w+)\]", text, re.MULTILINE))


# Operations


def operations() -> dict[str, set[str]]:
    """The operations, each with its arguments."""
    described = yaml.safe_load(DESCRIBED.read_text(encoding="utf-8"))
    return {
        macro["name"]: {argument["name"] for argument in macro["arguments"]}
        for macro in described["macros"]
    }


def macros_of_dbt() -> set[str]:
    """The names of the macros of dbt and dbt-spark."""
    files = [f for project in (GLOBAL_PROJECT, SPARK_PROJECT) for f in Path(project).rglob("*.sql")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return set(re.findall(r"\{%-?\s*macro\s+(\w+)", text))


def test_an_operation_is_declared_described_and_called_with_the_same_arguments():
    described = yaml.safe_load(DESCRIBED.read_text(encoding="utf-8"))
    called = r"\{% macro (\w+)\(\) %\}\{% do adapter.operations\(context\).run\('\1', kwargs\) %\}"
    assert re.findall(called, OPERATIONS.read_text(encoding="utf-8")) == sorted(operations())
    for macro in described["macros"]:
        name, documented = macro["name"], {each["name"]: each for each in macro["arguments"]}
        declared = inspect.signature(getattr(Operations, name))
        defaults = all_arguments(name, {}, declared)
        assert [*documented] == [*defaults], name
        outputs = declared.return_annotation.OUTPUTS
        assert all(f"`{output}`" in documented["output"]["description"] for output in outputs), name
        for argument, default in defaults.items():
            assert (documented[argument]["type"] == "bool") == (default is False), name


@every_page
def test_the_operations_that_a_page_runs_exist_with_their_arguments(page: Path):
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    call = re.compile(
        r"dbt [^\n`]*?run-operation\s+([a-z_]\w*)(?:[^\n`]*?--args\s+(?:'([^']*)'|\"([^\"]*)\"))?"
    )
    for name, single, double in call.findall(text):
        if name not in operations():
            assert name in macros_of_dbt(), name
        elif single or double:
            assert yaml.safe_load(single or double).keys() <= operations()[name], single or double


def test_every_operation_has_a_section_in_maintenance():
    assert operations().keys() <= anchors(DOCS / "maintenance.md")


@pytest.mark.parametrize("outcome", Outcome)
def test_the_summary_in_ci_shows_what_else_fails_the_check(tmp_path: Path, outcome: Outcome):
    reached = Effect(Kind.CONTRACT, "daily", outcome, ("orders",), ("int -> bigint",), ("do this",))
    results = PlanResults("check_type_widening", [OperationResult("orders")], {}, [reached])
    (tmp_path / "check.log").write_text(f"{json.dumps(results.document)}\nan error\n")
    (workflow,) = [block.text for block in read(DOCS / "ci.md")[1] if "\njobs:\n" in block.text]
    steps = yaml.safe_load(workflow)["jobs"]["check"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("name") == "Summarize"]
    environment = {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)
    shown = f"**contract daily: {outcome.value}**\n\n```\nint -> bigint\ndo this\n```\n"
    assert (shown in (tmp_path / "summary").read_text()) == bool(results.failed)


# Configuration


def model_configuration() -> set[str]:
    """The keys that a model's configuration can have: declared, or read by some macro."""
    declared = {
        field.name
        for config in (DeltaWidenConfig, NodeConfig, SnapshotConfig)
        for field in dataclasses.fields(config)
    }
    folders = (PACKAGE_PATH, GLOBAL_PROJECT, SPARK_PROJECT)
    texts = (
        f.read_text(encoding="utf-8") for folder in folders for f in Path(folder).rglob("*.sql")
    )
    read_by_macros = re.findall(r"config\.(?:get|require)\(['\"](\w+)['\"]", "\n".join(texts))
    # dbt reads this one in Python, from a snapshot's configuration that has no field for it.
    # dbt translates the names of `_ALIASES` before it reads a configuration or a profile.
    return declared | set(read_by_macros) | {"hard_deletes"} | DeltaWidenCredentials._ALIASES.keys()


def profile_keys() -> set[str]:
    fields = {field.name for field in dataclasses.fields(DeltaWidenCredentials)}
    return fields | {"type", "threads"} | DeltaWidenCredentials._ALIASES.keys()


@every_page
def test_the_configuration_that_a_page_shows_exists(page: Path):
    _, blocks = read(page)
    for block in blocks:
        for call in re.findall(r"\{\{ (config\(.*?\)) \}\}", block.text, re.DOTALL):
            parsed = ast.parse(call, mode="eval").body
            assert isinstance(parsed, ast.Call)
            assert {keyword.arg for keyword in parsed.keywords} <= model_configuration(), call


@every_page
def test_a_key_and_its_value_in_a_sentence_exist(page: Path):
    arguments = {name for names in operations().values() for name in names}
    known = model_configuration() | profile_keys() | arguments
    text, _ = read(page)
    keys = (re.match(r"\{?([a-z_]+): [^ ]", code) for code in in_code(text))
    unknown = {key.group(1) for key in keys if key} - known
    assert unknown == set()


HEADED = {
    "model config": model_configuration,
    "model configuration": model_configuration,
    "profile": profile_keys,
    "argument": lambda: {name for names in operations().values() for name in names},
    "operation": operations,
}


@every_page
def test_the_names_in_the_first_column_of_a_table_exist(page: Path):
    text, _ = read(page)
    for heading, *rows in tables(text):
        if heading[0] in HEADED:
            named = {name for row in rows for name in in_code(row[0])}
            assert named <= set(HEADED[heading[0]]()), heading


def test_each_of_these_headings_is_on_a_page():
    headings = {rows[0][0] for page in PAGES for rows in tables(read(page)[0])}
    assert HEADED.keys() <= headings
