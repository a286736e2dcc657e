"""Find the macros and materializations with which a project or a package replaces built-in ones."""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.contracts.macros import MacroResolverProtocol

BUILT_IN = ("dbt", "dbt_spark", "dbt_deltawiden")
"""The packages of dbt, dbt-spark and this adapter."""

MERGE_MACROS = ("get_merge_sql", "get_merge_update_columns")
"""The macros that decide which values a MERGE writes. If a project replaces one, all values of the
source are checked."""

_PREFIXES = ("", "deltawiden__", "spark__", "default__")
STORE_NO_VALUES = ("view", "ephemeral", "function", "test", "unit")
"""The materializations of dbt that store no rows of a node."""

SEED_MACROS = ("create_csv_table", "load_csv_rows")
"""The macros that each ask for the check of a seed's values."""


def is_macro_of_project(macro: Any) -> bool:
    """Return whether a macro is not one of dbt, dbt-spark or this adapter. False for None."""
    return macro is not None and macro.package_name not in BUILT_IN


def is_replaced(context: Mapping[str, Any], name: str) -> bool:
    """Return whether a call of a macro in a model's context runs one of a project or a package.

    Source:
        https://docs.getdbt.com/reference/dbt-jinja-functions/dispatch
    """
    return name in context and replacing_macro(context, name) is not None


def replacing_macro(context: Mapping[str, Any], name: str) -> Any:
    """Return the macro of a project or a package that a call of a built-in one runs, or None."""
    called = context[name].macro
    if is_macro_of_project(called):
        return called  # dbt itself may have none of this name, and dispatch fails then.
    dispatched = context["adapter"].dispatch(name, "dbt").macro
    return dispatched if is_macro_of_project(dispatched) else None


def writer_of_project(
    macros: MacroResolverProtocol | None, project: str, adapter_type: str, materialized: str
) -> str:
    """Name what writes a node's rows, if it is not a built-in macro with checked values.

    Args:
        macros: dbt's manifest. While dbt parses, it has no materializations.

    Returns:
        For example "the materialization of the package shop". Empty if the values are checked.
    """
    if macros is None or materialized in STORE_NO_VALUES:
        return ""
    found = _own_materialization(macros, project, adapter_type, materialized)
    if found is not None:
        return f"the materialization {materialized} of the package {found.package_name}"
    if materialized == "seed" and all(has_own(macros, project, name) for name in SEED_MACROS):
        return f"{' and '.join(SEED_MACROS)} of the project or a package"
    return ""


def spark_materialization(
    macros: MacroResolverProtocol | None,
    project: str,
    context: Mapping[str, Any],
    materialized: str,
) -> Any:
    """Return the materialization of a project that this adapter's has to call, or None."""
    found = _own_materialization(macros, project, context["adapter"].type(), materialized)
    # The project's materialization can have called this adapter's.
    if found is None or found.unique_id in context["context_macro_stack"].call_stack:
        return None
    return context[found.package_name][found.name]


def _own_materialization(
    macros: MacroResolverProtocol | None, project: str, adapter_type: str, materialized: str
) -> Any:
    """Return the materialization of a project or a package that runs a node, or None.

    dbt prefers this adapter's to one for Spark, which is for a less specific adapter. Then this
    adapter's calls it: dbt-spark would run it.
    """
    find = getattr(macros, "find_materialization_macro_by_name", None)
    if find is None:
        return None
    found = (find(project, materialized, each) for each in (adapter_type, "spark"))
    return next(filter(is_macro_of_project, found), None)


def has_own(macros: MacroResolverProtocol, project: str, name: str) -> bool:
    """Return whether the project or a package has a macro that a call of a built-in one runs."""
    found = [macros.find_macro_by_name(f"{each}{name}", project, None) for each in _PREFIXES]
    # If no macro has the name itself, nothing calls those that dispatch finds.
    return found[0] is not None and any(map(is_macro_of_project, found))
