"""Read a file of settings as Spark does: in the format of java.util.Properties, and in UTF-8.

Source:
    https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/Properties.html#load(java.io.Reader)
"""

import re
from pathlib import Path

# A backslash at the end of a line continues it, but not that of a comment.
_LINE = re.compile(r"^[ \t\f]*(?![#!\s])((?:\\[\s\S]|[^\\\n])+)", re.MULTILINE)
_PAIR = re.compile(r"((?:\\.|[^\\ \t\f=:])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_CONTINUATION = re.compile(r"(\\[^\n])|\\\n[ \t\f]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CHARACTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_text(file: Path) -> str:
    """Return the text of a file, or an empty text if there is none."""
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def read_settings(file: Path) -> dict[str, str]:
    """Return the settings of a file, which may not exist."""
    lines = (_CONTINUATION.sub(r"\1", line[1]) for line in _LINE.finditer(read_text(file)))
    pairs = (pair.groups() for pair in map(_PAIR.fullmatch, lines) if pair)
    return {_unescaped(key): _unescaped(value).strip(" \t\f") for key, value in pairs}


def _unescaped(text: str) -> str:
    characters = _ESCAPE.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _CHARACTERS.get(found[2], found[2]),
        text,
    )
    # Java writes a character of more than 16 bits as two escapes.
    return characters.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
