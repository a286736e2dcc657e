"""Sets of dbt's materializations. One of a project's own is in none: what it makes is not known."""

QUERIED = ("table", "incremental", "snapshot")
"""They store the rows of a query in a table: the query, and what it reads, is checked."""

TABLES = (*QUERIED, "seed")
"""They write a table: the rows of a seed come from a file."""

KEEP_ROWS = ("incremental", "snapshot")
"""They write to the table that is there, so that its types and columns can differ."""

MADE_AGAIN = ("table", "view")
"""Each run makes them anew, with the types and columns of their query."""

NO_TABLE = ("view", "ephemeral")
"""They have no table. The others may have one."""

STORE_NO_VALUES = (*NO_TABLE, "function", "test", "unit")
"""They store no rows of a node. A test does with ``store_failures``."""
