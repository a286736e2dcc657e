"""`docs/compatibility.md`, from what the test runs have left.

    python -m tests.compatibility FOLDER

reads ``standard/*.xml`` (dbt's own test suite, one for each adapter) and ``*/results.xml`` (one
for each lane of the matrix) below the folder, as pytest writes them, and writes the page.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"
OURS, THEIRS = "deltawiden", "spark"
HEAD = """# Compatibility

`make compatibility` runs dbt's own test suite (dbt-tests-adapter) on dbt-deltawiden and on
dbt-spark, in the same embedded Spark and Delta, and writes this page; `make test-matrix` runs our
tests on each supported version.
"""
VERSIONS = ("python", "dbt-core", "dbt-spark", "pyspark", "delta-spark")


@dataclass(frozen=True)
class Case:
    """One test of a run.

    Attributes:
        file: the test's file, without its path.
        name: its class and name.
        outcome: ``passed``, ``failed`` or ``skipped``.
        reason: why it was skipped.
    """

    file: str
    name: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True)
class Results:
    """What one pytest process has left: the versions that it ran with, and its tests."""

    versions: dict[str, str]
    cases: tuple[Case, ...]

    @classmethod
    def read(cls, file: Path) -> "Results":
        suite = ElementTree.parse(file).getroot().find("testsuite")
        if suite is None:
            raise ValueError(f"{file} has no test suite")
        properties = suite.findall("properties/property")
        return cls(
            {each.attrib["name"]: each.attrib["value"] for each in properties},
            tuple(_case(each) for each in suite.findall("testcase")),
        )

    def of(self, file: str) -> "Results":
        return Results(self.versions, tuple(each for each in self.cases if each.file == file))

    def count(self, outcome: str) -> int:
        return sum(each.outcome == outcome for each in self.cases)


def _case(element: ElementTree.Element) -> Case:
    module, _, cls = element.attrib["classname"].partition(".Test")
    file = module.rpartition(".test_")[2]
    name = f"Test{cls}.{element.attrib['name']}" if cls else element.attrib["name"]
    skipped = element.find("skipped")
    if skipped is not None:
        return Case(file, name, "skipped", skipped.attrib.get("message", ""))
    is_bad = element.find("failure") is not None or element.find("error") is not None
    return Case(file, name, "failed" if is_bad else "passed")


def page(standard: dict[str, Results], lanes: dict[str, Results]) -> str:
    """Render the page; a part whose runs are missing is left out."""
    parts = [HEAD]
    if OURS in standard and THEIRS in standard:
        parts.append("\n".join(_standard(standard[OURS], standard[THEIRS])))
    if lanes:
        parts.append("\n".join(_lanes(lanes)))
    return "\n".join(parts)


def _standard(ours: Results, theirs: Results) -> Iterator[str]:
    yield "## dbt's own test suite\n"
    yield f"{_versions(ours)}.\n"
    yield "| folder | deltawiden: passed | failed | dbt-spark: passed | failed | skipped on both |"
    yield "|---|---|---|---|---|---|"
    for file in sorted({each.file for each in ours.cases}):
        yield _row(file, ours.of(file), theirs.of(file))
    yield _row("**all**", ours, theirs)
    yield "\nSkipped, and whose limit it is:\n"
    yield from _list(f"{reason}: {n}" for reason, n in _reasons(ours).most_common())
    yield from _failed("dbt-deltawiden", ours)
    yield from _failed("dbt-spark", theirs)
    yield ""


def _row(name: str, ours: Results, theirs: Results) -> str:
    counts = (
        ours.count("passed"),
        ours.count("failed"),
        theirs.count("passed"),
        theirs.count("failed"),
        ours.count("skipped"),
    )
    return f"| {name} | {' | '.join(str(each) for each in counts)} |"


def _reasons(results: Results) -> Counter[str]:
    return Counter(each.reason for each in results.cases if each.outcome == "skipped")


def _failed(adapter: str, results: Results) -> Iterator[str]:
    names = [f"`{each.name}`" for each in results.cases if each.outcome == "failed"]
    if names:
        yield f"\nFailed on {adapter}:\n"
        yield from _list(names)


def _list(items: Iterable[str]) -> Iterator[str]:
    return (f"- {each}" for each in items)


def _versions(results: Results) -> str:
    return ", ".join(f"{name} {results.versions[name]}" for name in VERSIONS)


def _lanes(lanes: dict[str, Results]) -> Iterator[str]:
    yield "## Versions\n"
    yield f"| lane | {' | '.join(VERSIONS)} | passed | failed | skipped |"
    yield "|---" * (len(VERSIONS) + 4) + "|"
    for lane, results in sorted(lanes.items()):
        cells = [results.versions[name] for name in VERSIONS]
        cells += [str(results.count(each)) for each in ("passed", "failed", "skipped")]
        yield f"| {lane} | {' | '.join(cells)} |"
    for lane, results in sorted(lanes.items()):
        yield from _failed(f"lane {lane}", results)
    yield ""


def main(folder: Path) -> None:
    """Write the page."""
    standard = {each.stem: Results.read(each) for each in folder.glob("standard/*.xml")}
    lanes = {each.parent.name: Results.read(each) for each in folder.glob("*/results.xml")}
    PAGE.write_text(page(standard, lanes), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
