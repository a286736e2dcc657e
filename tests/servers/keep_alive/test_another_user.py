"""What another user of the machine can do to a kept Spark. It needs root, or sudo."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.spark.keep_alive.channel import server_problem
from dbt.adapters.deltawiden.spark.keep_alive.client import attach
from dbt.adapters.deltawiden.spark.keep_alive.settings import place
from dbt.adapters.deltawiden.spark.keep_alive.state import spark_folder
from dbt.adapters.deltawiden.spark.keep_alive.status import stop_kept
from dbt.adapters.deltawiden.spark.start import SparkStart
from tests.servers.keep_alive.conftest import JARS

OTHER = 64999  # the id of a user that no system has
AS_OTHER = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]


def as_other(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the shell as another user."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    words = [*sudo, *AS_OTHER, "sh", "-c", command]
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder to which each user can go. Its parents are open, too."""
    stop_kept(everywhere=True)
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        monkeypatch.setenv("XDG_CACHE_HOME", name)
        assert as_other(f"ls {folder}").returncode == 0
        yield folder


def test_another_user_can_neither_read_nor_end_it(parameters: dict[str, str], cache: Path):
    (cache / "dbt-deltawiden").mkdir()
    for jars in JARS.glob("*.json"):
        shutil.copy(jars, cache / "dbt-deltawiden")
    attached = attach(SparkStart.read(parameters), 300)
    spark = attached.spark
    folder = spark_folder(place(SparkStart.read(parameters)), os.environ).path
    pids = (spark.keeper.pid, spark.jvm.pid)
    tries = [
        f"ls {folder.parent}",
        f"ls {folder}",
        *(f"cat {folder / name}" for name in ("spark.json", "spark.log", "keeper.log", "used")),
        f"touch {folder / 'spark.json'}",
        f"touch {cache / 'dbt-deltawiden' / 'another'}",
        f"mv {folder} {folder}-moved",
        *(f"cat /proc/{pid}/{file}" for pid in pids for file in ("environ", "maps", "fd/0")),
        *(f"kill -9 {pid}" for pid in pids),
    ]
    try:
        assert [each for each in tries if as_other(each).returncode == 0] == []
        shown = as_other("cat /proc/[0-9]*/cmdline; ps -ef").stdout
        assert "keep_alive.server" in shown
        assert spark.token not in shown
        assert server_problem(spark.port, spark.token, 300) is None
    finally:
        attached.use.end()
        stop_kept(everywhere=True)


@pytest.mark.parametrize("made", ["kept", "kept/PLACE"])
def test_a_folder_that_another_user_has_made_is_refused(
    parameters: dict[str, str], cache: Path, made: str
):
    place_folder = spark_folder(place(SparkStart.read(parameters)), os.environ).path
    root = place_folder.parent
    shutil.rmtree(root)
    target = root if made == "kept" else place_folder
    target.parent.mkdir(exist_ok=True)
    for folder in (target.parent, cache / "dbt-deltawiden"):
        folder.chmod(0o777)
    assert as_other(f"mkdir -m 777 {target}").returncode == 0
    with pytest.raises(DbtConfigError, match=f"belongs to the user with the id {OTHER}"):
        attach(SparkStart.read(parameters), 300)
