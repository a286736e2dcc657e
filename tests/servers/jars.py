"""Jars for servers that do not resolve packages themselves."""

import json
import subprocess
import sys

SHOW = """
import json, sys
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart
settings = {"spark.sql.catalogImplementation": "in-memory", **json.loads(sys.argv[1])}
print(get_session(SparkStart.read(settings)).conf.get("spark.jars"))
"""


def resolved_jars(*packages: str) -> list[str]:
    """Download packages as the embedded session does, in a process of its own.

    Args:
        packages: coordinates in Maven's form, besides Delta's own.

    Returns:
        The paths of all jars, Delta's first.
    """
    settings = {"spark.jars.packages": ",".join(packages)} if packages else {}
    found = subprocess.run(
        [sys.executable, "-c", SHOW, json.dumps(settings)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return found.splitlines()[-1].replace("file://", "").split(",")
