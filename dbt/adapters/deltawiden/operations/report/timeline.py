"""The places of bars and marks in a picture of when the types of a table changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.deltawiden.delta.change_history import DatedChange
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.types import type_text

NAMES, STEP, BAR, LANE, HEAD = 170, 190, 26, 36, 44


@dataclass(frozen=True)
class Bar:
    """The time in which a column or field has one type."""

    x: int
    width: int
    type: str
    is_last: bool


@dataclass(frozen=True)
class Lane:
    """A column or field, with its types from left to right."""

    name: str
    y: int
    bars: Sequence[Bar]


@dataclass(frozen=True)
class Mark:
    """A commit that changed types. Its title has everything that is known of it."""

    x: int
    time: str
    maker: str
    title: str


@dataclass(frozen=True)
class Timeline:
    """A picture."""

    lanes: Sequence[Lane]
    marks: Sequence[Mark]
    width: int
    height: int


def draw_timeline(changes: Sequence[DatedChange]) -> Timeline:
    """Place a lane for each column or field, and a mark for each commit, in their order.

    The marks have equal distances, whatever the time between the commits.
    """
    commits = list(dict.fromkeys(change.place for change in changes))
    end = NAMES + (len(commits) + 1) * STEP
    places = {commit: NAMES + (n + 1) * STEP for n, commit in enumerate(commits)}
    by_path: dict[Path, list[DatedChange]] = {}
    for change in changes:
        by_path.setdefault(change.change.path, []).append(change)
    lanes = [
        Lane(path_text(path), HEAD + n * LANE, _bars(made, [places[m.place] for m in made], end))
        for n, (path, made) in enumerate(by_path.items())
    ]
    first_of = {change.place: change for change in reversed(changes)}
    marks = [_mark(first_of[commit], places[commit]) for commit in commits]
    return Timeline(lanes, marks, end + 1, HEAD + len(lanes) * LANE)


def _mark(change: DatedChange, x: int) -> Mark:
    known = [change.time_text, change.maker]
    if change.version is not None:
        known.append(f"version {change.version}")
    if change.invocation_id:
        known.append(f"invocation {change.invocation_id}")
    maker = change.maker.rsplit(".", 1)[-1] if change.time else ""
    return Mark(x, change.time_text, maker, ", ".join(dict.fromkeys(known)))


def _bars(made: Sequence[DatedChange], places: Sequence[int], end: int) -> list[Bar]:
    types = [type_text(made[0].change.from_type), *(type_text(m.change.to_type) for m in made)]
    starts, ends = [NAMES, *places], [*places, end]
    # Two changes of unknown time are at one place: the bar between them has no width.
    return [
        Bar(x, right - x, type_, n == len(made))
        for n, (x, right, type_) in enumerate(zip(starts, ends, types, strict=True))
        if right > x
    ]
