"""PostgreSQL on loopback, as the database of Hive's metastore."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyspark

from tests.servers.jars import resolved_jars
from tests.servers.server import LOOPBACK, free_port, watched

DRIVER = "org.postgresql:postgresql:42.7.7"
# The version of the Hive client that PySpark includes, as its metastore's tables name it.
HIVE = "2.3.0"
USER = "hive"
DATABASE = "postgres"
PASSWORD = "metastore-s3cret"
# PostgreSQL does not run as root. Debian's package has this account.
ACCOUNT = "postgres"


def jdbc_driver() -> str:
    """Download PostgreSQL's JDBC driver. Return its path."""
    (jar,) = (jar for jar in resolved_jars(DRIVER) if "org.postgresql" in jar)
    return jar


@contextlib.contextmanager
def metastore_database(driver: str) -> Iterator[dict[str, str]]:
    """Run PostgreSQL with an empty metastore until the block or this process ends.

    Args:
        driver: the path of PostgreSQL's JDBC driver.

    Returns:
        The settings of Spark for this metastore.
    """
    # pytest's own folders are closed to other accounts.
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        data, port = _initialised(folder), free_port()
        server = [*_as_account(), _program("postgres"), "-D", str(data), "-p", str(port)]
        server += ["-h", LOOPBACK, "-k", str(folder), "-c", "fsync=off"]
        log_folder = Path(tempfile.mkdtemp(dir=folder))
        with watched(server, log_folder, [port]), contextlib.ExitStack() as stack:
            # Without this, it waits for Spark's open connections.
            stop = [*_as_account(), _program("pg_ctl"), "stop", "-D", str(data), "-m", "fast"]
            stack.callback(subprocess.run, stop, check=True, stdout=subprocess.DEVNULL)
            _create_tables(folder, driver, port)
            yield _settings(driver, port)
    finally:
        shutil.rmtree(folder)


def _initialised(folder: Path) -> Path:
    """Make the files of a server whose user has a password. Return their folder."""
    data, password = folder / "data", folder / "password"
    password.write_text(PASSWORD)
    if os.geteuid() == 0:
        for path in (folder, password):
            shutil.chown(path, ACCOUNT)
    initdb = [*_as_account(), _program("initdb"), "-D", str(data), "-U", USER, "-E", "UTF8"]
    initdb += ["--auth=scram-sha-256", f"--pwfile={password}", "--no-sync"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL)
    return data


def _as_account() -> list[str]:
    """Return what a command begins with, so that it does not run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"]


def _program(name: str) -> str:
    """Find a program of PostgreSQL's server, which Debian does not put on PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = shutil.which(name) or (str(installed[-1]) if installed else None)
    if found is None:
        raise FileNotFoundError(
            f"{name} of PostgreSQL is not installed: apt-get install postgresql"
        )
    return found


def _create_tables(folder: Path, driver: str, port: int) -> None:
    """Create the metastore's tables, as Hive's own ``schematool`` does.

    Spark does not include that tool. The mapping of Hive's classes to tables is in its jars.
    """
    mapping, properties = folder / "package.jdo", folder / "datanucleus.properties"
    jars = Path(pyspark.__file__).parent / "jars"
    (hive,) = jars.glob("hive-metastore-*.jar")
    mapping.write_bytes(zipfile.ZipFile(hive).read(mapping.name))
    options = {"URL": _url(port), "UserName": USER, "Password": PASSWORD}
    options["DriverName"] = "org.postgresql.Driver"
    lines = [f"datanucleus.Connection{name}={value}" for name, value in options.items()]
    # The names of tables that Hive uses.
    lines += ["datanucleus.identifierFactory=datanucleus1", "datanucleus.schema.autoCreateAll=true"]
    properties.write_text("\n".join(lines))
    tool = ["java", "-cp", f"{jars}/*:{driver}", "org.datanucleus.store.schema.SchemaTool"]
    tool += ["-create", "-props", str(properties), "-api", "JDO", str(mapping)]
    subprocess.run(tool, check=True, stdout=subprocess.DEVNULL)
    version = f"""insert into "VERSION" values (1, '{HIVE}', '')"""
    psql = [_program("psql"), "-h", LOOPBACK, "-p", str(port), "-U", USER, "-c", version, DATABASE]
    subprocess.run(psql, check=True, stdout=subprocess.DEVNULL, env={"PGPASSWORD": PASSWORD})


def _url(port: int) -> str:
    return f"jdbc:postgresql://{LOOPBACK}:{port}/{DATABASE}"


def _settings(driver: str, port: int) -> dict[str, str]:
    jdo = "spark.hadoop.javax.jdo.option"
    return {
        # Java's DriverManager does not see the jars of spark.jars.packages.
        "spark.driver.extraClassPath": driver,
        f"{jdo}.ConnectionURL": _url(port),
        f"{jdo}.ConnectionDriverName": "org.postgresql.Driver",
        f"{jdo}.ConnectionUserName": USER,
        f"{jdo}.ConnectionPassword": PASSWORD,
    }
