"""Parse the assignments of an ``update set`` clause that a user writes."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Assignment:
    """One assignment of an ``update set`` clause, as written; its target without spaces."""

    target: str
    value: str


def read_assignments(text: str) -> list[Assignment]:
    """Parse the assignments of an ``update set`` clause, in Spark SQL, with commas between them.

    Raises:
        ValueError: a part of the text is not ``column = expression``. The message has the part.

    Source:
        https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge
    """
    return [_assignment(text, part) for part in _parts(_tokens(text), "COMMA")]


def _tokens(text: str) -> list[Any]:
    # This import takes half a second, so only models with such a clause pay for it.
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return sqlglot.tokenize(text, read="spark")
    except SqlglotError as error:
        raise ValueError(f"can't be read: {text}") from error


def _parts(tokens: list[Any], separator: str) -> list[list[Any]]:
    """Split tokens at a separator that is not inside brackets."""
    parts: list[list[Any]] = [[]]
    depth = 0
    for token in tokens:
        kind = token.token_type.name
        depth += kind in ("L_PAREN", "L_BRACKET", "L_BRACE")
        depth -= kind in ("R_PAREN", "R_BRACKET", "R_BRACE")
        if kind == separator and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _assignment(text: str, tokens: list[Any]) -> Assignment:
    # An expression may contain `=` itself: only the first one separates.
    target, *rest = _parts(tokens, "EQ")
    if not target or not rest or not rest[0]:
        part = _text(text, tokens) or text.strip()
        raise ValueError(f"is not of the form column = expression: {part}")
    first_of_value = rest[0][0]
    name = "".join(_text(text, [token]) for token in target)
    return Assignment(name, text[first_of_value.start : tokens[-1].end + 1])


def _text(text: str, tokens: list[Any]) -> str:
    return text[tokens[0].start : tokens[-1].end + 1] if tokens else ""
