"""Put the query of a model into a larger query."""


def in_lines(query: str) -> str:
    """Return a query on lines of its own, for the brackets of a larger query.

    Args:
        query: the query of a model, which can end with a comment or semicolons.
    """
    return f"\n{query.rstrip().rstrip(';')}\n"


def select_from(selected: str, query: str) -> str:
    """Render a query for some expressions on the rows of another query.

    Args:
        selected: the select list.
        query: the query of a model, which can end with a comment or semicolons.
    """
    return f"select {selected} from ({in_lines(query)})"
