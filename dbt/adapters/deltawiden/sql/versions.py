"""Versions as numbers that can be compared."""

import re

Version = tuple[int, ...]


def read_version(text: str) -> Version:
    """Read a version as numbers: (4, 1, 4) from ``4.1.4`` or ``4.1.4 45b9b176e6e2``.

    Args:
        text: a version text.

    Returns:
        Its leading numbers, without any suffix.
    """
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(each) for each in match.group().split(".")) if match else ()
