"""Find the macros and materializations with which a project or a package replaces built-in ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from dbt.adapters.contracts.macros import MacroResolverProtocol

from dbt.adapters.deltawiden.config.materializations import STORE_NO_VALUES

BUILT_IN = ("dbt", "dbt_spark", "dbt_deltawiden")
"""The packages of dbt, dbt-spark and this adapter."""

MERGE_MACROS = ("get_merge_sql", "get_merge_update_columns")
"""The macros that decide which values a MERGE writes. If a project replaces one, all values of the
source are checked."""

STAGING_MACROS = ("snapshot_staging_table", "snapshot_get_time")
"""The macros that add to the values of a snapshot's query after these have been checked."""

_PREFIXES = ("deltawiden__", "spark__", "default__")
CREATE_MACROS = ("create_table_as", "tblproperties_clause")
"""The macros that decide which properties a new table has."""

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


@dataclass(frozen=True)
class NodeMacros:
    """Finds what a node runs of a project or a package in place of what is built in, as dbt does.

    Attributes:
        manifest: dbt's. While dbt parses, it has no materializations.
        config: dbt's configuration of the project.
    """

    manifest: MacroResolverProtocol | None
    config: Any
    package: str
    language: str | None = None

    def has_own(self, name: str) -> bool:
        """Return whether a call of a built-in macro runs one of a project or a package.

        A macro of a package runs only for the package's nodes, or if the project's ``dispatch`` has
        the package.

        Source:
            ``MacroNamespace`` and ``BaseDatabaseWrapper.dispatch`` of dbt-core.
        """
        project = str(self.config.project_name)
        if self._has(name, (self.package, project)):
            return True
        # Without a macro of the name itself, nothing calls those that dispatch finds.
        if not self._has(name, BUILT_IN):
            return False
        order = self.config.get_macro_search_order("dbt") or (project, "dbt")
        # Under "dbt", dbt finds the adapters' macros too. It skips an adapter's own name.
        before = takewhile(lambda each: each != "dbt", order)
        packages = [each for each in before if each not in BUILT_IN]
        return any(self._has(f"{each}{name}", packages) for each in _PREFIXES)

    def _has(self, name: str, packages: Sequence[str]) -> bool:
        find, project = getattr(self.manifest, "find_macro_by_name", None), self.config.project_name
        return find is not None and any(find(name, project, each) for each in packages)

    def writes_with_own(self, name: str) -> bool:
        """Return whether a macro, or the incremental materialization that calls it, is its own."""
        return bool(self.writer("incremental")) or self.has_own(name)

    def writer(self, materialized: str) -> str:
        """Name what writes the rows of a node, if it is not a built-in macro with checked values.

        Returns:
            For example "the materialization of the package shop". Empty if the values are checked.
        """
        if materialized in STORE_NO_VALUES:
            return ""
        found = self._materialization(materialized)
        if found is not None:
            return f"the materialization {materialized} of the package {found.package_name}"
        if materialized == "seed" and all(map(self.has_own, SEED_MACROS)):
            return f"{' and '.join(SEED_MACROS)} of the project or a package"
        return ""

    def to_call(self, context: Mapping[str, Any], materialized: str) -> Any:
        """Return the materialization of a project that this adapter's has to call, or None."""
        found = self._materialization(materialized)
        # That of the project can have called this adapter's.
        if found is None or found.unique_id in context["context_macro_stack"].call_stack:
            return None
        return context[found.package_name][found.name]

    def _materialization(self, materialized: str) -> Any:
        """Return the materialization of a project or a package that runs a node, or None.

        dbt prefers this adapter's to one for Spark, which is for a less specific adapter. Then this
        adapter's calls it: dbt-spark would run it. But dbt runs Python only for the materialization
        that it calls itself.
        """
        find = getattr(self.manifest, "find_materialization_macro_by_name", None)
        if find is None:
            return None
        project = self.config.project_name
        types = ("deltawiden",) if self.language == "python" else ("deltawiden", "spark")
        found = (find(project, materialized, each) for each in types)
        return next(filter(is_macro_of_project, found), None)
