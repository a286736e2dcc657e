"""Fail at once if the same start of Spark has already failed in this dbt command."""

import contextlib
from collections.abc import Iterator

from dbt_common.invocation import get_invocation_id


class FailedStart:
    """The last start that has failed. All threads of a dbt command need the same Spark."""

    def __init__(self) -> None:
        self._failed: tuple[object, Exception] | None = None

    @contextlib.contextmanager
    def raised_again(self, asked: object) -> Iterator[None]:
        """Remember the error of the block, and raise it again in place of the next block.

        Another start than the one asked for, or one of another dbt command, is tried.
        """
        start = asked, get_invocation_id()
        if self._failed is not None and self._failed[0] == start:
            raise self._failed[1]
        try:
            yield
        except Exception as error:
            self._failed = start, error
            raise
