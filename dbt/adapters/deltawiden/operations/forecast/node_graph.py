"""The order of a project's nodes, and what each of them reads."""

from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from typing import Any

from dbt.adapters.deltawiden.operations.selection import RESOURCE_TYPES, Node
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.views.graph import depends_on, is_ephemeral, node_path


class NodeGraph:
    """The models, snapshots, seeds and exposures of a project.

    Attributes:
        whole: dbt's graph.
    """

    def __init__(self, graph: Mapping[str, Any]) -> None:
        self.whole = graph
        self._nodes: dict[str, Node] = {
            unique_id: node
            for unique_id, node in graph.get("nodes", {}).items()
            if node["resource_type"] in RESOURCE_TYPES
        }
        self._exposures: Mapping[str, Node] = graph.get("exposures", {})
        self._sources: Mapping[str, Node] = graph.get("sources", {})
        self._functions: Mapping[str, Node] = graph.get("functions", {})

    def in_order(self) -> list[Node]:
        """Return the nodes, each after those that it reads."""
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for unique_id, node in sorted(self._nodes.items()):
            sorter.add(unique_id, *self._parents(node))
        return [self._nodes[unique_id] for unique_id in sorter.static_order()]

    def exposures(self) -> list[Node]:
        """Return the exposures, sorted by name."""
        return sorted(self._exposures.values(), key=lambda exposure: str(exposure["name"]))

    def node(self, unique_id: str) -> Node:
        """Return a node by its unique id."""
        return self._nodes[unique_id]

    def inputs(self, node: Node) -> list[str]:
        """Return the unique ids, sorted, of the nodes whose tables and views a node reads.

        An ephemeral model has neither: the nodes that it reads are inputs of its readers.
        """
        return sorted(set(self._inputs(node)))

    def _inputs(self, node: Node) -> Iterator[str]:
        for unique_id in self._parents(node):
            if is_ephemeral(self._nodes[unique_id]):
                yield from self._inputs(self._nodes[unique_id])
            else:
                yield unique_id

    def sources(self, node: Node) -> Iterator[Path]:
        """Yield the names of the sources that a node reads, also through ephemeral models."""
        for unique_id in self._depends_on(node):
            if unique_id in self._sources:
                source = self._sources[unique_id]
                yield node_path({**source, "alias": source["identifier"]})
        for unique_id in filter(lambda key: is_ephemeral(self._nodes[key]), self._parents(node)):
            yield from self.sources(self._nodes[unique_id])

    def _parents(self, node: Node) -> list[str]:
        own = node.get("unique_id")
        return [each for each in self._depends_on(node) if each in self._nodes and each != own]

    def _depends_on(self, node: Node) -> Iterator[str]:
        """Yield the unique ids of what a node reads, also in the functions that it calls."""
        for unique_id in depends_on(node):
            if unique_id in self._functions:
                yield from self._depends_on(self._functions[unique_id])
            else:
                yield unique_id
