"""The names and folders that nodes give to their tables: no two nodes have one.

Spark's own catalog ignores the case of names, and dbt's check of two nodes does not.
"""

from collections.abc import Iterable
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.config.location import has_table, overlaps, table_folder
from dbt.adapters.deltawiden.config.project_macros import NodeMacros
from dbt.adapters.deltawiden.delta.relations import one_name, relation_path

RESOURCES = frozenset({"model", "seed", "snapshot"})
"""dbt's types of the nodes that can have a table."""


class FolderRefused(CompilationError):
    """A node's table can't have its name, or be in its folder; nothing was changed."""


class NodeFolders:
    """Reads the names and the folders of tables from the configurations of their nodes."""

    def __init__(self, adapter: SparkAdapter) -> None:
        self._adapter = adapter
        self._others: tuple[Any, dict[str, str], dict[str, str]] = (None, {}, {})

    def _folder_of(self, node: Any) -> str | None:
        """Return the folder of a node's table: ``table_folder``. None if a macro decides."""
        relation = self._relation(node)
        return None if self._is_own(node) else self.configured_folder(node.config, relation)

    def configured_folder(self, config: Any, relation: BaseRelation) -> str | None:
        """Return the folder that the built-in macro renders, which one of the project can call."""
        schema = relation_path(relation.without_identifier())
        return table_folder(config, schema, str(relation.identifier))

    def _is_own(self, node: Any) -> bool:
        """Return whether a macro of the project or a package renders where a node's table is."""
        macros, config = self._adapter.get_macro_resolver(), self._adapter.config
        return NodeMacros(macros, config, node.package_name).has_own("location_clause")

    def _relation(self, node: Any) -> BaseRelation:
        relation: BaseRelation = self._adapter.Relation.create(
            database=node.database, schema=node.schema, identifier=node.alias
        )
        return relation

    def _check_is_alone(self, node: Any) -> None:
        manifest: Any = self._adapter.get_macro_resolver()
        if self._others[0] is not manifest:
            nodes = list(filter(_is_relation, manifest.nodes.values()))
            names = one_name({each.unique_id: self._relation(each) for each in nodes})
            self._others = manifest, names, overlaps(self._folders(nodes))
        _, names, folders = self._others
        for found, problem in ((names, self._one_name), (folders, self._one_folder)):
            if node.unique_id in found:
                raise FolderRefused(problem(node, manifest.nodes[found[node.unique_id]]))

    def _one_name(self, node: Any, other: Any) -> str:
        return (
            f"{node.unique_id} ({node.original_file_path}) and {other.unique_id} "
            f"({other.original_file_path}) can't both have their names: in Spark's own catalog, "
            f"{self._relation(node)} and {self._relation(other)} are one table. One would replace "
            "the other's rows. Nothing was written. Give one of them another alias or schema."
        )

    def _one_folder(self, node: Any, other: Any) -> str:
        folders = [self._folder_of(each) for each in (node, other)]
        return (
            f"{node.unique_id} and {other.unique_id} can't both have their tables where their "
            f"configurations say: {folders[0]} and {folders[1]}. "
            "One would replace the other's files, or VACUUM would delete them. Nothing was "
            "written. Set include_full_name_in_path: true, so that the folder has the name of the "
            "schema in it, or give one of them another location_root or alias."
        )

    def _folders(self, nodes: Iterable[Any]) -> dict[str, str]:
        found = (
            (node.unique_id, self._folder_of(node))
            for node in nodes
            # Another value is refused when its own node runs.
            if has_table(node.config) and isinstance(node.config.get("location_root"), str)
        )
        return {unique_id: folder for unique_id, folder in found if folder}


def _is_relation(node: Any) -> bool:
    return node.resource_type in RESOURCES and node.config.get("materialized") != "ephemeral"
