"""The SQL of this adapter, for tools that parse a project's queries with sqlglot."""

from sqlglot.dialects.spark import Spark


class DeltaWiden(Spark):
    """Spark's SQL, under the adapter's name.

    Source:
        https://sqlglot.com/sqlglot/dialects/dialect.html, the entry points ``sqlglot.dialects``
    """
