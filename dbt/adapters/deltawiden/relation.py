"""A relation whose name breaks out of no statement, and of which no comment says what it is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dbt.adapters.contracts.relation import ComponentName, RelationType
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.sql.identifiers import quote, quote_once

_KIND = re.compile(r"^Type: (\w+)(?:\nProvider: (\w+))?$", re.MULTILINE)


@dataclass(frozen=True, eq=False, repr=False)
class DeltaWidenRelation(SparkRelation):
    """dbt-spark's relation, which quotes a name that Spark would not read as one.

    A plain name stays as it stands, and so does what its author has quoted or written as a path
    (``schema: catalog.sales``): the SQL that a project compiles to is what dbt-spark makes of it.
    """

    def _render_iterator(self) -> Iterator[tuple[ComponentName | None, str | None]]:
        for key, part in super()._render_iterator():
            yield key, quote_once(part) if part else part

    def as_described(self) -> "DeltaWidenRelation":
        """Give it as the lines of its description say that mean it.

        dbt-spark looks for what they say in the whole text, where a comment can say it too. Of
        SHOW TABLE EXTENDED, these two lines come before everything that a user can write.

        Returns:
            The same relation, if the description has no such lines.
        """
        kind = _KIND.search(self.information or "")
        if kind is None:
            return self
        provider = (kind[2] or "").lower()
        return replace(
            self,
            type=RelationType.View if kind[1] == "VIEW" else RelationType.Table,
            is_delta=provider == "delta",
            is_hudi=provider == "hudi",
            is_iceberg=provider == "iceberg",
        )

    def quoted(self, identifier: str) -> str:
        """Quote a part of the name, which ``quoting`` in a project asks for."""
        is_quoted = identifier.startswith("`") and quote_once(identifier) == identifier
        return identifier if is_quoted else quote(identifier)

    @staticmethod
    def add_ephemeral_prefix(name: str) -> str:
        """Name the common table expression of an ephemeral model."""
        return quote_once(SparkRelation.add_ephemeral_prefix(name))
