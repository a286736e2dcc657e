"""The rows of a table that a write replaces, and the check that its own rows are among them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.types import DataType, DecimalType, TimestampType

from dbt.adapters.deltawiden.sql.identifiers import path_text, quote
from dbt.adapters.deltawiden.sql.raised_errors import (
    END_OF_MESSAGE,
    ROW_NOT_REPLACED,
    failure_sql,
    value_or_failure_sql,
)
from dbt.adapters.deltawiden.sql.references import uses
from dbt.adapters.deltawiden.sql.types import every_type
from dbt.adapters.deltawiden.writing.columns import WrittenColumn

# What can be before a bracket in a condition that Spark passes to Delta as filters. Of functions of
# a column, Spark passes only startswith, endswith and contains. Delta reads them as LIKE, in which
# _ and % match other characters.
_BEFORE_BRACKET = frozenset(
    {
        *("and", "or", "not", "in", "cast", "decimal", "date", "timestamp", "to_date"),
        *("current_date", "current_timestamp", "now", "make_date", "trunc", "date_trunc"),
        *("date_add", "date_sub", "dateadd", "add_months", "last_day"),
    }
)
_BRACKET = re.compile(r"(\w+|`)\s*\(")
_LIST = re.compile(r"\bin\s*\(", re.IGNORECASE)
_COMMENT_OR_ESCAPE = re.compile(r"--|/\*|\bescape\b", re.IGNORECASE)

_FIXED_ZONE = re.compile(r"(Etc/)?(UTC|GMT|UCT)|Z|(UTC|GMT|UT)?[+-]\d{1,2}(:?\d{2})*")


@dataclass(frozen=True)
class ReplaceWhere:
    """The rows that the strategy ``replace_where`` replaces: those that meet all predicates."""

    predicates: Sequence[str]
    columns: Sequence[WrittenColumn]

    @property
    def column(self) -> str:
        """The name of the column whose expression has the check."""
        return self.columns[0].name

    @property
    def condition(self) -> str:
        """The condition for the rows to replace."""
        # A predicate may end with a comment.
        return " and ".join(f"({predicate}\n)" for predicate in self.predicates)

    @property
    def uses_moments(self) -> bool:
        """Whether the condition uses a timestamp, which has no offset in the text Delta reads."""
        return self._uses(TimestampType, self.predicates)

    @property
    def lists_decimals(self) -> bool:
        """Whether the condition may compare a decimal with a list, which Delta can't read as text.

        Source:
            docs/engine-defects.md, "`replace where` with a list of decimals fails"
        """
        return self._uses(DecimalType, [text for text in self.predicates if _LIST.search(text)])

    def _uses(self, data_type: type[DataType], predicates: Sequence[str]) -> bool:
        paths = [
            (column.name,)
            for column in self.columns
            if any(isinstance(part, data_type) for part in every_type(column.type))
        ]
        return any(uses(text, path) for text in predicates for path in paths)

    @property
    def has_functions(self) -> bool:
        """Whether the condition may call functions that have another meaning as Delta's text.

        Source:
            ``DeltaSourceUtils.translateFilters``
        """
        names = (name.lower() for text in self.predicates for name in _BRACKET.findall(text))
        return not _BEFORE_BRACKET.issuperset(names) or any(
            _COMMENT_OR_ESCAPE.search(text) for text in self.predicates
        )

    def checked_sql(self, model: str) -> str:
        """Render a column for the SELECT, failing if a row does not meet the condition."""
        name = quote(self.column)
        before = (
            f"[{ROW_NOT_REPLACED}] The model {model} has a row that incremental_predicates do not "
            f"select: {', '.join(self.predicates)}. In this row, {path_text((self.column,))} is "
        )
        shown = f"coalesce(left(cast({name} as string), 200), 'null')"
        failed = failure_sql(before, shown, f". {END_OF_MESSAGE}")
        return value_or_failure_sql(self.condition, name, failed)


def has_no_offset_changes(time_zone: str) -> bool:
    """Return whether each time in a session's time zone is one moment: its offset never changes."""
    return bool(_FIXED_ZONE.fullmatch(time_zone))
