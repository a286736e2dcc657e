"""The folder of a kept Spark, its locks, and the processes that it names."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtConfigError, DbtRuntimeError

from dbt.adapters.deltawiden.spark import announce
from dbt.adapters.deltawiden.spark.keep_alive import state
from dbt.adapters.deltawiden.spark.keep_alive.processes import Process, wait_until_ended
from dbt.adapters.deltawiden.spark.keep_alive.state import (
    KeptSpark,
    LockIsHeld,
    SparkFolder,
    identities,
    remove_unused,
    spark_folder,
    spark_folders,
)
from dbt.adapters.deltawiden.spark.keep_alive.status import stop_kept


@pytest.fixture
def folder(tmp_path: Path) -> SparkFolder:
    return spark_folder("a place", {"XDG_CACHE_HOME": str(tmp_path)})


@pytest.fixture
def spark() -> KeptSpark:
    own = Process.find(os.getpid())
    return KeptSpark(own, own, 1234, "secret", "key", time.time(), os.getcwd(), "1g")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_only_the_user_can_read_what_is_stored(folder: SparkFolder, spark: KeptSpark):
    folder.write(spark)
    assert folder.read() == spark
    assert [mode(folder.path), mode(folder.path.parent)] == [0o700, 0o700]
    assert mode(folder.path / "spark.json") == 0o600


def test_an_open_folder_is_closed(tmp_path: Path, folder: SparkFolder):
    folders = (folder.path, folder.path.parent, folder.path.parent.parent)
    for each in folders:
        each.chmod(0o755)
    again = spark_folder("a place", {"XDG_CACHE_HOME": str(tmp_path)})
    assert again == folder
    assert [*map(mode, folders)] == [0o700, 0o700, 0o700]


def test_no_parent_that_is_made_is_open_to_others(tmp_path: Path):
    before = os.umask(0)
    try:
        folder = spark_folder("a place", {"XDG_CACHE_HOME": str(tmp_path / "home" / ".cache")})
    finally:
        os.umask(before)
    made = [each for each in folder.path.parents if tmp_path in each.parents]
    assert {each.name: mode(each) for each in made} == dict.fromkeys(
        ["home", ".cache", "dbt-deltawiden", "kept"], 0o700
    )


def test_a_folder_whose_file_system_has_no_permissions_is_refused(
    tmp_path: Path, folder: SparkFolder, monkeypatch
):
    folder.path.chmod(0o777)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    with pytest.raises(DbtConfigError, match="other users can use it"):
        spark_folder("a place", {"XDG_CACHE_HOME": str(tmp_path)})


def test_the_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(state.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(DbtConfigError, match="belongs to the user with the id"):
        spark_folder("a place", {"XDG_CACHE_HOME": str(tmp_path)})


@pytest.mark.parametrize("linked", ["kept", "kept/PLACE"])
def test_no_process_is_ended_that_the_folder_of_another_user_names(
    tmp_path: Path, folder: SparkFolder, spark: KeptSpark, monkeypatch, linked: str
):
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with subprocess.Popen(["sleep", "600"]) as child:
        process = Process.find(child.pid)
        folder.write(replace(spark, keeper=process, jvm=process))
        assert spark_folders(environment) == [folder]
        with monkeypatch.context() as patch:
            patch.setattr(state.os, "geteuid", lambda: os.getuid() + 1)
            assert stop_kept(everywhere=True) == []
        place = folder.path.parent.parent / linked.replace("PLACE", folder.path.name)
        place.rename(tmp_path / "theirs")
        place.symlink_to(tmp_path / "theirs")
        assert stop_kept(everywhere=True) == []
        assert process.is_running
        child.kill()


@pytest.mark.parametrize("name", ["dbt-deltawiden/kept", "dbt-deltawiden/kept/PLACE"])
def test_a_folder_that_is_a_link_is_refused_and_not_followed(tmp_path: Path, name: str):
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    place = spark_folder("a place", environment).path
    link = tmp_path / "cache" / name.replace("PLACE", place.name)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    elsewhere.chmod(0o755)
    shutil.rmtree(link)
    link.symlink_to(elsewhere)
    with pytest.raises(DbtConfigError, match="is a symbolic link"):
        spark_folder("a place", environment)
    assert elsewhere.stat().st_mode & 0o777 == 0o755
    assert [*elsewhere.iterdir()] == []


def test_a_user_without_a_home_has_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DbtConfigError, match="has no home folder"):
        spark_folder("a place", {})
    assert spark_folders({}) == []
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(DbtConfigError, match=r"cache/dbt-deltawiden/kept can't be made: Not a dir"):
        spark_folder("a place", {"XDG_CACHE_HOME": str(tmp_path / "cache")})


def test_a_file_that_cannot_be_opened_is_explained(folder: SparkFolder):
    (folder.path / "lock").mkdir()
    text = f"can't use its folder {folder.path}: Is a directory"
    with pytest.raises(DbtRuntimeError, match=text), folder.explained(), folder.locked():
        pass


def test_each_place_has_a_folder(tmp_path: Path, folder: SparkFolder):
    other = spark_folder("another", {"XDG_CACHE_HOME": str(tmp_path)})
    found = spark_folders({"XDG_CACHE_HOME": str(tmp_path)})
    assert sorted(each.path for each in found) == sorted([folder.path, other.path])
    assert spark_folders({"XDG_CACHE_HOME": str(tmp_path / "none")}) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"keeper": 1}', "null"])
def test_a_damaged_file_is_no_spark(folder: SparkFolder, text: str):
    (folder.path / "spark.json").write_text(text)
    assert folder.read() is None


def test_nothing_is_left_of_what_cannot_be_written(folder: SparkFolder, spark: KeptSpark):
    (folder.path / "spark.json").mkdir()
    with pytest.raises(OSError, match=r"spark\.json"):
        folder.write(spark)
    with pytest.raises(OSError, match=r"spark\.json"):
        folder.read()
    assert {file.name for file in folder.path.iterdir()} == {"spark.json"}


def test_a_spark_is_forgotten(folder: SparkFolder, spark: KeptSpark):
    folder.write(spark)
    for name in ("tmp_of_a_killed_process", ".spark.json.of_a_killed_process"):
        (folder.path / name).touch()
    folder.forget()
    folder.forget()
    assert folder.read() is None
    assert [*folder.path.iterdir()] == []


def test_a_folder_that_was_deleted_and_made_anew_is_another(tmp_path: Path, spark: KeptSpark):
    metastore = tmp_path / "metastore_db"
    metastore.mkdir()
    (metastore / "file").touch()
    started = replace(spark, folders=identities([str(metastore), "/no/such/folder"]))
    assert started.has_its_folders
    (metastore / "another").touch()
    assert started.has_its_folders
    metastore.rename(tmp_path / "away")
    assert not started.has_its_folders
    metastore.mkdir()
    assert not started.has_its_folders


def test_a_folder_that_nobody_has_used_for_a_week_is_removed(tmp_path: Path, spark: KeptSpark):
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    names = ("old", "new", "running", "locked", "asked for")
    folders = {name: spark_folder(name, environment) for name in names}
    folders["running"].write(spark)
    folders["old"].write(replace(spark, jvm=Process(spark.jvm.pid, "another time")))
    for name, folder in folders.items():
        with folder.locked():
            folder.use(1).end()
        used = time.time() - (6 if name == "new" else 8) * 24 * 60 * 60
        for file in (*folder.path.iterdir(), folder.path):
            os.utime(file, (used, used))
    spark_folder("asked for", environment)
    with folders["locked"].locked():
        remove_unused(environment)
    left = {name for name, folder in folders.items() if folder.path.exists()}
    assert left == {"new", "running", "locked", "asked for"}


# Locks


def test_one_at_a_time_holds_the_lock(folder: SparkFolder):
    with folder.locked(), pytest.raises(LockIsHeld, match=r"spark\.log"), folder.locked(0):
        pass
    with folder.locked(0):
        pass


def test_who_waits_for_the_lock_says_so(folder: SparkFolder, monkeypatch: pytest.MonkeyPatch):
    said: list[str] = []
    monkeypatch.setattr(announce, "_SECONDS", 0.01)
    monkeypatch.setattr(announce.logger, "info", said.append)
    with folder.locked():
        with pytest.raises(LockIsHeld), folder.locked(0.5):
            pass
        with pytest.raises(LockIsHeld), folder.locked(0):
            pass
    assert said == ["Waiting for another dbt command that starts or ends Spark."]


def test_many_can_use_a_spark(folder: SparkFolder):
    assert not folder.is_used
    first, second = folder.use(900), folder.use(60)
    assert folder.is_used
    first.end()
    assert folder.is_used
    second.end()
    assert not folder.is_used
    used, keep_alive = folder.last_use or (0, 0)
    assert keep_alive == 60
    assert abs(used - time.time()) < 60


USES = """
import sys, time
from pathlib import Path
from dbt.adapters.deltawiden.spark.keep_alive.state import SparkFolder
use = SparkFolder(Path(sys.argv[1])).use(1)
if sys.argv[2:]:
    use.note_sessions(lambda: None)
print("uses", flush=True)
time.sleep(600)
"""


def kill_a_user(folder: SparkFolder, *arguments: str) -> None:
    command = [sys.executable, "-c", USES, str(folder.path), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "uses\n"
            assert folder.is_used
            assert not folder.was_killed
        finally:
            process.kill()


def test_the_use_of_a_process_ends_with_it_even_if_it_is_killed(folder: SparkFolder):
    kill_a_user(folder)
    assert not folder.is_used


def test_a_killed_process_is_noticed_if_it_had_sessions(folder: SparkFolder, spark: KeptSpark):
    kill_a_user(folder)
    use = folder.use(900)
    use.note_sessions(list)
    assert not folder.was_killed
    kill_a_user(folder, "has sessions")
    assert folder.was_killed
    use.end()
    assert folder.was_killed
    folder.write(spark)
    folder.forget()
    assert not folder.was_killed


def test_a_use_that_ended_leaves_nothing(folder: SparkFolder):
    use = folder.use(900)
    use.note_sessions(list)
    use.end()
    assert not folder.was_killed
    assert {file.name for file in folder.path.iterdir()} == {"lock", "used"}


def test_the_first_with_sessions_is_not_the_first_that_attaches(folder: SparkFolder):
    attached, other = folder.use(900), folder.use(900)
    cleaned: list[str] = []
    other.note_sessions(lambda: cleaned.append("other"))
    attached.note_sessions(lambda: cleaned.append("attached"))
    assert cleaned == ["other"]
    other.end()
    attached.end()
    folder.use(900).note_sessions(lambda: cleaned.append("later"))
    assert cleaned == ["other", "later"]


# Processes


def test_a_process_is_found_by_when_it_was_started():
    with subprocess.Popen(["sleep", "600"]) as child:
        process = Process.find(child.pid)
        impostor = Process(child.pid, "another time")
        assert process.is_running
        assert not impostor.is_running
        impostor.send(signal.SIGKILL)
        assert not wait_until_ended([process], 0.2)
        assert json.loads(json.dumps(process.resident_bytes)) > 0
        process.send(signal.SIGKILL)
        # It is not waited for yet: a process that has ended does not run, even if the system
        # still has its entry.
        assert wait_until_ended([process], 10)
    assert not process.is_running
    process.send(signal.SIGKILL)


def test_there_is_no_process_with_the_id_of_none():
    assert not Process.find(2**22 + 1).is_running
