"""Keep the results of queries that later statements of the session read again."""

from uuid import uuid4

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend


class KeptQueries:
    """Results that Spark keeps, in memory or on the disks of its executors.

    If Spark has lost a part, or a table that the query reads has another schema now, it runs the
    query again.

    Source:
        https://spark.apache.org/docs/latest/sql-ref-syntax-aux-cache-cache-table.html
    """

    def __init__(self, backend: SqlBackend) -> None:
        self._backend = backend
        self._names: dict[str, str] = {}

    def keep(self, query: str) -> str:
        """Run a query, if its result is not kept yet. Return the name of its result."""
        if query not in self._names:
            name = f"dbt_deltawiden_{uuid4().hex}"
            # Also a query that is cancelled has made a view.
            self._names[query] = name
            self._backend.execute(f"cache table {name} as {query}")
        return self._names[query]

    def drop(self) -> None:
        """Drop all results."""
        while self._names:
            _, name = self._names.popitem()
            self._backend.execute(f"drop view if exists {name}")
