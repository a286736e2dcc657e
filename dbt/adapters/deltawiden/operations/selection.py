"""Select the tables that an operation works on, by model, by name or by schema."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.sql.identifiers import (
    as_list,
    folded,
    parse_path,
    read_name,
)

Names = str | Sequence[str] | None
Node = Mapping[str, Any]

RESOURCE_TYPES = ("model", "snapshot", "seed")


@dataclass(frozen=True)
class Selection:
    """Finds the tables that the arguments of an operation name.

    Attributes:
        get_relation: returns the relation of a catalog, a schema and a name, or None. Without a
            catalog, the name has two parts.
    """

    operation: str
    graph: Mapping[str, Any]
    target_schema: str
    get_relation: Callable[[str | None, str, str], BaseRelation | None]
    list_relations: Callable[[str | None, str], Iterable[BaseRelation]]
    target_catalog: str | None = None

    def relations(self, models: Names, relations: Names, schema: str | None) -> list[SparkRelation]:
        """Return the existing tables that an operation has to work on, each once.

        Args:
            relations: names of tables, as ``catalog.schema.table``, ``schema.table`` in the
                target's catalog, or ``table`` in the target's schema.
            schema: the name of a schema, to select all of its Delta tables; ``catalog.schema`` in
                another catalog than the target's.

        Raises:
            CompilationError: a table does not exist, or no table is named.
        """
        found = [self._model_relation(name) for name in as_list(models)]
        found += [self._named_relation(name) for name in as_list(relations)]
        if schema is not None:
            found += self._in_schema(schema)
        if not found:
            raise self.error(
                "say which tables, as `models: [name]`, `relations: [schema.table]` or "
                "`schema: name`"
            )
        by_name = {folded(relation_path(relation)): relation for relation in reversed(found)}
        return list(reversed(by_name.values()))

    def node(self, name: str) -> Node:
        """Return the node of a model, snapshot or seed.

        For a model with versions, ``name`` means the latest version, and ``name.v1`` version 1.
        The name of the package can come first: ``package.name``.

        Raises:
            CompilationError: the project has no such node, or not the latest version of a model, or
                several packages have one.
        """
        nodes = self.nodes()
        versions = [node for node in nodes if name in _names(node, str(node["name"]))]
        latest = [node for node in versions if node.get("version") == node.get("latest_version")]
        exact = [node for node in nodes if name in _names(node, full_name(node))]
        found = exact or latest
        if len(found) > 1:
            both = ", ".join(sorted(_names(node, full_name(node))[1] for node in found))
            raise self.error(f"several packages have a '{name}'; name one of them: {both}")
        if found:
            return found[0]
        if versions:
            raise self.error(
                f"the latest version of '{name}' is not in this project; name one of its versions: "
                f"{_listed(versions)}"
            )
        raise self.error(
            f"there is no model, seed or snapshot named '{name}' in this project; there are: "
            f"{_listed(nodes)}"
        )

    def nodes(self) -> list[Node]:
        """Return the models, snapshots and seeds of the project."""
        nodes: Iterable[Node] = self.graph.get("nodes", {}).values()
        return [node for node in nodes if node["resource_type"] in RESOURCE_TYPES]

    def nodes_named(self, models: Names, materialized: str) -> list[Node]:
        """Return the nodes that an argument names; without it, all with the materialization."""
        if models is not None:
            named = [self.node(name) for name in as_list(models)]
            return list({str(node["unique_id"]): node for node in named}.values())
        found = [node for node in self.nodes() if node["config"]["materialized"] == materialized]
        # Sort them, so that two reports can be compared. dbt's own order can change.
        return sorted(found, key=full_name)

    def nodes_to_plan(self, models: Names) -> list[Node]:
        """Return the nodes that an argument names; without it, all incremental models.

        Raises:
            CompilationError: a run decides nothing for the table of a node.
        """
        nodes = self.nodes_named(models, materialized="incremental")
        for node in nodes:
            is_seed = node["resource_type"] == "seed"
            if is_seed or node["config"]["materialized"] == "ephemeral":
                kind = "a seed" if is_seed else "an ephemeral model"
                raise self.error(f"'{full_name(node)}' is {kind}; name other models or snapshots")
        return nodes

    def node_relation(self, node: Node) -> BaseRelation | None:
        """Return the relation of a node in the target, or None if it is not built."""
        return self.get_relation(node.get("database"), node["schema"], node["alias"])

    def _model_relation(self, name: str) -> SparkRelation:
        node = self.node(name)
        return self._existing(node.get("database"), node["schema"], node["alias"])

    def _named_relation(self, name: str) -> SparkRelation:
        try:
            parts = parse_path(name)
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from error
        if len(parts) > 3:
            raise self.error(
                f"'{name}' is not a table's name; write catalog.schema.table, schema.table, or "
                f"table for {self.target_schema}"
            )
        catalog = parts[0] if len(parts) == 3 else self.target_catalog
        schema = parts[-2] if len(parts) > 1 else self.target_schema
        return self._existing(catalog, schema, parts[-1])

    def _existing(self, catalog: str | None, schema: str, identifier: str) -> SparkRelation:
        relation = self.get_relation(catalog, schema, identifier)
        if not isinstance(relation, SparkRelation):
            named = ".".join(part for part in (catalog, schema, identifier) if part)
            raise self.error(f"there is no table '{named}'")
        return relation

    def _in_schema(self, schema: str) -> list[SparkRelation]:
        found = self.list_relations(*self.catalog_and_schema(schema))
        tables = [table for table in found if isinstance(table, SparkRelation) and table.is_delta]
        if not tables:
            raise self.error(f"there is no Delta table in schema '{schema}'")
        return tables

    def catalog_and_schema(self, name: str) -> tuple[str | None, str]:
        """Return the catalog that a name has, or the target's, and the schema."""
        parts = read_name(name)
        if len(parts) == 2:
            return parts[0], parts[1]
        return self.target_catalog, name

    def error(self, text: str) -> CompilationError:
        """Return the error for wrong arguments of the operation."""
        return CompilationError(f"{self.operation}: {text}")


def full_name(node: Node) -> str:
    """Return the name of a node as ``dbt ls --output name`` shows it: ``orders`` or ``orders.v2``.

    Source:
        https://docs.getdbt.com/docs/mesh/govern/model-versions
    """
    name, version = str(node["name"]), node.get("version")
    return name if version is None else f"{name}.v{version}"


def _names(node: Node, name: str) -> tuple[str, str]:
    """Return a name of a node, without and with the name of its package."""
    return name, f"{node.get('package_name')}.{name}"


def _listed(nodes: Iterable[Node]) -> str:
    return ", ".join(sorted(map(full_name, nodes)))
