"""Which archive of classes fits a start of Spark, and when it is made and deleted."""

import atexit
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import pytest

from dbt.adapters.deltawiden.spark import class_archive
from dbt.adapters.deltawiden.spark.class_archive import (
    ClassArchive,
    find_archive,
    remove_old_archives,
)
from dbt.adapters.deltawiden.spark.java import Java
from dbt.adapters.deltawiden.spark.start import JavaStart, SparkStart

OWN_JARS = ("spark-core_2.13-4.1.4.jar", "log4j-core-2.24.3.jar")
DELTA = "io.delta_delta-spark_4.1_2.13-4.4.0.jar"
OTHER_LOG4J = "org.apache_log4j-core-2.25.3.jar"


class Machine:
    """A Java, a Spark, jars of Delta and a cache folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.own = folder / "spark" / "jars"
        self.java: Java | None = Java(folder / "jdk", 'JAVA_VERSION="17.0.15"\n')
        self.jars = [folder / "ivy" / name for name in (DELTA, OTHER_LOG4J)]
        for file in (*self.jars, *(self.own / name for name in OWN_JARS)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"jar")
        self.environment = {
            "SPARK_HOME": str(folder / "spark"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def jar(self, name: str, *files: str) -> str:
        """Make a jar of the user's, and return its path."""
        with ZipFile(self.folder / name, "w") as jar:
            for file in ("a/B.class", *files):
                jar.writestr(file, "")
        return str(self.folder / name)

    def start(self, *options: str, class_path: str = "", **settings: str) -> SparkStart:
        profile = {"spark.master": "local[*]"}
        profile |= {f"spark.driver.{key}": value for key, value in settings.items()}
        if class_path:
            profile["spark.driver.extraClassPath"] = class_path
        jars = ",".join(jar.as_uri() for jar in self.jars)
        given = {"spark.jars": jars, "spark.driver.memory": "4g", **profile}
        java = JavaStart(self.java, options)
        return SparkStart(profile, {}, given, java, self.environment)

    def find(self, *options: str, class_path: str = "", **settings: str) -> ClassArchive | None:
        return find_archive(self.start(*options, class_path=class_path, **settings))

    def archive(self, *options: str, **settings: str) -> ClassArchive:
        found = self.find(*options, **settings)
        assert found is not None
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def make(archive: ClassArchive, text: str = "classes") -> ClassArchive:
    Path(archive.file).parent.mkdir(parents=True, exist_ok=True)
    Path(archive.file).write_text(text)
    archive.write_stamp()
    return archive


# Which archive fits


def test_the_class_path_has_the_user_s_jars_then_spark_s_then_delta_s(machine: Machine):
    mine = machine.jar("mine.jar")
    found = machine.find(class_path=mine)
    assert found is not None
    # Spark has another version of the logger.
    assert found.class_path == f"{mine}:{machine.own}/*:{machine.jars[0]}"
    assert found.settings == {"spark.driver.extraClassPath": found.class_path}


def test_there_is_none_on_a_cluster_or_for_other_jars(machine: Machine):
    start = machine.start()
    assert find_archive(start) is not None
    packages = {**start.settings, "spark.jars.packages": "a:b:1"}
    assert find_archive(replace(start, settings=packages)) is None
    assert find_archive(replace(start, outside={"spark.jars": "/mine.jar"})) is None
    assert find_archive(replace(start, outside={"spark.jars.ivy": "/ivy"})) is not None
    assert find_archive(replace(start, java=JavaStart())) is None


def test_there_is_none_in_a_folder_that_another_user_can_have_made(machine: Machine):
    folder = Path(machine.archive().file).parent
    folder.symlink_to(folder.rename(machine.folder / "theirs"))
    assert machine.find() is None


def test_the_same_start_has_the_same_archive(machine: Machine):
    assert machine.find("-Dx=1", "-Xlog:gc") == machine.find()
    assert machine.archive(memory="8g").file == machine.archive().file


def test_another_class_path_or_java_has_another_archive(machine: Machine):
    files = [machine.archive().file]
    assert machine.java is not None
    machine.java = replace(machine.java, release='JAVA_VERSION="17.0.16"\n')
    files.append(machine.archive().file)
    (machine.folder / "jdk" / "lib").mkdir(parents=True)
    (machine.folder / "jdk" / "lib" / "modules").write_text("")
    files.append(machine.archive().file)
    machine.jars[0].write_bytes(b"other")
    files.append(machine.archive().file)
    os.utime(machine.jars[0], (1, 1))
    files.append(machine.archive().file)
    (machine.own / OWN_JARS[0]).unlink()
    files.append(machine.archive().file)
    machine.jars.pop()
    machine.jars.pop()
    files.append(machine.archive().file)
    mine = machine.jar("mine.jar")
    files.append(machine.archive(class_path=mine).file)
    os.utime(mine, (1, 1))
    files.append(machine.archive(class_path=mine).file)
    assert len(set(files)) == len(files)


@pytest.mark.parametrize(
    "option", ["-XX:+UseZGC", "-XX:-UseCompressedOops", "-XX:ObjectAlignmentInBytes=16"]
)
def test_an_option_that_an_archive_depends_on_is_part_of_it(machine: Machine, option: str):
    found = machine.archive("-Dx=1", option)
    assert found.file != machine.archive().file
    assert found.options == (option,)


@pytest.mark.parametrize("memory", ["32g", "33000m", "1t", "40gb", "34000000k"])
def test_a_large_memory_has_another_archive(machine: Machine, memory: str):
    found = machine.archive(memory=memory)
    assert found.file != machine.archive().file
    assert (found.memory, machine.archive().memory) == ("32g", "256m")


@pytest.mark.parametrize("memory", ["31g", "512m", "none", "1.5g"])
def test_other_memories_have_the_same_archive(machine: Machine, memory: str):
    assert machine.archive(memory=memory).file == machine.archive().file


@pytest.mark.parametrize(
    "option",
    [
        "-Xshare:auto",
        "-Xshare:off",
        "-XX:SharedArchiveFile=/mine.jsa",
        "-XX:ArchiveClassesAtExit=/mine.jsa",
        "-XX:+AutoCreateSharedArchive",
        "-XX:DumpLoadedClassList=/mine.txt",
        "-javaagent:/mine.jar",
        "-agentlib:jdwp=transport=dt_socket",
        "--patch-module=java.base=/mine",
    ],
)
def test_the_user_s_options_about_archives_turn_it_off(machine: Machine, option: str):
    assert machine.find("-Dx=1", option) is None


def test_a_class_path_with_more_than_jars_of_classes_has_no_archive(machine: Machine):
    folder = machine.folder / "conf"
    folder.mkdir()
    jar = machine.jar("mine.jar")
    assert machine.find(class_path=f"{jar}:{jar}") is not None
    with_metastore = machine.jar("conf.jar", "hive-site.xml")
    for entry in (str(folder), f"{machine.folder}/*", "/no.jar", with_metastore):
        assert machine.find(class_path=f"{jar}:{entry}") is None
    # A copy of the file in another folder of the jar is not read.
    assert machine.find(class_path=machine.jar("a.jar", "example/hive-site.xml")) is not None


def test_an_old_java_and_no_java_have_no_archive(machine: Machine):
    machine.java = Java(machine.folder, 'JAVA_VERSION="11.0.2"\n')
    assert machine.find() is None
    machine.java = None
    assert machine.find() is None


def test_a_path_that_is_no_entry_of_a_class_path_has_no_archive(tmp_path: Path):
    assert Machine(tmp_path / "a:b").find() is None


# When it is made and deleted


def test_an_archive_exists_as_long_as_it_is_as_it_was_made(machine: Machine):
    archive = machine.archive()
    assert not archive.exists()
    assert make(archive).exists()
    with Path(archive.file).open("r+") as file:
        file.write("CLASSES")
    os.utime(archive.file, (1, 1))
    assert not archive.exists()
    make(archive)
    Path(archive.file).unlink()
    assert not archive.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "null", '{"size": 1}', "\udcff"])
def test_an_archive_with_a_broken_stamp_is_made_again(machine: Machine, text: str):
    archive = make(machine.archive())
    archive._stamp.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert not archive.exists()
    assert not archive.has_failed()


def test_a_forgotten_archive_is_deleted(machine: Machine):
    archive = make(machine.archive())
    archive.forget()
    archive.forget()
    assert [*Path(archive.file).parent.iterdir()] == []


@pytest.fixture
def at_exit(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    registered: list[object] = []
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(class_archive, "memory_bytes", lambda: 4 * 2**30)
    monkeypatch.setattr(atexit, "register", registered.append)
    return registered


def test_an_archive_is_made_once(machine: Machine, at_exit: list[object]):
    archive = machine.archive()
    archive.make_at_exit()
    assert len(at_exit) == 1
    make(archive).make_at_exit()
    assert len(at_exit) == 1


def test_an_archive_that_could_not_be_made_is_tried_again_after_a_day(
    machine: Machine, at_exit: list[object]
):
    archive = machine.archive()
    archive.write_stamp(failed="the JVM has no archive of its own")
    archive.make_at_exit()
    assert at_exit == []
    yesterday = time.time() - 25 * 60 * 60
    os.utime(archive._stamp, (yesterday, yesterday))
    archive.make_at_exit()
    assert len(at_exit) == 1


def test_nothing_is_made_on_a_build_server(
    machine: Machine, at_exit: list[object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CI", "true")
    machine.archive().make_at_exit()
    assert at_exit == []


def test_there_is_none_in_a_folder_that_cannot_be_created(machine: Machine):
    (machine.folder / "cache").write_text("a file")
    assert machine.find() is None


def test_nothing_is_made_with_little_memory(
    machine: Machine, at_exit: list[object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(class_archive, "memory_bytes", lambda: 2 * 2**30)
    machine.archive().make_at_exit()
    assert at_exit == []


def test_nothing_is_made_on_a_full_disk(
    machine: Machine, at_exit: list[object], monkeypatch: pytest.MonkeyPatch
):
    full = SimpleNamespace(free=2**29)
    monkeypatch.setattr(class_archive.shutil, "disk_usage", lambda folder: full)
    machine.archive().make_at_exit()
    assert at_exit == []


def test_the_two_archives_that_were_used_last_are_kept(tmp_path: Path):
    archives = [make(ClassArchive(str(tmp_path / f"{name}.jsa"), "", (), "1g")) for name in "abcd"]
    for used, archive in zip((3, 4, 1, 2), archives, strict=True):
        os.utime(archive._stamp, (used, used))
    archives[2].mark_used()
    remove_old_archives(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("b.jsa", "b.json", "c.jsa", "c.json")
    ]
