"""What a type change does to the relations and exposures that read a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Kind(Enum):
    """What a change reaches."""

    MODEL = "model"
    SNAPSHOT = "snapshot"
    VIEW = "view"
    FUNCTION = "function"
    CONTRACT = "contract"
    EXPOSURE = "exposure"


class Outcome(Enum):
    """What a change does to what it reaches."""

    NEW_TYPES = "gets other types"
    CASTS_BACK = "casts back until it is updated"
    FAILS = "fails until it is updated"
    STORES_TWICE = "can store rows a second time"
    BREAKS = "no longer matches"
    STOPS = "stops"
    SKIPPED = "is skipped"
    READS = "reads changed types"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class Effect:
    """What a type change does to something that reads the table.

    Attributes:
        because: the names of the models, snapshots or tables from which the change comes.
        details: the columns with their types, or why the outcome is not known.
        do: commands, each of which is sufficient. Empty if there is nothing to do.
    """

    kind: Kind
    name: str
    outcome: Outcome
    because: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    do: tuple[str, ...] = ()

    @property
    def stops_the_run(self) -> bool:
        """Whether the next run ends with an error there."""
        return self.outcome in (Outcome.BREAKS, Outcome.STOPS)

    @property
    def value(self) -> dict[str, Any]:
        """The effect as a value for JSON."""
        return {
            "kind": self.kind.value,
            "name": self.name,
            "outcome": self.outcome.value,
            "because": list(self.because),
            "details": list(self.details),
            "do": list(self.do),
        }

    @property
    def row(self) -> Mapping[str, str]:
        """The effect as a row of a table for people."""
        return {
            "what reads it": f"{self.kind.value} {self.name}",
            "outcome": self.outcome.value,
            "because of": ", ".join(self.because),
            "details": "; ".join(self.details),
            "do": " or: ".join(self.do),
        }

    @property
    def error(self) -> str:
        """The effect as an error message."""
        lines = [f"The {self.kind.value} {self.outcome.value}.", *self.details]
        return "\n".join([*lines, *(f"Do: {command}" for command in self.do)])


def first_line(text: str) -> str:
    """Return the first line of an error message, for the details of an effect."""
    return next(iter(text.strip().splitlines()), "")


def sorted_effects(effects: Iterable[Effect]) -> Sequence[Effect]:
    """Return effects sorted by their kind and name, so that two outputs can be compared."""
    kinds = list(Kind)
    return sorted(effects, key=lambda effect: (kinds.index(effect.kind), effect.name))
