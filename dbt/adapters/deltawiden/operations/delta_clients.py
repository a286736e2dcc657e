"""What other programs can do with a Delta table, before and after type widening.

``delta_clients.yml`` has the programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib.resources import files
from typing import Any

import yaml


class State(Enum):
    """The states of a table's type widening, in the order in which they follow each other."""

    BEFORE = "before enabling"
    ENABLED = "enabled"
    WIDENED = "widened"
    DROPPED_FAST = "dropped fast"
    DROPPED_TRUNCATED = "dropped with truncated history"


class Access(Enum):
    """The access that a reader has to a table."""

    APPENDS = "reads and appends"
    READS_PERHAPS_APPENDS = "reads; appends: ?"
    READS = "reads"
    NOTHING = "no access"
    UNKNOWN = "?"


LOSSES = {
    (Access.APPENDS, Access.READS),
    (Access.APPENDS, Access.NOTHING),
    (Access.READS_PERHAPS_APPENDS, Access.NOTHING),
    (Access.READS, Access.NOTHING),
}
"""Pairs of an access before a change and one after it that is certainly less."""


@dataclass(frozen=True)
class KnownReader:
    """A program that reads Delta tables.

    Attributes:
        date: the date of the measurement, or on which the sources were read.
        sources: the URLs of its documentation, starting with the effect of enabling. Empty for a
            measured reader.
    """

    name: str
    version: str
    access: Mapping[State, Access]
    date: str
    sources: tuple[str, ...] = ()
    refusals: Mapping[State, str] = field(default_factory=dict)
    note: str = ""

    def can(self, state: State) -> Access:
        """Return its access to a table in a state."""
        return self.access.get(state, Access.UNKNOWN)

    @property
    def is_lost(self) -> bool:
        """Whether it is known to lose access, at least in part, when a table gains the feature."""
        return (self.can(State.BEFORE), self.can(State.ENABLED)) in LOSSES

    @property
    def value(self) -> dict[str, object]:
        """The effect of enabling type widening on it, as values for JSON."""
        return {
            "reader": self.name,
            "version": self.version,
            "before": self.can(State.BEFORE).value,
            "enabled": self.can(State.ENABLED).value,
            "source": list(self.sources) or "measured",
            "date": self.date,
        }


def _read_readers(kind: str) -> tuple[KnownReader, ...]:
    every = yaml.safe_load(files(__package__).joinpath("delta_clients.yml").read_text("utf-8"))
    return tuple(_read_reader(row, str(every["date"])) for row in every[kind])


def _read_reader(row: Mapping[str, Any], date: str) -> KnownReader:
    access = (Access[name.upper()] for name in row["access"])
    refusals = row.get("refusals", {})
    return KnownReader(
        name=row["name"],
        version=row["version"],
        access=dict(zip(State, access, strict=True)),
        date=date,
        sources=tuple(row.get("sources", ())),
        refusals={State[state.upper()]: message for state, message in refusals.items()},
        note=row.get("note", ""),
    )


MEASURED = _read_readers("measured")
QUOTED = _read_readers("quoted")
DELTA_CLIENTS = MEASURED + QUOTED
