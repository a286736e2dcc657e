"""The text of a query: whether it only reads, what it reads, and queries that contain it."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.sql.identifiers import SESSION_CATALOG, Path, quote
from dbt.adapters.deltawiden.sql.types import type_sql

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


_COMMENT_AFTER_SEMICOLON = re.compile(r";\s*(--|/\*)")


def in_lines(query: str) -> str:
    """Return a model's query, which can end with comments and semicolons, to be put in brackets."""
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


def name_pattern(relation: Path) -> re.Pattern[str]:
    """Return the pattern of a relation's name in a query, quoted or not, in any case.

    A name of two parts can have Spark's built-in catalog before them.
    """
    dot = r"\s*\.\s*"
    dotted = dot.join(_part(part) for part in relation)
    catalog = rf"(?:{_part(SESSION_CATALOG)}{dot})?" if len(relation) == 2 else ""
    return re.compile(rf"(?<![\w`.]){catalog}{dotted}(?![\w`])", re.IGNORECASE)


def mentions(query: str, relation: Path) -> bool:
    """Return whether the text of a query contains a relation's name."""
    return name_pattern(relation).search(query) is not None


def replace_name(query: str, relation: Path, by: str) -> str:
    """Replace a relation's name in a query by a text."""
    return name_pattern(relation).sub(lambda _: by, query)


def with_types(query: str, types: Mapping[Path, tuple[str, StructType]]) -> str:
    """Rewrite a query as if the relations that it reads had other types. It then reads no rows.

    Args:
        types: by the name of each relation, the name of the common table expression that takes its
            place, and the schema. Without any, the query stays as it is.
    """
    if not types:
        return query
    for relation, (name, _) in types.items():
        if relation != (name,):
            query = replace_name(query, relation, quote(name))
    each = dict(types.values())
    tables = ", ".join(f"{quote(name)} as ({_empty(schema)})" for name, schema in each.items())
    return f"with {tables} {select_from('*', query)}"


def analyse_with_types(
    query: str, schemas: Mapping[Path, StructType], query_schema: Callable[[str], StructType]
) -> tuple[str, StructType]:
    """Analyse a query as if the relations that it reads had other schemas. Nothing is run.

    Returns:
        The query as it was analysed, and the schema of its result.

    Raises:
        DbtDatabaseError: the query is not valid with these schemas.
    """

    def analysed(names: Iterable[str]) -> tuple[str, StructType]:
        named = zip(schemas.items(), names, strict=True)
        text = with_types(query, {path: (name, schema) for (path, schema), name in named})
        return text, query_schema(text)

    # Names that no query has. But a query can name a column by its table: orders.amount. A name
    # without a schema stays: in a query, a column can have it, too.
    own = {path[-1]: schema for path, schema in schemas.items()}
    try:
        return analysed(
            path[0] if len(path) == 1 else f"dbt_deltawiden_input_{index}"
            for index, path in enumerate(schemas)
        )
    except DbtRuntimeError:
        # One table can have several names in a query.
        if own and all(own[path[-1]] == schema for path, schema in schemas.items()):
            with suppress(DbtRuntimeError):
                return analysed(path[-1] for path in schemas)
        raise


def _empty(schema: StructType) -> str:
    columns = ", ".join(
        f"cast(null as {type_sql(field.dataType)}) as {quote(field.name)}" for field in schema
    )
    return f"select {columns} where false"


def _part(name: str) -> str:
    return rf"(?:{re.escape(quote(name))}|{re.escape(name)})"
