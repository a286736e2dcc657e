"""`dbt init`, as new users run it, and the project that it creates."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Installed packages with the adapter's wheel: `dbt init` looks for adapters in one folder."""
    folder = tmp_path_factory.mktemp("installed") / "site"
    shutil.copytree(
        sysconfig.get_path("purelib"), folder, copy_function=os.link, dirs_exist_ok=True
    )
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)
    return folder


class TestInit:
    @pytest.fixture(scope="class")
    def home(self, tmp_path_factory):
        return tmp_path_factory.mktemp("home")

    @pytest.fixture(scope="class")
    def dbt(self, site, home):
        """Return a function that runs dbt in a folder and returns its output."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(site),
            "DBT_PROFILES_DIR": str(home),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "0",
        }

        def run(*arguments: str, folder: Path = home, answers: str = "") -> tuple[int, str]:
            ended = subprocess.run(
                [sys.executable, "-m", "dbt.cli.main", *arguments],
                cwd=folder,
                env=environment,
                input=answers,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            return ended.returncode, ended.stdout

        return run

    @pytest.fixture(scope="class")
    def made(self, dbt, home):
        _, prompts = dbt("init", "unanswered")
        (number,) = re.findall(r"\[(\d+)\] deltawiden", prompts)
        code, prompts = dbt("init", "shop", answers=f"{number}\n1\nshop\n\n\n")
        assert code == 0, prompts
        return prompts

    def test_the_embedded_session_is_offered_first(self, made, home):
        assert "[1] session: Spark and Delta run inside dbt, nothing to start" in made
        profiles = yaml.safe_load((home / "profiles.yml").read_text())
        assert profiles["shop"]["outputs"]["dev"] == {
            "type": "deltawiden",
            "method": "session",
            "schema": "shop",
            "target_type": "spark",
            "threads": 4,
        }

    @pytest.mark.slow
    def test_the_new_project_runs(self, made, dbt, home):
        code, printed = dbt("debug", folder=home / "shop")
        assert code == 0, printed
        assert "All checks passed!" in printed
        code, printed = dbt("run", folder=home / "shop")
        assert code == 0, printed
        assert "PASS=2 WARN=0 ERROR=0" in printed
        query = "select * from {{ ref('my_first_dbt_model') }}"
        assert f'dbt show --inline "{query}"' in (ROOT / "README.md").read_text(encoding="utf-8")
        code, printed = dbt("show", "--inline", query, folder=home / "shop")
        assert code == 0, printed
        assert "|  1 |" in printed
