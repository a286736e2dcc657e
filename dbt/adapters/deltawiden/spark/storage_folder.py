"""Choose the folder in which the Spark of this machine keeps its tables and its metastore.

Spark's own default for the warehouse is the working folder, as a URI. It then reads the URI as a
path, so that tables are not in `a b`, but in a folder beside it that is named `a%20b`.
"""

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.warnings import warn_once

WAREHOUSE = "spark.sql.warehouse.dir"
_URL = "spark.hadoop.javax.jdo.option.ConnectionURL"
_HIVE = ("hive.metastore.warehouse.dir", "hive.metastore.uris", "javax.jdo.option.ConnectionURL")
_DEFAULT_URL = "jdbc:derby:;databaseName=metastore_db;create=true"
_ELSEWHERE = {WAREHOUSE, *_HIVE, *(f"spark.hadoop.{key}" for key in _HIVE)}
CONFIGURATION_FOLDERS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
_TABLES, _METASTORE = "spark-warehouse", "metastore_db"
# What java.io.File.toURI encodes. Letters of other alphabets stay as they are.
_ENCODED = re.compile(r"""[\s%#?^`{}|"<>\\\[\]]""")


def settings_of_folder(folder: str, project: str, parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with which Spark keeps tables and metastore in a folder.

    Args:
        folder: ``spark_dir`` of the profile. A relative path starts at the project's folder.

    Raises:
        DbtConfigError: the folder is not accepted, or other settings decide about it.
    """
    path = os.path.abspath(os.path.join(project, os.path.expanduser(folder)))
    if ";" in path:
        raise DbtConfigError(
            f"The profile's spark_dir is {path!r}. The name of the metastore's folder can't have a "
            "semicolon: choose another folder"
        )
    settings = {
        WAREHOUSE: os.path.join(path, _TABLES),
        _URL: f"jdbc:derby:;databaseName={os.path.join(path, _METASTORE)};create=true",
    }
    given = _ELSEWHERE & parameters.keys()
    others = sorted(key for key in given if parameters[key] != settings.get(key))
    if others:
        raise DbtConfigError(
            f"The profile has spark_dir, and {', '.join(others)} in server_side_parameters. Both "
            "say where tables are: remove one of them"
        )
    return settings


def embedded_database(catalog: str | None, hive: Callable[[str], str | None]) -> str | None:
    """Return the URL of the Derby database that Spark itself opens as its metastore, if it does."""
    if catalog != "hive" or hive("hive.metastore.uris"):
        return None
    url = hive("javax.jdo.option.ConnectionURL") or _DEFAULT_URL
    return url if url.startswith("jdbc:derby:") and "://" not in url else None


def default_warehouse(given: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the setting for the warehouse, if Spark's default is wrong and the user has none."""
    if not _ENCODED.search(os.getcwd()) or _decides_elsewhere(given, environment):
        return {}
    return {WAREHOUSE: os.path.join(os.getcwd(), _TABLES)}


def _decides_elsewhere(given: Mapping[str, str], environment: Mapping[str, str]) -> bool:
    named = (environment[key] for key in CONFIGURATION_FOLDERS if environment.get(key))
    home = environment.get("SPARK_HOME")
    folders = [*named, *([os.path.join(home, "conf")] if home else [])]
    # It can have the folder of the warehouse.
    has_file = any(Path(folder, "hive-site.xml").is_file() for folder in folders)
    return has_file or bool(_ELSEWHERE & given.keys())


def warn_of_other_folders(
    given: Mapping[str, str], environment: Mapping[str, str], project: str
) -> None:
    """Warn, once in an invocation, of tables that earlier runs have left in another folder."""
    if _decides_elsewhere(given, environment):
        return
    if text := _misplaced_text() or _other_metastore_text(project):
        warn_once(text)


def _misplaced_text() -> str:
    """Say how to move the tables that Spark's own default has put beside the working folder."""
    working = os.getcwd()
    wrong = os.path.join(_ENCODED.sub(lambda found: quote(found[0]), working), _TABLES)
    if wrong == os.path.join(working, _TABLES) or os.path.islink(wrong) or not os.path.isdir(wrong):
        return ""
    old, new = shlex.quote(wrong), shlex.quote(os.path.join(working, _TABLES))
    return (
        f"Tables of earlier runs are in {wrong}, because Spark had encoded the name of the working "
        "folder. Runs still find them there, and their schemas get new tables there. To have them "
        "in the working folder, run this while no dbt command runs: "
        f"mkdir -p {new} && mv {old}/* {new}/ && rmdir {old} && ln -s {new} {old}"
    )


def _other_metastore_text(project: str) -> str:
    working = os.path.realpath(os.getcwd())
    is_new = not os.path.isdir(os.path.join(working, _METASTORE))
    if not is_new or not os.path.isdir(os.path.join(project, _METASTORE)):
        return ""
    return (
        f"Spark makes a new metastore in the working folder, {working}, and the project's folder "
        f"{os.path.realpath(project)} already has one with tables. Start dbt in the project's "
        "folder, or set `spark_dir: .` in the profile: tables and metastore are then always in "
        "the project's folder"
    )


def new_folders(given: Mapping[str, str], project: str) -> set[str]:
    """Return the folders of tables and metastore inside a project that do not exist yet.

    Args:
        given: the settings of Spark that the user or the profile's ``spark_dir`` has set.
    """
    url = given.get(_URL, _DEFAULT_URL).removeprefix("jdbc:derby:;databaseName=")
    names = (given.get(WAREHOUSE, _TABLES), url.split(";")[0])
    inside = os.path.join(os.path.realpath(project), "")
    folders = (os.path.realpath(name) for name in names)
    return {each for each in folders if each.startswith(inside) and not os.path.exists(each)}


def hide_from_git(folders: Iterable[str]) -> None:
    """Write a ``.gitignore`` for everything into each of the folders that exists now.

    Spark takes no file for data whose name begins with a dot.
    """
    for folder in filter(os.path.isdir, folders):
        # A run does not need it.
        with contextlib.suppress(OSError), Path(folder, ".gitignore").open("x") as file:
            file.write(
                "# Made by dbt-deltawiden: tables and metastore are no part of a project.\n*\n"
            )


_S3 = re.compile(r"(s3[an]?)://", re.IGNORECASE)
_LOG_STORE_OF_ALL = "spark.delta.logStore.class"


def warn_of_a_second_driver(location: str, setting: Callable[[str], str | None]) -> None:
    """Warn once in an invocation if the tables that this process writes, as a driver, are on S3.

    Delta's log store for S3 does not prevent two drivers from writing the same version of a table:
    the rows of one of them are lost, and neither sees an error.

    Args:
        setting: returns the value of a setting of Spark, or None. If the log store for S3 is
            set, the user has decided, and there is no warning.

    Source:
        https://docs.delta.io/latest/delta-storage.html (Amazon S3, single-cluster setup)
    """
    text = _warning(location, setting)
    if text is not None:
        warn_once(text)


def _warning(location: str, setting: Callable[[str], str | None]) -> str | None:
    found = _S3.match(location)
    if found is None:
        return None
    log_store = f"spark.delta.logStore.{found[1].lower()}.impl"
    if setting(log_store) or setting(_LOG_STORE_OF_ALL):
        return None
    return (
        f"Tables are on S3 ({location}), and this dbt process is a Spark driver of its own. "
        "On S3, Delta allows only one driver at a time to write to a table. If two drivers write "
        "to a table at the same time, the rows of one of them can be lost without an error. Run "
        "only one dbt process at a time on these tables, or use one Spark server for all of them "
        f"(method: connect or thrift). Set {log_store} in the server_side_parameters to the log "
        "store that you have chosen, and this warning does not appear any more: "
        "https://docs.delta.io/latest/delta-storage.html"
    )
