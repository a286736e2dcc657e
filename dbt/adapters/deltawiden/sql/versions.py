"""Parse versions into numbers that can be compared."""

import re

Version = tuple[int, ...]


def read_version(text: str) -> Version:
    """Parse a version into numbers: (4, 1, 4) from ``4.1.4`` or ``4.1.4 45b9b176e6e2``."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(number) for number in match.group().split(".")) if match else ()
