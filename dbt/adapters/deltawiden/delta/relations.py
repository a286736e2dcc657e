"""The relations of dbt, as Delta sees them."""

import re

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.sql.identifiers import name_sql


def relation_sql(relation: BaseRelation) -> str:
    """Render a relation's name for a statement."""
    return name_sql(*(part for part in (relation.schema, relation.identifier) if part))


def require_delta(relation: SparkRelation) -> None:
    """Stop at a relation that can't have type widening.

    Raises:
        DbtRuntimeError: it is no Delta table; the message says what it is.
    """
    if relation.is_view:
        raise DbtRuntimeError(
            "This is a view; type widening is a property of the table that it selects from."
        )
    if not relation.is_delta:
        raise DbtRuntimeError(f"This is no Delta table ({provider(relation)}).")


def provider(relation: SparkRelation) -> str:
    """Say what a relation is that is no Delta table."""
    if relation.is_view:
        return "view"
    named = re.search(r"^Provider: (\w+)", relation.information or "", re.MULTILINE)
    return named.group(1).lower() if named else "not Delta"
