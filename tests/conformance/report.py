"""What the conformance tests have counted, and `docs/conformance.md` from it.

    python -m tests.conformance.report FOLDER

reads every ``conformance.json`` below the folder and writes the page.
"""

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
HEAD = """# Conformance

What `widening/rules.py` and `widening/exactness.py` say, held against live engines.
`make test-matrix` runs it and writes this page.

A *pair* is a change from one type to another, tried with `ALTER COLUMN ... TYPE` on a column of its
own in a real Delta table. A *stored pair* is the boundary values of one type, written to a column
of another and read back. A disagreement is a pair of which our rules and the engine say different
things.
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
    """

    spark: str = ""
    delta: str = ""
    types: int = 0
    widening: dict[str, tuple[int, int]] = field(default_factory=dict)
    widening_disagreements: list[str] = field(default_factory=list)
    stored: int = 0
    stored_disagreements: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> "Conformance":
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def page(engines: list[Conformance]) -> str:
    """Render the page."""
    engines = sorted(engines, key=lambda each: [int(n) for n in each.spark.split(".")])
    names = [f"Delta {each.delta}, Spark {each.spark}" for each in engines]
    positions = list(engines[0].widening)
    rows = [
        ["types paired", *(str(each.types) for each in engines)],
        *([p, *(_count(each.widening[p]) for each in engines)] for p in positions),
        ["**disagreements**", *(f"**{len(each.widening_disagreements)}**" for each in engines)],
        ["stored pairs", *(str(each.stored) for each in engines)],
        ["**disagreements**", *(f"**{len(each.stored_disagreements)}**" for each in engines)],
    ]
    lines = [["pairs tried (accepted by the engine)", *names], ["---"] * (len(names) + 1), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    found = [
        f"- {name}: {each}"
        for name, engine in zip(names, engines, strict=True)
        for each in (*engine.widening_disagreements, *engine.stored_disagreements)
    ]
    return "\n".join([HEAD, table, *(["", "## Disagreements", "", *found] if found else []), ""])


def _count(tried_and_taken: tuple[int, int]) -> str:
    tried, taken = tried_and_taken
    return f"{tried} ({taken})"


if __name__ == "__main__":
    files = sorted(Path(sys.argv[1]).rglob("conformance.json"))
    if not files:
        raise SystemExit(f"There is no conformance.json below {sys.argv[1]}")
    read = [Conformance.read(each) for each in files]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(read), encoding="utf-8")
    print(f"{PAGE}: {len(read)} engines")
