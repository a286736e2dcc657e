"""The views in Spark's analysed plan of a query, and their types."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.sql.identifiers import Path

FOLLOWING_MODES = frozenset({"TYPE EVOLUTION", "EVOLUTION"})
"""The schema modes, as Spark shows them, in which a view always has the types of its query."""

CHAR_PADDING = "readSidePadding"
"""The function that a plan calls wherever it reads a char column of a table, to pad its texts
(``CharVarcharCodegenUtils`` of Spark)."""


@dataclass(frozen=True)
class ViewTypes:
    """The types of a view, and those of its query.

    Attributes:
        follows: whether the view always has the types of its query. The others are empty then.
        query_columns: the name of the query's column for each column of the view. Empty if the view
            has all columns of the query.
    """

    follows: bool = False
    query: StructType = field(default_factory=StructType)
    view: StructType = field(default_factory=StructType)
    query_columns: Sequence[str] = ()


class AnalysedQuery(Protocol):
    """The analysed plan of a query."""

    @property
    def text(self) -> str:
        """The plan as Spark shows it."""

    def view_types(self, name: Path, line: int) -> ViewTypes:
        """Return the types of a view at a line of the text, from 0, and those of its query."""
