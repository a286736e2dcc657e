"""The folder for the temporary files of a Spark on this machine."""

import errno
import os
import platform
import tempfile
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark import temporary_folder as module
from dbt.adapters.deltawiden.spark.temporary_folder import temporary_folder

OPTION = "-Djava.io.tmpdir="


def test_no_other_user_can_open_it(tmp_path: Path):
    with temporary_folder(["-Xshare:auto", f"{OPTION}{tmp_path}"]) as folder:
        assert folder is not None
        assert os.path.dirname(folder.path) == str(tmp_path)
        assert os.stat(folder.path).st_mode & 0o777 == 0o700
        assert folder.java_option == f"{OPTION}{folder.path}"


@pytest.mark.parametrize(("of_java", "of_python"), [("", "none"), ("none", "")])
def test_it_is_where_java_has_its_own_or_else_where_python_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_java: str, of_python: str
):
    monkeypatch.setattr(module, "_OF_JAVA", str(tmp_path / of_java))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / of_python))
    with temporary_folder([]) as folder:
        assert folder is not None
        assert os.path.dirname(folder.path) == str(tmp_path)


@pytest.mark.parametrize("options", [[f"{OPTION}'/a", "b'"], [f"{OPTION}/no/such/folder"]])
def test_a_folder_that_the_user_names_and_that_is_not_found_is_left_to_java(options: list[str]):
    with temporary_folder(options) as folder:
        assert folder is None


def test_a_start_removes_what_a_killed_spark_has_left_and_nothing_else(tmp_path: Path):
    options = [f"{OPTION}{tmp_path}"]
    other = tmp_path / "dbt-deltawiden-spark-notes"
    other.mkdir()
    with temporary_folder(options) as killed:
        assert killed is not None
        (Path(killed.path) / "blockmgr").mkdir()
        inherited = os.dup(killed.lock)
    with temporary_folder(options) as second:
        assert second is not None
        assert {*tmp_path.iterdir()} == {other, Path(killed.path), Path(second.path)}
        os.close(inherited)
        with temporary_folder(options) as third:
            assert third is not None
            assert {*tmp_path.iterdir()} == {other, Path(second.path), Path(third.path)}


def test_a_start_removes_what_one_that_failed_has_left(tmp_path: Path):
    options = [f"{OPTION}{tmp_path}"]
    with pytest.raises(ValueError, match="no Java"), temporary_folder(options):
        raise ValueError("no Java")
    with temporary_folder(options) as folder:
        assert folder is not None
        assert [*tmp_path.iterdir()] == [Path(folder.path)]


def test_a_new_folder_that_another_start_has_removed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    attempts: list[int] = []

    def lock_too_late(lock: int) -> bool:
        if not attempts:
            for made in tmp_path.iterdir():
                made.rmdir()
        attempts.append(lock)
        return True

    monkeypatch.setattr(module, "try_lock_if_supported", lock_too_late)
    with temporary_folder([f"{OPTION}{tmp_path}"]) as folder:
        assert folder is not None
        assert os.path.isdir(folder.path)
    assert len(attempts) == 2


def test_it_is_made_without_locks_and_no_other_one_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def no_locks(lock: int, operation: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", no_locks)
    options = [f"{OPTION}{tmp_path}"]
    with temporary_folder(options) as first, temporary_folder(options) as second:
        assert first is not None
        assert second is not None
        assert {*tmp_path.iterdir()} == {Path(first.path), Path(second.path)}


def test_the_folder_of_a_spark_on_another_machine_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    options = [f"{OPTION}{tmp_path}"]
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    for name in ("one", "two"):
        monkeypatch.setattr(platform, "node", lambda name=name: name)
        with temporary_folder(options):
            pass
    assert len([*tmp_path.iterdir()]) == 2
