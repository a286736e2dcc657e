"""The counts of the conformance tests, and `docs/conformance.md` from them.

    python -m tests.conformance.report FOLDER

reads every ``conformance.json`` below the folder and writes the page.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
HEAD = """# Conformance

This page shows whether the type rules of dbt-deltawiden agree with the supported versions of Spark
and Delta. The rules are in `widening/rules.py` and `writing/store_assignment.py`.
`make test-matrix` runs the tests and writes this page.

A *pair* is a change from one type to another. The test runs `ALTER COLUMN ... TYPE` on a separate
column of a real Delta table. A disagreement is a pair that our rules permit and the engine does
not, or the reverse.

A *stored pair* is a type of values and a type of a column. The test writes the boundary values of
the first type to a column of the second type, and reads them back. A disagreement is a pair for
which our rules expect another result.

A *filtered pair* is a pair that can be widened. The test writes each boundary value to a separate
file and widens the column. It then runs filters (`=`, `<`, `<=`, `>`, `>=`, `<=>`, `<>`, `in`,
`between`, `is null`) with the boundary values and the values next to them. A filter must return the
same rows as it does for values that were never in a table. A `MERGE` on the column must find its
row. A disagreement is a filter or a `MERGE` with another result.

The *promise* is that every value of a model is stored exactly, or that the run fails with the
reason and writes nothing. `make test-promise` tests it with real dbt runs of models whose output
changes randomly from step to step. After each step, filters on the table and a view over the table
must also return the right values. A disagreement is a step after which one of these is not true.
"""


@dataclass
class Conformance:
    """The counts of one engine.

    Attributes:
        spark, delta: its versions.
        types: how many types were paired.
        widening: pairs tried and pairs accepted, by position.
        widening_disagreements: those pairs, as text.
        stored: how many pairs of a written and a column's type were tried.
        stored_disagreements: those pairs, as text.
        filtered: widened pairs and the filters put on them, by position.
        filtered_disagreements: those filters, as text.
        promise: steps of the random walk, by how they ended.
        promise_disagreements: broken promises, as text.
    """

    spark: str = ""
    delta: str = ""
    types: int = 0
    widening: dict[str, tuple[int, int]] = field(default_factory=dict)
    widening_disagreements: list[str] = field(default_factory=list)
    stored: int = 0
    stored_disagreements: list[str] = field(default_factory=list)
    filtered: dict[str, tuple[int, int]] = field(default_factory=dict)
    filtered_disagreements: list[str] = field(default_factory=list)
    promise: dict[str, int] = field(default_factory=dict)
    promise_disagreements: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> "Conformance":
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    def with_counts_of(self, other: "Conformance") -> "Conformance":
        """Add the counts that only another file of the same engine has."""
        return Conformance(**{**asdict(other), **{k: v for k, v in asdict(self).items() if v}})


def by_engine(read: Iterable[Conformance]) -> list[Conformance]:
    """Merge the files of each engine. An engine without pairs is left out."""
    engines: dict[tuple[str, str], Conformance] = {}
    for counts in read:
        key = (counts.spark, counts.delta)
        engines[key] = counts.with_counts_of(engines.get(key, Conformance()))
    return [counts for counts in engines.values() if counts.widening]


def page(engines: list[Conformance]) -> str:
    """Render the page."""
    engines = sorted(engines, key=lambda each: [int(n) for n in each.spark.split(".")])
    names = [f"Delta {engine.delta}, Spark {engine.spark}" for engine in engines]
    positions = list(engines[0].widening)
    rows = [
        ["types paired", *(str(engine.types) for engine in engines)],
        *([p, *(_count(engine.widening[p]) for engine in engines)] for p in positions),
        ["**disagreements**", *(f"**{len(engine.widening_disagreements)}**" for engine in engines)],
        ["stored pairs", *(str(engine.stored) for engine in engines)],
        ["**disagreements**", *(f"**{len(engine.stored_disagreements)}**" for engine in engines)],
        *_filtered_rows(engines),
        *_promise_rows(engines),
    ]
    lines = [["pairs tried (accepted by the engine)", *names], ["---"] * (len(names) + 1), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    found = [
        f"- {name}: {disagreement}"
        for name, engine in zip(names, engines, strict=True)
        for disagreement in (
            *engine.widening_disagreements,
            *engine.stored_disagreements,
            *engine.filtered_disagreements,
            *engine.promise_disagreements,
        )
    ]
    return "\n".join([HEAD, table, *(["", "## Disagreements", "", *found] if found else []), ""])


def _count(tried_and_taken: tuple[int, int]) -> str:
    tried, taken = tried_and_taken
    return f"{tried} ({taken})"


def _filtered_rows(engines: list[Conformance]) -> list[list[str]]:
    """Make the rows of filtered pairs. An engine without such counts has a -."""
    positions = list(dict.fromkeys(position for engine in engines for position in engine.filtered))
    if not positions:
        return []
    rows = [
        [
            f"filtered pairs (filters), {position}",
            *(_count(engine.filtered[position]) if engine.filtered else "-" for engine in engines),
        ]
        for position in positions
    ]
    wrong = (str(len(e.filtered_disagreements)) if e.filtered else "-" for e in engines)
    return [*rows, ["**disagreements**", *(f"**{count}**" for count in wrong)]]


def _promise_rows(engines: list[Conformance]) -> list[list[str]]:
    """Make the rows of the random walk, which does not run on every engine."""
    endings = list(dict.fromkeys(ending for engine in engines for ending in engine.promise))
    if not endings:
        return []
    rows = [
        [f"promise: {ending}", *(str(engine.promise.get(ending, "-")) for engine in engines)]
        for ending in endings
    ]
    wrong = (str(len(e.promise_disagreements)) if e.promise else "-" for e in engines)
    return [*rows, ["**disagreements**", *(f"**{count}**" for count in wrong)]]


if __name__ == "__main__":
    files = sorted(Path(sys.argv[1]).rglob("conformance.json"))
    if not files:
        raise SystemExit(f"There is no conformance.json below {sys.argv[1]}")
    read = by_engine(Conformance.read(path) for path in files)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(read), encoding="utf-8")
    print(f"{PAGE}: {len(read)} engines")
