"""Warn of values of a node's configuration that are not read. dbt-spark does not read them, either.

They are not errors: a hook or a macro of the project can read them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.after_run import AFTER_RUN, TABLES
from dbt.adapters.deltawiden.config.policy import is_set, problem
from dbt.adapters.deltawiden.sql.queries import GAP
from dbt.adapters.deltawiden.warnings import warn_once

_OF_QUERIES = ("table", "view", "incremental", "snapshot")
_RENDER = ("create_table_as", "create_view_as", "get_merge_sql")
"""The macros in which a project can render a header."""


def unread_values(
    config: Mapping[str, Any], is_own: Callable[[str], bool]
) -> Iterator[tuple[str, str, str]]:
    """Yield the key of each such value, what is wrong with it, and what to do.

    Args:
        is_own: whether the project or a package has its own macro of a name.
    """
    kind, optimize = config.get("materialized"), config.get("optimize")
    if kind in TABLES and is_set(optimize) and optimize != AFTER_RUN:
        yield (
            "optimize",
            f"{problem('optimize', optimize, AFTER_RUN)}. The value is ignored: it runs no "
            "OPTIMIZE",
            "If a macro of the project reads this key, give the key another name. If OPTIMIZE is "
            f"to run after the model, set optimize: {AFTER_RUN}",
        )
    header = str(config.get("sql_header") or "")
    own = (*_RENDER, *(f"materialization_{kind}_{of}" for of in ("deltawiden", "spark")))
    # A macro can render nothing but comments for this adapter.
    is_empty = re.fullmatch(rf"(?:{GAP}|;)*", f"{header}\n", re.DOTALL)
    if kind in _OF_QUERIES and not is_empty and not any(map(is_own, own)):
        yield (
            "sql_header",
            f"sql_header: {header.strip()!r} is not run, as with dbt-spark",
            "If the model needs the statement, run it in a pre_hook: that runs in the same "
            "session, before the model",
        )


def warn_of_unread(config: Mapping[str, Any], name: str, is_own: Callable[[str], bool]) -> None:
    """Warn once a run of each value that is not read."""
    where = f"The configuration of {name} (the first node with it in this run)"
    for _, text, do in unread_values(config, is_own):
        warn_once(f"{text}. {do}", where)
