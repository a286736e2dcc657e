"""A dbt project for a benchmark, in a folder that goes away with it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def spark_parameters(folder: str) -> dict[str, str]:
    """Give the settings of a Spark whose tables and metastore are in a folder."""
    return {
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={folder}/metastore_db;create=true"
        ),
        "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={folder}/derby.log",
    }


@contextmanager
def project(folder: str, schema: str) -> Iterator[None]:
    """Make a dbt project in a folder, and work in it."""
    target = {
        "type": "deltawiden",
        "schema": schema,
        "server_side_parameters": spark_parameters(folder),
    }
    profile = {"bench": {"target": "dev", "outputs": {"dev": target}}}
    Path(folder, "profiles.yml").write_text(json.dumps(profile))
    Path(folder, "dbt_project.yml").write_text("{name: bench, profile: bench}")
    before = os.getcwd()
    os.chdir(folder)
    os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "0"
    try:
        yield
    finally:
        os.chdir(before)
