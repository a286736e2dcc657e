"""Render dbt's ``listagg`` with an order, which Spark supports since 4.0.

https://spark.apache.org/docs/latest/api/sql/#listagg
"""

import re

_FLAGS = re.IGNORECASE | re.DOTALL
# No text of a user has it.
_MARK = "'\\u0001\\u001f\\u0001'"


def ordered_listagg(measure: object, delimiter: str, order: str, limit: int | None) -> str | None:
    """Return the expression, or None if Spark can't have the order: of distinct values, by others.

    Args:
        order: the ``order by`` clause.
        limit: how many values the text has at most, if not all.
    """
    distinct = re.fullmatch(r"distinct\b\s*(.+)", str(measure).strip(), _FLAGS)
    if distinct:
        return _of_distinct(distinct[1], delimiter, order, limit)
    within = f" within group ({order})"
    if not limit:
        # As dbt-spark's macro, and not null, if all values are null.
        return f"coalesce(listagg({measure}, {delimiter}){within}, '')"
    # listagg has no limit, so split its result again at characters that do not occur in texts.
    split = f"split(listagg({measure}, {_MARK}){within}, {_MARK})"
    return f"coalesce(array_join(slice({split}, 1, {limit}), {delimiter}), '')"


def _of_distinct(measure: str, delimiter: str, order: str, limit: int | None) -> str | None:
    # Spark sorts distinct values by themselves alone, here only texts. Brackets and table names
    # change nothing.
    by = re.fullmatch(
        r"order\s+by\s+(.+?)(\s+asc|\s+desc)?(\s+nulls\s+(first|last))?", order.strip(), _FLAGS
    )
    same = r"[(\s]*(\w+\.)*(.+?)[)\s]*\n[(\s]*(\w+\.)*\2[)\s]*"
    if by is None or not re.fullmatch(same, f"{measure}\n{by[1]}", _FLAGS):
        return None
    is_ascending = (by[2] or "asc").strip().lower() == "asc"
    values = f"sort_array(collect_set({measure}), {str(is_ascending).lower()})"
    values = f"slice({values}, 1, {limit})" if limit else values
    return f"array_join({values}, {delimiter})"
