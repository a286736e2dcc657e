"""Names, formats and checks of dbt relations for Delta."""

import re
from collections.abc import Mapping

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import ComponentName
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.sql.identifiers import (
    Path,
    folded,
    name_sql,
    read_name,
    without_session_catalog,
)

UNKNOWN_FORMAT = "not Delta"


def relation_sql(relation: BaseRelation) -> str:
    """Render a relation's name for a statement."""
    return name_sql(*_parts(relation))


def relation_path(relation: BaseRelation) -> Path:
    """Return the parts of a relation's name. A part of dbt's can be a path (``catalog.sales``)."""
    return tuple(name for part in _parts(relation) for name in read_name(part))


def _parts(relation: BaseRelation) -> list[str]:
    # That of a temporary view has no schema, even if dbt's relation has the one of its table.
    shown = filter(relation.include_policy.get_part, ComponentName)
    return [part for part in map(relation.path.get_part, shown) if part]


def require_delta(relation: SparkRelation) -> None:
    """Check that a relation can have type widening. The error says what it is."""
    if relation.is_view:
        raise DbtRuntimeError(
            "This is a view; type widening is a property of the table that it selects from."
        )
    if not relation.is_delta:
        raise DbtRuntimeError(f"This is not a Delta table ({provider(relation)}).")


def require_table(relation: SparkRelation, statement: str) -> None:
    """Check that a statement of Delta's can run on a relation. The error says what it is."""
    if relation.is_view:
        raise DbtRuntimeError(
            f"This is a view, which has no files. Run {statement} on the table that it selects "
            "from."
        )
    if not relation.is_delta:
        raise DbtRuntimeError(
            f"This is not a Delta table ({provider(relation)}): {statement} needs one."
        )


def provider(relation: SparkRelation) -> str:
    """Return the format of a relation that is not a Delta table, or ``view``."""
    if relation.is_view:
        return "view"
    named = re.search(r"^Provider: (\w+)", relation.information or "", re.MULTILINE)
    return named.group(1).lower() if named else UNKNOWN_FORMAT


def in_session_catalog(path: Path) -> Path:
    """Return a relation's name in lower case, without the catalog if that is the session's."""
    return folded(without_session_catalog(path))


def one_name(relations: Mapping[str, BaseRelation]) -> dict[str, str]:
    """Find the nodes whose relation in the session's catalog is also another node's.

    Args:
        relations: the relation of each node. Other catalogs can distinguish the case of names.

    Returns:
        For each such node, another one of them.
    """
    nodes: dict[Path, str] = {}
    found: dict[str, str] = {}
    for node, relation in relations.items():
        path = in_session_catalog(relation_path(relation))
        other = nodes.setdefault(path, node)
        if other != node and len(path) == 2:
            found[node] = other
            found.setdefault(other, node)
    return found
