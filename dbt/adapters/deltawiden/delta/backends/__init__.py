"""Read and change tables with SQL alone, a Spark Connect session, or the JVM of a session."""

from collections.abc import Callable
from typing import Any

from dbt.adapters.deltawiden.delta.backends.connect import ConnectBackend
from dbt.adapters.deltawiden.delta.backends.jvm import JvmBackend
from dbt.adapters.deltawiden.delta.backends.sql import Execute, SqlBackend

_BY_METHOD: dict[str, type[SqlBackend]] = {"session": JvmBackend, "connect": ConnectBackend}


def choose_backend(
    method: str, execute: Execute, handle: Callable[[], Any], delta_version: str | None
) -> SqlBackend:
    """Choose the backend for the way in which a profile connects to Spark."""
    return _BY_METHOD.get(method, SqlBackend)(execute, handle, delta_version)
