"""Show the progress of long operations on the terminal."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note

_SECONDS = 3
"""The time between two lines about the same work."""

_Item = TypeVar("_Item")


def log_progress(text: str) -> None:
    """Write a message to dbt's log, and to the terminal unless dbt runs with ``--quiet``."""
    fire_event(Note(msg=text))


def with_progress(
    operation: str, kind: str, items: Iterable[_Item], name: Callable[[_Item], str]
) -> Iterator[_Item]:
    """Yield items, and log how many are done if that takes more than a few seconds."""
    listed = list(items)
    logged = time.monotonic()
    for done, item in enumerate(listed):
        if time.monotonic() - logged >= _SECONDS:
            log_progress(f"{operation}: {done} of {len(listed)} {kind}; next: {name(item)}")
            logged = time.monotonic()
        yield item
