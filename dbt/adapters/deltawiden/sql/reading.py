"""Tell a statement that only reads from one that writes, by its text."""

import re

GAP = r"(?:\s|--[^\n]*\n|/\*(?:(?!\*/).)*\*/)"
_READING = re.compile(
    rf"(?:{GAP}|\()*(desc|describe|explain|select|show|values|with)\b", re.IGNORECASE | re.DOTALL
)
# A WITH can come before each of these.
_WRITING = re.compile(
    rf"\b(?:delete{GAP}+from|insert{GAP}+(?:into|overwrite)|merge{GAP}+into"
    rf"|(?:insert|merge){GAP}+with{GAP}+schema"
    rf"|update{GAP}+(?:[\w.]|`[^`]*`)+{GAP}+(?:(?:as{GAP}+)?(?:\w+|`[^`]*`){GAP}+)?set)\b",
    re.IGNORECASE | re.DOTALL,
)


_TEXT_OR_COMMENT = re.compile(
    r"`[^`]*`|('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|--[^\n]*|/\*(?:(?!\*/).)*\*/)", re.DOTALL
)


def reads_only(sql: str) -> bool:
    """Return whether a statement only reads."""
    first = _READING.match(sql)
    if first is None:
        return False
    return first[1].lower() != "with" or not _WRITING.search(sql)


def without_texts(sql: str) -> str:
    """Return a statement with a blank for each comment and text. Quoted names stay."""
    return _TEXT_OR_COMMENT.sub(lambda found: " " if found[1] else found[0], sql)
