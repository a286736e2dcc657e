"""The files of the wheel that users install, and its macros in dbt."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_macro_is_in_it_and_no_file_of_dbt(wheel: Path):
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
    ours = {
        str(path.relative_to(ROOT))
        for folder in ("dbt/adapters/deltawiden", "dbt/include/deltawiden")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert ours <= names
    assert "dbt/adapters/deltawiden/py.typed" in names
    # These files belong to dbt-core and dbt-adapters. A wheel that has them breaks dbt when it is
    # uninstalled.
    assert names.isdisjoint(
        {"dbt/__init__.py", "dbt/adapters/__init__.py", "dbt/include/__init__.py"}
    )


def test_dbt_finds_its_macros(wheel: Path, tmp_path: Path):
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--target", str(site), str(wheel)], check=True)
    (tmp_path / "dbt_project.yml").write_text("{name: small, profile: small}")
    (tmp_path / "profiles.yml").write_text(
        "{small: {target: dev, outputs: {dev: {type: deltawiden, schema: x}}}}"
    )
    environment = {**os.environ, "PYTHONPATH": str(site), "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}

    def run(*command: str) -> str:
        printed = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return printed.stdout + printed.stderr

    where = run(sys.executable, "-c", "import dbt.adapters.deltawiden as d; print(d.__file__)")
    assert where.startswith(str(site))
    dbt = str(Path(sys.executable).parent / "dbt")
    assert "`columns` must say which type" in run(dbt, "run-operation", "widen_columns")
