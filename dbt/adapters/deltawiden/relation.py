"""Quote the names of relations safely, and read a relation's kind only from Spark's own lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dbt.adapters.base.relation import BaseRelation, EventTimeFilter
from dbt.adapters.contracts.relation import ComponentName, Policy, RelationType
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.sql.identifiers import quote, quote_once
from dbt.adapters.deltawiden.sql.queries import mentions, without_texts

_KIND = re.compile(r"^Type: (\w+)(?:\nProvider: (\w+))?$", re.MULTILINE)
# Catalogs other than the session's. The comment comes before the provider, and can have any lines.
_KIND_IN_CATALOG = re.compile(
    r"^Catalog: .*\nNamespace: .*\nTable: .*\nType: (\w+)"
    r"(?:\nComment: (?s:.*))?(?:\nCollation: .*)?(?:\nLocation: .*)?\nProvider: (\w+)$",
    re.MULTILINE,
)


@dataclass(frozen=True, eq=False, repr=False)
class DeltaWidenRelation(SparkRelation):
    """dbt-spark's relation, which also quotes names that need quotes, and can be in a catalog.

    ``database`` is the catalog. A relation without one has a name of two parts. A plain name is not
    quoted, and neither is a name that its author has quoted or written as a path (``schema:
    catalog.sales``). So a project compiles to the same SQL as with dbt-spark.
    """

    include_policy: Policy = field(default_factory=lambda: Policy())

    def __post_init__(self) -> None:
        # As with dbt-spark, which has no catalogs: the schema's name in both means no catalog.
        if self.database is not None and self.database in ("", self.schema):
            object.__setattr__(self, "path", self.path.replace(database=None))

    def render(self) -> str:
        """Return the name for a statement: catalog if there is one, schema and identifier."""
        # dbt-spark's own method refuses a name with a catalog.
        return BaseRelation.render(self)

    def _render_iterator(self) -> Iterator[tuple[ComponentName | None, str | None]]:
        for key, part in super()._render_iterator():
            yield key, quote_once(part) if part else part

    def as_described(self) -> "DeltaWidenRelation":
        """Return the relation with the type and provider that its description states.

        dbt-spark searches the whole description, in which a comment can contain the same words. In
        the result of SHOW TABLE EXTENDED, these two lines come before any text from a user.

        Returns:
            The relation, unchanged if the description has no such lines.
        """
        text = self.information or ""
        kind = _KIND_IN_CATALOG.match(text) or _KIND.search(text)
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

    def is_named_in(self, query: str) -> bool:
        """Return whether a query has the name outside of its texts and comments."""
        return mentions(without_texts(query), relation_path(self))

    def quoted(self, identifier: str) -> str:
        """Quote a part of the name, as the ``quoting`` of a project requests it."""
        is_quoted = identifier.startswith("`") and quote_once(identifier) == identifier
        return identifier if is_quoted else quote(identifier)

    def _render_event_time_filtered(self, event_time_filter: EventTimeFilter) -> str:
        name = event_time_filter.field_name
        # dbt quotes a column with `quote: true` as Postgres does; for Spark, it is a text.
        if name.startswith('"') and name.endswith('"'):
            event_time_filter = replace(event_time_filter, field_name=self.quoted(name[1:-1]))
        return super()._render_event_time_filtered(event_time_filter)

    @staticmethod
    def add_ephemeral_prefix(name: str) -> str:
        """Return the name of the common table expression of an ephemeral model."""
        return quote_once(SparkRelation.add_ephemeral_prefix(name))
