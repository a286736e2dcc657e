"""Render and parse names of columns, fields and relations in Spark SQL, with any characters."""

import re
from collections.abc import Iterable, Sequence

Path = tuple[str, ...]
"""A place in a schema: a column name, then field names, ``element``, ``key`` or ``value``."""

_PATH_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED_NAME = r"`(?:[^`]|``)+`"
_PART = rf"(?:{_PLAIN_NAME.pattern}|{_QUOTED_NAME})"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")
# Spark reads its parts as names once they are quoted: `s.größe`, `stats.2024`.
_WORD = rf"(?:\w+|{_QUOTED_NAME})"
_WORDS = re.compile(rf"{_WORD}(?:\.{_WORD})*")
_ARGUMENT = rf"\s*(?:{_NAME.pattern}|\d+)\s*"
_TRANSFORM = re.compile(rf"[A-Za-z]\w*\({_ARGUMENT}(?:,{_ARGUMENT})*\)")
_COLUMN = re.compile(rf"{_TRANSFORM.pattern}|{_WORDS.pattern}")
_COLUMNS = re.compile(rf"\s*(?:{_COLUMN.pattern})\s*(?:,\s*(?:{_COLUMN.pattern})\s*)*")


SESSION_CATALOG = "spark_catalog"
"""Spark's built-in catalog, https://spark.apache.org/docs/latest/sql-ref-identifier.html"""


def quote(name: str) -> str:
    """Quote one part of a name, https://spark.apache.org/docs/latest/sql-ref-identifier.html."""
    return "`" + name.replace("`", "``") + "`"


def path_sql(path: Path) -> str:
    """Render a path for a statement: every part is quoted, and dots join the parts."""
    return ".".join(quote(part) for part in path)


def path_text(path: Path) -> str:
    """Render a path for people: only a part that is not a plain name is quoted."""
    return ".".join(part if _PLAIN_NAME.fullmatch(part) else quote(part) for part in path)


def folded(path: Path) -> Path:
    """Return a path in lower case, to compare it as Spark does."""
    return tuple(part.lower() for part in path)


def moved(path: Path, old: Path, new: Path) -> Path:
    """Return a path after a field was renamed, if it is that field or inside it. Ignore case."""
    return (*new, *path[len(old) :]) if folded(path[: len(old)]) == folded(old) else path


def parse_path(text: str) -> Path:
    """Parse a path as a person writes it: ``amount``, ``s.x``, ``m.value.`my col```.

    Raises:
        ValueError: the text is empty, a part is empty, or a backtick is not closed.
    """
    path: list[str] = []
    position = 0
    while True:
        match = _PATH_PART.match(text, position)
        part = _unquoted(match) if match else ""
        if match is None or not part:
            raise ValueError(
                f"'{text}' is not a name: write parts separated by dots, and put a part that "
                "contains a dot or a backtick in backticks, with each backtick in it doubled"
            )
        path.append(part)
        position = match.end()
        if position == len(text):
            return tuple(path)
        if text[position] != ".":
            raise ValueError(f"'{text}' is not a name: expected '.' after '{part}'")
        position += 1


def _unquoted(part: re.Match[str]) -> str:
    quoted, plain = part.groups()
    return str(quoted.replace("``", "`") if quoted is not None else plain.strip())


def quote_once(name: str) -> str:
    """Render a name from a configuration or a profile for a statement.

    It is unchanged if Spark reads it as a name (``s.id``, ``delta.`/data/orders```), else quoted:
    each part of a path (``s.größe``), and any other text as one name.
    """
    return name if _NAME.fullmatch(name) else path_sql(read_name(name))


def read_name(name: str) -> Path:
    """Parse a name from a configuration. A text that is not a path of words is the only part."""
    return parse_path(name) if _WORDS.fullmatch(name) else (name,)


def name_sql(*parts: str) -> str:
    """Render a relation's name for a statement, with every part quoted."""
    return ".".join(path_sql(read_name(part)) for part in parts)


def read_names(given: str | Sequence[str]) -> tuple[Path, ...]:
    """Parse the columns and nested fields that a configuration lists, as for ``columns_sql``."""
    return tuple(read_name(name) for name in columns_listed(given))


def columns_sql(given: str | Sequence[str]) -> str:
    """Render the columns that a configuration lists, such as those of ``partition_by``.

    They are names as for ``quote_once``, or transforms (``days(ts)``), in a list or with commas
    between them. Any other text is quoted as one name.

    Source:
        https://spark.apache.org/docs/latest/sql-ref-syntax-ddl-create-table-datasource.html
        (PARTITIONED BY, CLUSTERED BY); transforms:
        https://iceberg.apache.org/docs/latest/spark-ddl/#partitioned-by
    """
    names = columns_listed(given)
    return ", ".join(n if _TRANSFORM.fullmatch(n) else quote_once(n) for n in names)


def unquoted(name: object) -> str:
    """Return a name in lower case, without the quotes that its author may have given it."""
    return str(name).replace("`", "").lower()


def as_list(configured: str | Sequence[str] | None) -> list[str]:
    """Return the names or conditions of a key as a list, also if it has only one."""
    return [configured] if isinstance(configured, str) else list(configured or ())


def columns_named(names: Iterable[str]) -> frozenset[str]:
    """Return the columns, in lower case, of names as ``unique_key`` has them. They can be paths."""
    return frozenset(read_name(name)[0].lower() for name in names)


def columns_listed(given: str | Sequence[str]) -> Sequence[str]:
    """Return the columns or transforms that a configuration lists, as its author wrote them."""
    if isinstance(given, str):
        return _COLUMN.findall(given) if _COLUMNS.fullmatch(given) else [given]
    return given


def without_session_catalog(name: Path) -> Path:
    """Return a name without Spark's built-in catalog, if it starts with that."""
    is_named = len(name) > 2 and name[0].lower() == SESSION_CATALOG
    return name[1:] if is_named else name
