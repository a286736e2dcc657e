"""Tables and metastore are in the folder that the documentation says, whatever its name is."""

import subprocess
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtConfigError
from dbt_common.invocation import reset_invocation_id

from dbt.adapters.deltawiden.spark import storage_folder
from dbt.adapters.deltawiden.spark.start import SparkStart
from dbt.adapters.deltawiden.spark.storage_folder import WAREHOUSE, settings_of_folder

ODD = "a b%20 #ü"
URL = "spark.hadoop.javax.jdo.option.ConnectionURL"


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / ODD
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_the_warehouse_is_in_a_working_folder_whose_name_spark_encodes(odd: Path):
    assert SparkStart.read({}, {}).settings[WAREHOUSE] == f"{odd}/spark-warehouse"


def test_sparks_default_stays_in_other_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert WAREHOUSE not in SparkStart.read({}, {}).settings


def test_a_warehouse_of_the_user_stays(odd: Path, tmp_path: Path):
    assert SparkStart.read({WAREHOUSE: "/data"}, {}).settings[WAREHOUSE] == "/data"
    assert (
        WAREHOUSE
        not in SparkStart.read({"spark.hadoop.hive.metastore.uris": "thrift://m"}, {}).settings
    )
    (tmp_path / "hive-site.xml").touch()
    assert WAREHOUSE not in SparkStart.read({}, {"HADOOP_CONF_DIR": str(tmp_path)}).settings


def test_a_folder_of_the_profile_starts_at_the_project():
    assert settings_of_folder("data/ü", "/home/my shop", {}) == {
        WAREHOUSE: "/home/my shop/data/ü/spark-warehouse",
        URL: "jdbc:derby:;databaseName=/home/my shop/data/ü/metastore_db;create=true",
    }
    assert settings_of_folder("/data", "/home/shop", {})[WAREHOUSE] == "/data/spark-warehouse"
    # dbt can read a profile more than once.
    settings_of_folder("x", "/y", settings_of_folder("x", "/y", {}))


@pytest.mark.parametrize(("folder", "given"), [("/data", {WAREHOUSE: "/other"}), ("/a;b", {})])
def test_a_folder_that_is_not_accepted(folder: str, given: dict[str, str]):
    with pytest.raises(DbtConfigError, match="spark_dir"):
        settings_of_folder(folder, "/home/shop", given)


def test_tables_in_the_wrong_place_are_named_and_the_commands_move_them(odd: Path, warned):
    wrong = odd.parent / "a%20b%2520%20%23ü" / "spark-warehouse"
    (wrong / "x.db").mkdir(parents=True)
    storage_folder.warn_of_other_folders({}, {}, str(odd))
    storage_folder.warn_of_other_folders({}, {}, str(odd))
    (text,) = warned
    assert f"Tables of earlier runs are in {wrong}" in text
    subprocess.run(text.rpartition("no dbt command runs: ")[2], shell=True, check=True)
    assert (odd / "spark-warehouse" / "x.db").is_dir()
    assert (wrong / "x.db").is_dir()  # The metastore's paths go on to work.
    warned.clear()
    reset_invocation_id()
    storage_folder.warn_of_other_folders({}, {}, str(odd))
    assert warned == []


def test_a_metastore_in_the_projects_folder_is_named(odd: Path, tmp_path: Path, warned):
    (tmp_path / "metastore_db").mkdir()
    storage_folder.warn_of_other_folders({}, {}, str(tmp_path))
    assert "set `spark_dir: .` in the profile" in warned[0]


def test_new_folders_inside_a_project_are_hidden_from_git(odd: Path):
    (odd / "metastore_db").mkdir()
    folders = storage_folder.new_folders({}, str(odd))
    assert folders == {f"{odd}/spark-warehouse"}
    (odd / "spark-warehouse").mkdir()
    storage_folder.hide_from_git({*folders, "not made"})
    assert (odd / "spark-warehouse" / ".gitignore").read_text().endswith("\n*\n")
    assert not (odd / "metastore_db" / ".gitignore").exists()


def test_only_folders_inside_a_project_are_hidden_from_git(odd: Path):
    given = settings_of_folder("data", str(odd), {})
    data = odd / "data"
    assert storage_folder.new_folders(given, str(odd)) == {
        f"{data}/spark-warehouse",
        f"{data}/metastore_db",
    }
    assert storage_folder.new_folders(given, f"{odd}/shop") == set()
