"""The commits in the log of a Delta table. DESCRIBE HISTORY would take a part of a second."""

import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def local_log(spark: SparkSession, table: str) -> Path | None:
    """Find the log of a table. None if Spark runs elsewhere, or the log is not on this machine."""
    if "connect" in type(spark).__module__:
        return None
    own: Any = spark
    state = own._jsparkSession.sessionState()
    parser = state.sqlParser()
    if parser.parseMultipartIdentifier(table).size() > 2:  # With a catalog.
        return None
    name = parser.parseTableIdentifier(table)
    folder = state.catalog().getTableMetadata(name).location()
    return Path(folder.getPath(), "_delta_log") if folder.getScheme() == "file" else None


def newest_version(log: Path) -> int:
    return max(_commits(log))


def table_id(log: Path) -> str:
    """Return the id that a table got when it was made. A table of the same name has another."""
    commits = _commits(log)
    (made,) = _actions(commits[min(commits)], "metaData")
    return str(made["id"])


def operations(log: Path, since: int) -> list[str]:
    """Name the operations of the commits after a version."""
    later = sorted((n, commit) for n, commit in _commits(log).items() if n > since)
    return [info["operation"] for _, commit in later for info in _actions(commit, "commitInfo")]


def _commits(log: Path) -> dict[int, Path]:
    # A checkpoint or a compacted part of the log has more in its name.
    found = {int(file.stem): file for file in log.glob("*.json") if file.stem.isdigit()}
    assert found, f"{log} has no commit"
    return found


def _actions(commit: Path, kind: str) -> list[dict[str, Any]]:
    actions = map(json.loads, commit.read_text(encoding="utf-8").splitlines())
    return [action[kind] for action in actions if kind in action]
