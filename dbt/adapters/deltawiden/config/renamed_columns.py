"""Read which columns of a model had another name before, and check it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.deltawiden.config.declared_columns import Columns
from dbt.adapters.deltawiden.config.materializations import MADE_AGAIN
from dbt.adapters.deltawiden.config.merge_clauses import assignments_of, read_merge_clauses
from dbt.adapters.deltawiden.config.policy import problem
from dbt.adapters.deltawiden.sql.identifiers import (
    Path,
    as_list,
    columns_listed,
    folded,
    path_text,
    read_name,
)
from dbt.adapters.deltawiden.sql.references import parsed_paths

_META_KEY = "renamed_from"
_NAMING_KEYS = (
    *("unique_key", "merge_update_columns", "merge_exclude_columns", "partition_by"),
    *("liquid_clustered_by", "zorder", "zorder_by", "updated_at", "check_cols", "event_time"),
)
_STATISTICS = "delta.dataSkippingStatsColumns"
_CONDITION_KEYS = (
    *("predicates", "incremental_predicates", "matched_condition", "not_matched_condition"),
    *("not_matched_by_source_action", "not_matched_by_source_condition"),
)

Renames = Mapping[Path, str]
"""The name that a column or nested field had before, by its new path. Outer fields come first."""


@dataclass(frozen=True)
class _Line:
    """A rename in a configuration.

    Attributes:
        old: the path from before, but with the new names of the outer fields. None if ``given``
            is not a name.
        key: the key that has it, for messages.
    """

    new: Path
    old: Path | None
    given: Any
    key: str


def read_renames(config: Mapping[str, Any], columns: Columns) -> Renames:
    """Read ``renamed_columns`` of a model, and ``renamed_from`` in the ``meta`` of its columns."""
    lines = sorted(_lines(config, columns), key=lambda line: len(line.new))
    return {line.new: line.old[-1] for line in lines if line.old}


def rename_problems(config: Mapping[str, Any], columns: Columns | None = None) -> list[str]:
    """Find the renames that are not accepted, and the old names in other keys: a line for each.

    There are none for a node that each run makes again: nothing is renamed then.
    """
    if config.get("materialized") in MADE_AGAIN:
        return []
    return list(_problems(list(_lines(config, columns or {})), config))


def _lines(config: Mapping[str, Any], columns: Columns) -> Iterator[_Line]:
    given = config.get("renamed_columns") or {}
    if not isinstance(given, Mapping):
        yield _Line((), None, given, "renamed_columns")
        return
    for new, old in given.items():
        yield _line(str(new), old, f"renamed_columns: {new}")
    for name, column in columns.items():
        metas = (column.get("meta") or {}, (column.get("config") or {}).get("meta") or {})
        old = next((meta[_META_KEY] for meta in metas if _META_KEY in meta), None)
        if old is not None:
            yield _line(name, old, f"columns: {name}: {_META_KEY}")


def _line(new: str, given: Any, key: str) -> _Line:
    path = read_name(new)
    old = read_name(given) if isinstance(given, str) and given.strip() else ()
    return _Line(path, (*path[:-1], *old) if len(old) == 1 else None, given, key)


def _problems(lines: Sequence[_Line], config: Mapping[str, Any]) -> Iterator[str]:
    new = [folded(line.new) for line in lines]
    old = [folded(line.old or ()) for line in lines]
    for line, before in zip(lines, old, strict=True):
        if line.old is None:
            accepted = "by the new name (of a field, its path), the old name without a path"
            yield problem(line.key, line.given, accepted)
        elif before in new:
            yield (
                f"{line.key}: got {line.given!r}, which is also a new name; accepted: a name that "
                "is not (case is ignored): a table with both names does not show whether they "
                "were exchanged. Rename one to a third name, in a run of its own"
            )
        elif old.count(before) > 1 or new.count(folded(line.new)) > 1:
            yield f"{line.key}: one of its names is in two renames; accepted: one rename for each"
        else:
            yield from _old_names(line, before, config)


def _old_names(line: _Line, before: Path, config: Mapping[str, Any]) -> Iterator[str]:
    named = {key: config.get(key) for key in _NAMING_KEYS}
    named[f"tblproperties: {_STATISTICS}"] = (config.get("tblproperties") or {}).get(_STATISTICS)
    for key, names in named.items():
        for name in columns_listed(names or ()):
            if folded(read_name(name))[: len(before)] == before:
                yield f"{key}: got {name!r}, the old name of {path_text(line.new)}"
    clauses = read_merge_clauses(config)
    aliases = clauses.target_alias.lower(), clauses.source_alias.lower()
    # In SQL, `items.qty` is the field of each element.
    names = before, (*(part for part in before[:-1] if part != "element"), before[-1])
    for key in _CONDITION_KEYS:
        for text in as_list(config.get(key)):
            used = parsed_paths(assignments_of(text) or text) or ()
            columns = [path[1:] if path[0] in aliases else path for path in used]
            if any(column[: len(name)] == name for column in columns for name in names):
                yield f"{key}: got {text!r}, with the old name of {path_text(line.new)}"
