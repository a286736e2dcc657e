"""Compute rows before a statement starts that deletes those of the table first."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from dbt.adapters.base.relation import BaseRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.queries import in_lines

# Spark would analyse the text of the view again, give each rand() another seed, and not find rows
# that it has computed.
_KEEPS_PLAN = "spark.sql.legacy.storeAnalyzedPlanForView"


@contextmanager
def rows_computed(backend: SqlBackend, view: str, query: str, table: BaseRelation) -> Iterator[str]:
    """Compute the rows of a query, and yield a query for them, until the block ends.

    Spark stores them on its disks. If a value is refused, the statement in the block never starts.

    Args:
        view: the name of a temporary view of the node, of which another one is made.
        query: with an empty one, nothing is computed.
        table: what the statement in the block writes to.
    """
    if not query:
        yield ""
        return
    name = quote(f"{view}_computed")
    with backend.with_setting(_KEEPS_PLAN, "true"):
        options = "options ('storageLevel' 'DISK_ONLY')"
        try:
            backend.execute(f"cache table {name} {options} as {in_lines(query)}")
            yield f"select * from {name}"
        finally:
            # Some versions of Spark keep the view, and what it has cached, of a query that fails.
            # If this fails too, the first error says what is wrong.
            with suppress(DbtRuntimeError):
                backend.execute(f"drop view if exists {name}")
    # A session with the setting has written them. Each session caches the files of such a table.
    backend.execute(f"refresh table {table.render()}")
