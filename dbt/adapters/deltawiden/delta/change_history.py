"""Find when, and by which model or operation, the types of a table were changed."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.history import Commit, read_history
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, moved, parse_path
from dbt.adapters.deltawiden.sql.types import UnknownType, parse_type, type_text

_RENAME = "RENAME COLUMN"
_OPERATIONS = ("CHANGE COLUMN", "CHANGE COLUMNS")
# Of a leaf: only the type of a leaf is a text.
_COLUMN = re.compile(r'"name":"((?:[^"\\]|\\.)*)","type":"([^"\\]*)"')


@dataclass(frozen=True)
class DatedChange:
    """A recorded type change, with what the table's history says of it.

    The other attributes are None if the history does not say it: the commit is older than the
    history, or another program changed the type in a write.

    Attributes:
        version: the version of the table that it made.
        time: when it was made, in UTC.
        changed_by: the unique id of the model, or the name of the operation.
        invocation_id: dbt's id of that run.
        after: the version of the change of the same column or field before it; -1 if not known.
    """

    change: TypeChange
    version: int | None = None
    time: datetime | None = None
    changed_by: str | None = None
    invocation_id: str | None = None
    after: int = -1

    @property
    def place(self) -> tuple[int, bool]:
        """Its place among the table's changes. Changes with equal places have no known order."""
        return (self.after, True) if self.version is None else (self.version, False)

    @property
    def time_text(self) -> str:
        """The time for people, in UTC; ``not known`` if it is not."""
        return f"{self.time:%Y-%m-%d %H:%M} UTC" if self.time else "not known"

    @property
    def maker(self) -> str:
        """What made the change, for people."""
        return self.changed_by or ("another program" if self.time else "not known")

    @property
    def text(self) -> str:
        """The change for people: ``n: int -> bigint (2026-01-31 10:00 UTC, model.shop.orders)``."""
        told = f"{self.time_text}, {self.maker}" if self.time else self.time_text
        return f"{self.change.text} ({told})"

    @property
    def value(self) -> dict[str, Any]:
        """The change for machines."""
        return {
            **self.change.value,
            "version": self.version,
            "time": self.time.isoformat() if self.time else None,
            "changed_by": self.changed_by,
            "invocation_id": self.invocation_id,
        }


def read_dated_changes(
    backend: SqlBackend, snapshot: TableSnapshot, limit: int | None = None
) -> tuple[DatedChange, ...]:
    """Read the type changes of a table as ``date_changes``. Without any, there is no statement."""
    if not snapshot.changes:
        return ()
    commits = read_history(snapshot.name, backend.fetch_rows, limit)
    return date_changes(snapshot.changes, commits, backend.instant)


def date_changes(
    changes: Iterable[TypeChange],
    commits: Iterable[Commit],
    instant: Callable[[datetime | str], datetime],
) -> tuple[DatedChange, ...]:
    """Find the commits, the newest first, that made type changes, and return these in their order.

    One of unknown time follows the change of the same column or field before it, or comes first.

    Source:
        Delta's ``DeltaOperations``: the parameters of CHANGE COLUMN and CHANGE COLUMNS in
        https://docs.delta.io/latest/delta-utility.html#retrieve-delta-table-history
    """
    # If a table was replaced and widened again, the newest of equal changes is the recorded one.
    found: dict[tuple[Path, str], Commit] = {}
    renames: list[tuple[Path, Path]] = []
    for commit in commits:
        renames += _renamed_column(commit)
        for path, type_ in _changed_columns(commit):
            for old, new in reversed(renames):  # those after this commit, the oldest first
                path = moved(path, old, new)
            found.setdefault((folded(path), type_), commit)
    dated: list[DatedChange] = []
    newest: dict[Path, int] = {}
    for change in changes:
        if commit_of := found.get((folded(change.path), type_text(change.to_type))):
            dated.append(_dated(change, commit_of, instant))
            newest[change.path] = commit_of.version
        else:
            dated.append(DatedChange(change, after=newest.get(change.path, -1)))
    return tuple(sorted(dated, key=lambda known: known.place))


def _dated(
    change: TypeChange, commit: Commit, instant: Callable[[datetime | str], datetime]
) -> DatedChange:
    tag = commit.tag
    return DatedChange(
        change,
        commit.version,
        instant(commit.timestamp),
        _text(tag, "changed_by"),
        _text(tag, "invocation_id"),
    )


def _text(tag: Mapping[str, Any], key: str) -> str | None:
    return str(tag[key]) if tag.get(key) else None


def _renamed_column(commit: Commit) -> list[tuple[Path, Path]]:
    """Return the path that a commit renamed, and its new one; nothing if the text is ambiguous."""
    paths = commit.parameters.split(" ") if commit.operation == _RENAME else ()
    try:
        return [(parse_path(paths[0]), parse_path(paths[1]))] if len(paths) == 2 else []
    except ValueError:
        return []


def _changed_columns(commit: Commit) -> Iterator[tuple[Path, str]]:
    """Yield the path, in lower case, and the new type of each column that a commit changed."""
    if commit.operation not in _OPERATIONS:
        return
    for name, json_type in _COLUMN.findall(commit.parameters):
        try:
            path = parse_path(json.loads(f'"{name}"'))
            yield folded(path), type_text(parse_type(json_type))
        except (ValueError, UnknownType):
            # A change that can't be read has no recorded change that it belongs to.
            continue
