"""Sizes in bytes, as people read and write them."""

import re

_DECIMAL = ("B", "kB", "MB", "GB", "TB")
_BINARY = ("b", "kb", "mb", "gb", "tb")
_SIZE = re.compile(rf"(\d+)\s*({'|'.join(_BINARY)})", re.IGNORECASE)


def size_text(size: int) -> str:
    """Render a number of bytes in the largest decimal unit that leaves at least 1: ``1.2 GB``."""
    value, unit = float(size), _DECIMAL[0]
    for larger in _DECIMAL[1:]:
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def parse_size(text: str) -> int | None:
    """Read a size such as ``256mb``, in bytes. None if the text is no such size.

    Source:
        https://spark.apache.org/docs/latest/configuration.html: ``1kb`` is 1,024 bytes
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return int(found[1]) << (10 * _BINARY.index(found[2].lower()))
