"""The jars that are cached between starts of Spark."""

import os
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark.jar_cache import JarCache, without_bundled
from dbt.adapters.deltawiden.spark.start import SparkStart

PACKAGES = "io.delta:delta-spark_4.1_2.13:4.4.0"


@pytest.fixture
def jars(tmp_path: Path) -> list[Path]:
    """Two jars, in a folder whose name has to be escaped in a URI."""
    folder = tmp_path / "Ivy's jars"
    folder.mkdir()
    files = [folder / "io.delta_delta-spark-4.4.0.jar", folder / "org.x_own-1.0.jar"]
    for file in files:
        file.write_bytes(b"jar")
    return files


@pytest.fixture
def found(tmp_path: Path) -> JarCache:
    return JarCache(PACKAGES, {"XDG_CACHE_HOME": str(tmp_path / "cache")})


def uris(jars: list[Path]) -> list[str]:
    return [jar.as_uri() for jar in jars]


def test_the_cache_is_empty_at_the_first_start(found: JarCache):
    assert found.read() == []


def test_resolved_jars_are_found_at_the_next_start(found: JarCache, jars: list[Path]):
    found.write(uris(jars))
    assert found.read() == uris(jars)


def test_other_packages_have_other_jars(found: JarCache, jars: list[Path], tmp_path: Path):
    found.write(uris(jars))
    other = JarCache(f"{PACKAGES}-SNAPSHOT", {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert other.read() == []


def test_ivy_resolves_again_if_a_jar_is_missing(found: JarCache, jars: list[Path]):
    found.write(uris(jars))
    jars[1].unlink()
    assert found.read() == []


def test_ivy_resolves_again_if_the_size_of_a_jar_changed(found: JarCache, jars: list[Path]):
    found.write(uris(jars))
    jars[1].write_bytes(b"")
    assert found.read() == []


def test_a_forgotten_entry_is_not_read(found: JarCache, jars: list[Path]):
    found.write(uris(jars))
    found.forget()
    found.forget()
    assert found.read() == []


@pytest.mark.parametrize("jar", ["hdfs://name/io.delta_x.jar", "file:///not/there.jar", ""])
def test_a_jar_that_is_not_a_local_file_is_not_kept(found: JarCache, jars: list[Path], jar: str):
    found.write([*uris(jars), jar])
    assert found.read() == []


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"file:///x.jar": 1}', '{"x": 1}', "\udcff"])
def test_ivy_resolves_again_if_the_file_is_broken(found: JarCache, jars: list[Path], text: str):
    found.write(uris(jars))
    found._file.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert found.read() == []


def test_nothing_is_kept_if_the_folder_cannot_be_written(jars: list[Path], tmp_path: Path):
    no_folder = tmp_path / "file"
    no_folder.touch()
    found = JarCache(PACKAGES, {"XDG_CACHE_HOME": str(no_folder)})
    found.write(uris(jars))
    assert found.read() == []


@pytest.mark.skipif(os.name != "posix", reason="the owner of a folder")
@pytest.mark.parametrize("of", ["another user", "a link"])
def test_jars_are_not_taken_from_a_folder_that_another_user_can_have_made(
    found: JarCache, jars: list[Path], tmp_path: Path, of: str, monkeypatch: pytest.MonkeyPatch
):
    found.write(uris(jars))
    folder = tmp_path / "cache" / "dbt-deltawiden"
    assert folder.stat().st_mode & 0o777 == 0o700
    if of == "a link":
        folder.symlink_to(folder.rename(tmp_path / "theirs"))
        assert found.read()  # The user has made the link.
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert found.read() == []
    found.write(uris(jars))  # and without an error


def test_nothing_else_is_left_beside_the_file(found: JarCache, jars: list[Path]):
    found.write(uris(jars))
    assert [*found._file.parent.iterdir()] == [found._file]


def test_a_jar_that_spark_has_itself_is_left_out(jars: list[Path], tmp_path: Path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "own-1.0.jar").touch()
    (own / "delta-spark-4.3.0.jar").touch()
    assert without_bundled(uris(jars), own) == uris(jars[:1])
    assert without_bundled(uris(jars), tmp_path / "none") == uris(jars)


# Whose packages they are


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"SPARK_CONF_DIR": str(tmp_path)}


def test_packages_that_only_the_adapter_names_are_its_own(environment: dict[str, str]):
    parameters = {"spark.driver.memory": "2g"}
    assert "spark.jars.packages" in SparkStart.read(parameters, environment).settings
    assert SparkStart.read(parameters, environment).own_packages
    # Where Ivy stores them chooses none of them.
    assert SparkStart.read({"spark.jars.ivy": "/ivy"}, environment).own_packages


@pytest.mark.parametrize(
    "key", ["spark.jars", "spark.jars.packages", "spark.jars.ivySettings", "spark.jars.excludes"]
)
def test_spark_resolves_the_jars_if_the_user_configures_any(
    environment: dict[str, str], key: str, tmp_path: Path
):
    assert not SparkStart.read({key: "a:b:1"}, environment).own_packages
    arguments = {"PYSPARK_SUBMIT_ARGS": f"--conf {key}=a:b:1 pyspark-shell"}
    assert not SparkStart.read({}, {**environment, **arguments}).own_packages
    (tmp_path / "spark-defaults.conf").write_text(f"{key} a:b:1\n")
    assert not SparkStart.read({}, environment).own_packages


def test_on_a_cluster_spark_distributes_all_jars(environment: dict[str, str]):
    assert not SparkStart.read({"spark.master": "yarn"}, environment).own_packages
