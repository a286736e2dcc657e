"""Show the progress of long operations on the terminal."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note

_UNITS = ("B", "kB", "MB", "GB", "TB")
_SECONDS = 3
"""The time between two lines about the same work."""

_Item = TypeVar("_Item")


def log_progress(text: str) -> None:
    """Write a message to dbt's log, and to the terminal unless dbt runs with ``--quiet``."""
    fire_event(Note(msg=text))


def in_view(
    operation: str, kind: str, items: Iterable[_Item], name: Callable[[_Item], str]
) -> Iterator[_Item]:
    """Yield items, and log how many are done if that takes more than a few seconds.

    Args:
        operation: the operation's name.
        kind: what the items are, in the plural.
        items: the items.
        name: returns an item's name.
    """
    listed = list(items)
    logged = time.monotonic()
    for done, item in enumerate(listed):
        if time.monotonic() - logged >= _SECONDS:
            log_progress(f"{operation}: {done} of {len(listed)} {kind}; next: {name(item)}")
            logged = time.monotonic()
        yield item


def size_text(size: int) -> str:
    """Render a size for people: ``1.2 GB``.

    Args:
        size: in bytes.

    Returns:
        The size in the largest decimal unit that leaves at least 1.
    """
    value, unit = float(size), _UNITS[0]
    for larger in _UNITS[1:]:
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
