"""Render `docs/conformance.md` from the counts of the conformance tests.

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
column of a real Delta table, in every position: as a column, in a struct, in an array and in a map.
A disagreement is a pair that our rules permit and the engine does not, or the reverse.

A *stored pair* is the type of a value and the type of a column. The test writes the boundary values
of the first type to a column of the second type, and reads them back. A disagreement is a pair for
which our rules expect another result.
"""
FILTERED = """\
A *filtered pair* is a pair that can be widened. The test writes each boundary value to a separate
file and widens the column. It then runs filters (`=`, `<`, `<=`, `>`, `>=`, `<=>`, `<>`, `in`,
`between`, `is null`) with the boundary values and the values next to them. A filter must return the
same rows as it does for values that were never in a table. A `MERGE` on the column must find its
row. A disagreement is a filter or a `MERGE` with another result.

A *filter beyond the files* has a value that no file holds: around 2^31, 2^32, 2^63 and 2^64 in the
unscaled value, and the values that become a stored one if a narrower type cuts them. Python says
which rows the filter must find. It runs with the vectorized reader and without it, and some of the
filters also run as `DELETE`, `UPDATE` and `REPLACE WHERE`.

The test also widens the pairs that dbt-deltawiden refuses because of such results. Their results
are counted separately.
"""
PROMISE = """\
The *promise* is that every value of a model is stored exactly, or that the run fails with the
reason and writes nothing. `make test-promise` tests it with real dbt runs of models whose output
changes randomly from step to step. After each step, filters on the table and a view over the table
must also return the right values. A disagreement is a step after which one of these is not true.
"""
REPAIRS = """\
The *repairs* are what a schema change asks of the rows that exist. The same command runs them in
random order: renames, new columns with and without `backfill_new_columns`, wider types,
`backfill_columns`, `restore_values` after casts that have cut values, rewrites, `OPTIMIZE` and full
refreshes, with other changes of the rows between them. An oracle in Python knows what each row must
have after each step, and which steps must be refused. A disagreement is a step after which a row, a
column, a filter or a number that dbt shows is another one.
"""


@dataclass
class Conformance:
    """The counts of one engine.

    Attributes:
        spark, delta: its versions.
        types: the number of types that were paired.
        widening: the numbers of pairs tried and of pairs accepted, by position.
        widening_disagreements: the pairs with a disagreement, as text.
        stored: the number of pairs of a value's type and a column's type that were tried.
        stored_disagreements: the pairs with a disagreement, as text.
        filtered: the numbers of widened pairs and of filters on them, by position.
        filtered_disagreements: the filters with a disagreement, as text.
        filtered_refused: the filters with a wrong result on pairs that the adapter refuses, as
            text.
        beyond: the numbers of widened pairs and of filters beyond the files on them, by position.
        beyond_disagreements: the filters with a disagreement, as text.
        promise: the number of steps of the random walk, by their result.
        promise_disagreements: the steps that broke the promise, as text.
        repairs: what the walk over repairs has done, and how often.
        repairs_disagreements: its steps after which something was wrong, as text.
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
    filtered_refused: list[str] = field(default_factory=list)
    beyond: dict[str, tuple[int, int]] = field(default_factory=dict)
    beyond_disagreements: list[str] = field(default_factory=list)
    promise: dict[str, int] = field(default_factory=dict)
    promise_disagreements: list[str] = field(default_factory=list)
    repairs: dict[str, int] = field(default_factory=dict)
    repairs_disagreements: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> "Conformance":
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    def with_counts_of(self, other: "Conformance") -> "Conformance":
        """Return these counts, completed with those that only another file of the engine has."""
        own = {name: count for name, count in asdict(self).items() if count}
        return Conformance(**{**asdict(other), **own})


def by_engine(read: Iterable[Conformance]) -> list[Conformance]:
    """Combine the counts of each engine's files. Leave out an engine that has no widened pairs."""
    engines: dict[tuple[str, str], Conformance] = {}
    for counts in read:
        key = (counts.spark, counts.delta)
        engines[key] = counts.with_counts_of(engines.get(key, Conformance()))
    return [counts for counts in engines.values() if counts.widening]


def page(engines: list[Conformance]) -> str:
    """Render the page."""
    engines = sorted(engines, key=_spark_version)
    names = [f"Delta {engine.delta}, Spark {engine.spark}" for engine in engines]
    positions = list(engines[0].widening)
    filtered_rows = _filtered_rows(engines)
    promise_rows, repairs_rows = (_walk_rows(walk, engines) for walk in ("promise", "repairs"))
    rows = [
        ["types paired", *(str(engine.types) for engine in engines)],
        *(
            [position, *(_count(engine.widening[position]) for engine in engines)]
            for position in positions
        ),
        _disagreements([str(len(engine.widening_disagreements)) for engine in engines]),
        ["stored pairs", *(str(engine.stored) for engine in engines)],
        _disagreements([str(len(engine.stored_disagreements)) for engine in engines]),
        *filtered_rows,
        *_beyond_rows(engines),
        *promise_rows,
        *repairs_rows,
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
            *engine.beyond_disagreements,
            *engine.promise_disagreements,
            *engine.repairs_disagreements,
        )
    ]
    refused = sorted({text.split(":")[0] for engine in engines for text in engine.filtered_refused})
    listed = [
        *(["", "## Refused because of their results", ""] if refused else []),
        *(f"- {pair}" for pair in refused),
        *(["", "## Disagreements", "", *found] if found else []),
    ]
    parts = ((FILTERED, filtered_rows), (PROMISE, promise_rows), (REPAIRS, repairs_rows))
    heads = [HEAD, *(text for text, rows in parts if rows)]
    return "\n".join([*heads, table, *listed, ""])


def _spark_version(engine: Conformance) -> list[int]:
    return [int(part) for part in engine.spark.split(".")]


def _count(tried_and_accepted: tuple[int, int]) -> str:
    tried, accepted = tried_and_accepted
    return f"{tried} ({accepted})"


def _disagreements(counts: list[str]) -> list[str]:
    return ["**disagreements**", *(f"**{count}**" for count in counts)]


def _filtered_rows(engines: list[Conformance]) -> list[list[str]]:
    """Return the rows of filtered pairs. An engine without such counts has a -."""
    rows = _rows_by_position("filtered pairs (filters)", [engine.filtered for engine in engines])
    if not rows:
        return []
    refused = [str(len(engine.filtered_refused)) if engine.filtered else "-" for engine in engines]
    wrong = [
        str(len(engine.filtered_disagreements)) if engine.filtered else "-" for engine in engines
    ]
    return [
        *rows,
        ["wrong results on pairs that dbt-deltawiden refuses", *refused],
        _disagreements(wrong),
    ]


def _beyond_rows(engines: list[Conformance]) -> list[list[str]]:
    """Return the rows of filters beyond the files. An engine without such counts has a -."""
    by_position = [engine.beyond for engine in engines]
    rows = _rows_by_position("filtered pairs (filters beyond the files)", by_position)
    wrong = [str(len(engine.beyond_disagreements)) if engine.beyond else "-" for engine in engines]
    return [*rows, _disagreements(wrong)] if rows else []


def _rows_by_position(what: str, counts: list[dict[str, tuple[int, int]]]) -> list[list[str]]:
    positions = dict.fromkeys(position for count in counts for position in count)
    return [
        [
            f"{what}, {position}",
            *(_count(count[position]) if position in count else "-" for count in counts),
        ]
        for position in positions
    ]


def _walk_rows(walk: str, engines: list[Conformance]) -> list[list[str]]:
    """Return the rows of a random walk. An engine without these counts has a -."""
    counted: list[dict[str, int]] = [getattr(engine, walk) for engine in engines]
    names = list(dict.fromkeys(name for counts in counted for name in counts))
    if not names:
        return []
    rows = [
        [f"{walk}: {name}", *(str(counts.get(name, "-")) for counts in counted)] for name in names
    ]
    wrong = [
        str(len(getattr(engine, f"{walk}_disagreements"))) if counts else "-"
        for engine, counts in zip(engines, counted, strict=True)
    ]
    return [*rows, _disagreements(wrong)]


if __name__ == "__main__":
    files = sorted(Path(sys.argv[1]).rglob("conformance.json"))
    if not files:
        raise SystemExit(f"There is no conformance.json below {sys.argv[1]}")
    read = by_engine(Conformance.read(file) for file in files)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(read), encoding="utf-8")
    print(f"{PAGE}: {len(read)} engines")
