"""Warn that only one Spark driver at a time can write to Delta tables on S3."""

import re
from collections.abc import Callable

from dbt.adapters.deltawiden.warnings import warn_once

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
