"""Show the progress of long operations on the terminal."""

from dbt_common.events.functions import fire_event
from dbt_common.events.types import Note

_UNITS = ("B", "kB", "MB", "GB", "TB")


def log_progress(text: str) -> None:
    """Write a message to dbt's log, and to the terminal unless dbt runs with ``--quiet``."""
    fire_event(Note(msg=text))


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
