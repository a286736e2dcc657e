"""Warn of values of a node's configuration that are not read. dbt-spark does not read them, either.

They are not errors: a hook or a macro of the project can read them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.after_run import AFTER_RUN
from dbt.adapters.deltawiden.config.declared_columns import Columns
from dbt.adapters.deltawiden.config.materializations import QUERIED, TABLES
from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.policy import is_set, problem
from dbt.adapters.deltawiden.sql.queries import GAP
from dbt.adapters.deltawiden.warnings import warn_once

_RENDER = ("create_table_as", "create_view_as", "get_merge_sql")
"""The macros in which a project can render a header."""


def unread_values(
    config: Mapping[str, Any], is_own: Callable[[str], bool], columns: Columns | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield the key of each such value, what is wrong with it, and what to do.

    Args:
        is_own: whether the project or a package has its own macro of a name.
    """
    yield from _optimize(config)
    yield from _header(config, is_own)
    yield from _of_databricks(config)
    yield from _protecting(config, columns or {})


def _optimize(config: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    value = config.get("optimize")
    if config.get("materialized") in QUERIED and is_set(value) and value != AFTER_RUN:
        yield (
            "optimize",
            f"{problem('optimize', value, AFTER_RUN)}. The value is ignored: it runs no OPTIMIZE",
            "If a macro of the project reads this key, give the key another name. If OPTIMIZE is "
            f"to run after the model, set optimize: {AFTER_RUN}",
        )


def _header(
    config: Mapping[str, Any], is_own: Callable[[str], bool]
) -> Iterator[tuple[str, str, str]]:
    kind, header = config.get("materialized"), str(config.get("sql_header") or "")
    own = (*_RENDER, *(f"materialization_{kind}_{of}" for of in ("deltawiden", "spark")))
    # A macro can render nothing but comments for this adapter.
    is_empty = re.fullmatch(rf"(?:{GAP}|;)*", f"{header}\n", re.DOTALL)
    if kind in (*QUERIED, "view") and not is_empty and not any(map(is_own, own)):
        yield (
            "sql_header",
            f"sql_header: {header.strip()!r} is not run, as with dbt-spark",
            "If the model needs the statement, run it in a pre_hook: that runs in the same "
            "session, before the model",
        )


def _protecting(config: Mapping[str, Any], columns: Columns) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of dbt-databricks that would protect rows and values.

    Source:
        relation_configs/row_filter.py and column_mask.py of dbt-databricks 1.12.4
    """
    if config.get("materialized") not in TABLES:
        return
    if is_set(config.get("row_filter")):
        yield (
            "row_filter",
            "row_filter has no effect: Delta without Databricks has no row filters, so every "
            "reader of the table sees all rows",
            "Let readers have only a view that filters the rows, or leave the rows out",
        )
    if any(is_set(column.get("column_mask")) for column in columns.values()):
        yield (
            "column_mask",
            "column_mask has no effect: Delta without Databricks has no column masks, so every "
            "reader of the table sees the values of the column",
            "Let readers have only a view that masks the values, or leave the column out",
        )


def _of_databricks(config: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of dbt-databricks that have no effect."""
    kind, applies = config.get("materialized"), "incremental_apply_config_changes"
    has_format = str(config.get("table_format")).lower() == "iceberg"
    if kind in QUERIED and has_format and file_format_of(config) == DELTA:
        yield (
            "table_format",
            "table_format: iceberg has no effect: the table is Delta's, and nothing in it is for "
            "Iceberg",
            "Set file_format: iceberg; or, if Spark has Delta's delta-iceberg, the tblproperties "
            "that dbt-databricks sets: delta.enableIcebergCompatV2: 'true' and "
            "delta.universalFormat.enabledFormats: iceberg",
        )
    if kind == "incremental" and str(config.get(applies)).lower() == "false":
        yield (
            applies,
            f"{applies}: false has no effect: an existing table gets the tblproperties, clustering "
            "and comments of the configuration, if they have changed",
            "Remove the key, and the configuration that the table is not to get",
        )


def warn_of_unread(
    config: Mapping[str, Any], name: str, is_own: Callable[[str], bool], columns: Columns | None
) -> None:
    """Warn once a run of each value that is not read."""
    where = f"The configuration of {name} (the first node with it in this run)"
    for _, text, do in unread_values(config, is_own, columns):
        warn_once(f"{text}. {do}", where)
