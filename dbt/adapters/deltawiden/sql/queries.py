"""Put the query of a model into a larger query."""

import re

_COMMENT_AFTER_SEMICOLON = re.compile(r";\s*(--|/\*)")


def in_lines(query: str) -> str:
    """Return a model's query, which can end with comments and semicolons, for brackets."""
    query = query.rstrip().rstrip(";")
    if _COMMENT_AFTER_SEMICOLON.search(query):
        query = _without_semicolons_at_end(query)
    return f"\n{query}\n"


def select_from(selected: str, query: str) -> str:
    """Render a query for some expressions on the rows of a model's query, as for ``in_lines``."""
    return f"select {selected} from ({in_lines(query)})"


def _without_semicolons_at_end(query: str) -> str:
    """Remove the semicolons after which the query has only comments."""
    # This import takes half a second, and few queries need it.
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        tokens = sqlglot.tokenize(query, read="spark")
    except SqlglotError:
        return query
    while tokens and tokens[-1].token_type.name == "SEMICOLON":
        at = tokens.pop().start
        query = query[:at] + query[at + 1 :]
    return query
