"""Read ``rewrite_widened_files``: how many older files a run may rewrite after a widening."""

from dataclasses import dataclass
from typing import Any

from dbt.adapters.deltawiden.sql.sizes import parse_size

_ACCEPTED = "true, false, or a size such as 256mb"


@dataclass(frozen=True)
class RewriteLimit:
    """How many older files a run may rewrite, so that filters of every Spark find their rows.

    Attributes:
        size: their size in bytes at most. None for no limit.
        table_files: the number of files that the table may have. None for no limit. The types in
            all of its files are read to find the older ones.
    """

    size: int | None = 64 << 20
    table_files: int | None = 1_000
    is_asked_for: bool = False

    def allows(self, table_files: int, size: int) -> bool:
        """Return whether files of this size may be rewritten in a table of so many files."""
        return (self.size is None or size <= self.size) and (
            self.table_files is None or table_files <= self.table_files
        )

    @property
    def is_never(self) -> bool:
        """Whether no file may be rewritten."""
        return self.size == 0


def read_rewrite_limit(given: Any) -> RewriteLimit:
    """Read the value of ``rewrite_widened_files``. A ValueError says what is accepted."""
    if given is None:
        return RewriteLimit()
    if isinstance(given, bool):
        return RewriteLimit(None if given else 0, None, is_asked_for=True)
    size = parse_size(given) if isinstance(given, str) else None
    if size is None:
        raise ValueError(_ACCEPTED)
    return RewriteLimit(size, None, is_asked_for=True)
