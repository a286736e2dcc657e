"""Find what differs in the configuration of nodes, and in macros: no table is read."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from dbt.adapters.deltawiden.config.materializations import QUERIED
from dbt.adapters.deltawiden.config.project_macros import (
    MERGE_MACROS,
    NodeMacros,
    is_macro_of_project,
    replacing_macro,
)
from dbt.adapters.deltawiden.config.unchecked import accepts_unchecked, unchecked_text
from dbt.adapters.deltawiden.config.unread_keys import unread_values
from dbt.adapters.deltawiden.config.validation import configuration_problems
from dbt.adapters.deltawiden.credentials import ConnectionMethod
from dbt.adapters.deltawiden.operations.project.files import ProjectFiles
from dbt.adapters.deltawiden.operations.project.finding import FileLine, Finding, Severity
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.sql.identifiers import SESSION_CATALOG

NOT_CALLED = (
    *("create_columns", "dbt_spark_get_incremental_sql", "get_column_comment_sql"),
    *("get_columns_in_relation_raw", "get_insert_into_sql", "get_insert_overwrite_sql"),
    *("get_persist_docs_column_list", "incremental_validate_on_schema_change"),
    *("process_schema_changes", "py_write_table", "spark_build_snapshot_staging_table"),
    *("sync_column_schemas", "validate_doc_columns"),
)
"""Macros of dbt and dbt-spark that this adapter does not call."""

NOT_CALLED_IN_SESSION = (
    "describe_table_extended_without_caching",
    "list_relations_show_tables_without_caching",
    "list_relations_without_caching",
)
"""The macros that it calls only without the JVM of a session."""

_PREFIX = "deltawiden__"


def find_problems(
    files: ProjectFiles, context: Mapping[str, Any], manifest: Any, node: Node
) -> Iterator[Finding]:
    """Find the configuration of a node that stops it, is not read, or leaves writes unchecked."""
    config = node["config"]
    package, language = node["package_name"], node.get("language")
    macros = NodeMacros(manifest, context["adapter"].config, package, language)
    for problem in configuration_problems(config, macros.writes_with_own, node.get("columns")):
        key, _, _ = problem.partition(":")
        place = files.of_node(node, key)
        text, do = f"{full_name(node)}: {problem}", "correct the value, or remove it"
        yield Finding("a configuration that is not accepted", Severity.STOPS, place, text, do)
    unread_keys = unread_values(config, macros.writes_with_own, node.get("columns"))
    for key, unread, do in unread_keys:
        place, text = files.of_node(node, key), f"{full_name(node)}: {unread}"
        yield Finding("a value that is not read", Severity.CHANGES, place, text, do)
    materialized = str(config.get("materialized"))
    writer = macros.writer(materialized)
    if writer and not accepts_unchecked(config):
        text, do = unchecked_text(writer)
        place, do = files.of_node(node, materialized), f"{do[0].lower()}{do[1:]}"
        kind, text = "a write that is not checked", f"{full_name(node)}: {text}"
        yield Finding(kind, Severity.UNCHECKED, place, text, do)


def find_databases(
    files: ProjectFiles, setting: Callable[[str], str | None], nodes: Iterable[Node]
) -> Iterator[Finding]:
    """Find the nodes in a catalog that Spark does not have. With dbt-spark, no node has one.

    Args:
        setting: returns the value of a setting of the session.
    """
    setting = cache(setting)  # Many nodes have the same database.
    for node in nodes if not files.config.credentials.database else ():
        name = node.get("database")
        if name in (SESSION_CATALOG, node["schema"], None, ""):
            continue
        if setting(f"spark.sql.catalog.{name}") is None:
            text = f"{full_name(node)}: its database {name} is no catalog that Spark has"
            do = (
                "remove database, which dbt-spark ignores, or set catalog in the profile. Then run "
                "check_project again: no table, view, seed or plan was checked"
            )
            place = files.of_node(node, "database")
            yield Finding("a database that dbt-spark ignores", Severity.STOPS, place, text, do)


def find_macros(
    files: ProjectFiles, context: Mapping[str, Any], manifest: Any
) -> Iterator[Finding]:
    """Find the macros of the project that replace those of this adapter, or of dbt-spark."""
    for macro in manifest.macros.values():
        if macro.package_name != "dbt_deltawiden" or not macro.name.startswith(_PREFIX):
            continue
        name = macro.name.removeprefix(_PREFIX)
        own = replacing_macro(context, name) if name in context else None
        if own is not None and name not in MERGE_MACROS:
            text = f"{own.package_name}.{own.name} is used instead of dbt_deltawiden.{macro.name}"
            do = "remove it, if it is only a workaround for dbt-spark; else compare it with ours"
            yield _replaces(files.of_macro(own), Severity.UNCHECKED, text, do)
    prefixes = ("", _PREFIX, "spark__", "default__")
    has_jvm = files.config.credentials.session_method == ConnectionMethod.SESSION
    # A materialization of the project can be dbt-spark's, which calls them.
    macros = NodeMacros(manifest, files.config, files.config.project_name)
    is_called = any(map(macros.writer, QUERIED))
    not_called = () if is_called else NOT_CALLED
    names = (*not_called, *(NOT_CALLED_IN_SESSION if has_jvm else ()))
    for name in (prefix + name for name in names for prefix in prefixes):
        own = manifest.find_macro_by_name(name, files.config.project_name, None)
        if is_macro_of_project(own):
            text = f"{own.package_name}.{name} replaces a macro of dbt-spark that is not called"
            do = "remove it; for statements of your own, write a strategy: get_incremental_NAME_sql"
            yield _replaces(files.of_macro(own), Severity.CHANGES, text, do)


def _replaces(place: FileLine, severity: Severity, text: str, do: str) -> Finding:
    return Finding("a macro that replaces another", severity, place, text, do)
