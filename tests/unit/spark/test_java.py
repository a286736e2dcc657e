"""The Java that Spark would use, and the options that its JVM starts with."""

from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark.java import (
    Java,
    default_options,
    find_java,
    given_java_options,
    java_version,
)

RELEASE = 'IMPLEMENTOR="Debian"\nJAVA_VERSION="{}"\n'


def java(version: str, more: str = "") -> Java:
    return Java(Path("/jdk"), RELEASE.format(version) + more)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\necho 'openjdk version \"17.0.15\"' >&2\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(RELEASE.format("17.0.15"))
    return home


def test_java_is_that_of_java_home(home: Path):
    environment = {"JAVA_HOME": str(home)}
    assert find_java(environment) == Java(home, RELEASE.format("17.0.15"))
    assert java_version(environment) == "17.0.15"


def test_java_is_found_through_links(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(tools))
    found = find_java({})
    assert found is not None
    assert found.home == home


def test_there_may_be_no_java_or_one_that_does_not_say_what_it_is(home: Path):
    assert find_java({"JAVA_HOME": "/no/jdk"}) is None
    assert java_version({"JAVA_HOME": "/no/jdk"}) is None
    (home / "release").write_bytes(b"\xff")
    assert find_java({"JAVA_HOME": str(home)}) is None
    (home / "release").unlink()
    assert find_java({"JAVA_HOME": str(home)}) is None


COLLECTION = ("-XX:+UseParallelGC", "-XX:GCTimeRatio=19")


@pytest.mark.parametrize(
    ("found", "has"),
    [
        (java("1.8.0_402"), False),
        (java("11.0.2"), False),
        (java("13"), True),
        (java("17.0.15", 'JVM_VARIANT="Hotspot"\n'), True),
        (java("17.0.15", 'JVM_VARIANT="Openj9"\n'), False),
        (java("21.0.1+12"), True),
        (Java(Path("/jdk"), ""), False),
    ],
)
def test_archives_are_made_by_hotspot_from_java_13_on(found: Java, has: bool):
    assert found.has_dynamic_archive == has
    assert bool(default_options(found, [])) == has


@pytest.mark.parametrize(
    "option",
    [
        "-XX:TieredStopAtLevel=1",
        "-XX:Tier4InvocationThreshold=5000",
        "-XX:-TieredCompilation",
        "-XX:CompileThreshold=10",
        "-XX:ReservedCodeCacheSize=64m",
        "-XX:+UseJVMCICompiler",
        "-Xint",
        "-Xcomp",
    ],
)
def test_the_user_s_options_about_compilation_are_the_only_ones(option: str):
    assert default_options(java("17"), ["-Dx=1", option]) == COLLECTION


@pytest.mark.parametrize(
    "option",
    [
        "-XX:+UseZGC",
        "-XX:+UseG1GC",
        "-XX:G1HeapRegionSize=32m",
        "-XX:MaxGCPauseMillis=100",
        "-XX:ParallelGCThreads=2",
        "-XX:ShenandoahGCMode=iu",
    ],
)
def test_the_user_s_options_about_collection_are_the_only_ones(option: str):
    options = default_options(java("17"), ["-Dx=1", option])
    assert options
    assert not set(options) & set(COLLECTION)


@pytest.mark.parametrize("option", ["-Dx=-XX:Tier4", "-Xlog:gc", "-Xmx2g", "-Dx=-XX:+UseZGC"])
def test_other_options_do_not_matter(option: str):
    assert default_options(java("17"), [option]) == default_options(java("17"), [])
    assert default_options(None, [option]) == ()


def test_the_user_gives_options_in_settings_and_variables():
    given = {"spark.driver.extraJavaOptions": "-Da=1  -Db=2", "spark.driver.memory": "1g"}
    environment = {"JAVA_TOOL_OPTIONS": "-Dc=3", "JDK_JAVA_OPTIONS": "-Dd=4", "PATH": "/x"}
    found = given_java_options({**given, "spark.driver.defaultJavaOptions": "-De=5"}, environment)
    assert sorted(found) == ["-Da=1", "-Db=2", "-Dc=3", "-Dd=4", "-De=5"]
