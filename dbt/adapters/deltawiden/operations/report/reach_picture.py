"""The places of boxes and lines in a picture of what a change reaches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, GAP_X, GAP_Y = 210, 44, 70, 14


@dataclass(frozen=True)
class Box:
    """A box of the picture. Its ``state``, for its color, is ``change``, ``stop`` or ``look``."""

    name: str
    label: str
    state: str
    because: tuple[str, ...] = ()


@dataclass(frozen=True)
class Placed:
    """A box with the coordinates of its left upper corner."""

    box: Box
    x: int
    y: int


@dataclass(frozen=True)
class Picture:
    """Boxes, and the lines between them, each as x and y of both ends."""

    boxes: Sequence[Placed]
    lines: Sequence[tuple[int, int, int, int]]
    width: int
    height: int


def draw(boxes: Sequence[Box]) -> Picture:
    """Place boxes in columns: each to the right of those from which its change comes."""
    by_name: dict[str, list[Box]] = {}
    for box in boxes:
        by_name.setdefault(box.name, []).append(box)
    columns: dict[int, int] = {}
    placed: list[Placed] = []
    depths: dict[str, int] = {}
    for box in boxes:
        column = _depth(box.name, by_name, depths, frozenset())
        row = columns.get(column, 0)
        columns[column] = row + 1
        placed.append(Placed(box, column * (WIDTH + GAP_X) + 1, row * (HEIGHT + GAP_Y) + 1))
    ends = {item.box.name: item for item in reversed(placed)}
    lines = [
        (ends[name].x + WIDTH, ends[name].y + HEIGHT // 2, item.x, item.y + HEIGHT // 2)
        for item in placed
        for name in item.box.because
        if name in ends and name != item.box.name
    ]
    width = (max(columns, default=0) + 1) * (WIDTH + GAP_X)
    return Picture(placed, lines, width, max(columns.values(), default=0) * (HEIGHT + GAP_Y) + 2)


def _depth(
    name: str,
    boxes: Mapping[str, Sequence[Box]],
    depths: dict[str, int],
    open_names: frozenset[str],
) -> int:
    if name in depths:
        return depths[name]
    inputs = {
        other
        for box in boxes.get(name, ())
        for other in box.because
        if other in boxes and other not in open_names and other != name
    }
    depth = max((_depth(i, boxes, depths, open_names | {name}) + 1 for i in inputs), default=0)
    depths[name] = depth
    return depth
