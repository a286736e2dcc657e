"""Render `docs/compatibility.md` from the results of the test runs.

    python -m tests.compatibility FOLDER

The command reads the XML files that pytest has written below the folder: ``standard/*.xml`` (dbt's
own test suite, one file for each adapter) and ``*/results.xml`` (one file for each lane of the
matrix). It writes a summary of each file to ``docs/compatibility/``, and then the page from all
summaries. So the lanes do not need to run together.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"
SUMMARIES = PAGE.with_suffix("")
OURS, THEIRS = "standard-deltawiden", "standard-spark"
HEAD = """# Compatibility

This page shows the results of two test runs:

- `make compatibility` runs dbt's own test suite (dbt-tests-adapter) on dbt-deltawiden and on
  dbt-spark, with the same embedded Spark and Delta.
- `make test-matrix` runs our own tests on each supported version of Python, dbt, Spark and Delta.
  A *lane* is one combination of versions. It runs the tests that depend on the version in its name.

Both commands write this page from the summaries in `docs/compatibility/`.

## dbt Core 2

dbt Core 2.0 has been [out since 14 September 2026](https://endoflife.date/dbt-core). Its adapters
are [a part of dbt itself, in Rust](https://docs.getdbt.com/docs/contribute-core-adapters-v2), and
it loads no adapter that is a Python package. So dbt Core 2 can't run dbt-deltawiden. dbt Core
1.12 gets critical fixes [until 16 July 2027](https://endoflife.date/dbt-core), and 1.11 until 19
December 2026.

Beside dbt Core 2 or dbt-spark, dbt-deltawiden can be a step of its own before the run: [`plan`
with `apply: true`](maintenance.md#apply) widens the tables with dbt Core 1 and writes no row. The
other program then writes into tables that are wide enough. The tests do this with dbt-spark. What
it writes is not checked.

## New in dbt Core 1.12

Tried with dbt-core 1.12.6, in November 2026:

- `latest_version_pointer`, a view with the name of a model that has versions, works. After a
  widening of the model's table, the view has the new type and its values. In a YAML
  file, it needs a mapping with `enabled`. With `true` alone, dbt stops.
- Its installation needs access to github.com: the build of `dbt-core-experimental-parser`, which it
  requires, downloads a file from there. Where pip can only reach a mirror of PyPI, install
  `dbt-core<1.12`.
- `dbt run-operation --sql` works. The statement is your own: the values that it writes are not
  checked.
- `catalogs.yml` is not supported. Each command of dbt stops with `Catalog type is not supported`.
  Use [catalogs of Spark](catalogs.md). A model with the configuration `catalog_name` is refused,
  also without that file.
"""
VERSIONS = ("python", "dbt-core", "dbt-spark", "pyspark", "delta-spark")
OUTCOMES = ("passed", "failed", "skipped")


@dataclass(frozen=True)
class Results:
    """The results of one pytest process.

    Attributes:
        versions: the versions that it ran with, and the commit of the code.
        counts: the number of tests by file (without ``test_``) and outcome.
        failed: the tests that failed.
        skipped: the number of skipped tests by reason.
    """

    versions: dict[str, str]
    counts: dict[str, dict[str, int]]
    failed: list[str]
    skipped: dict[str, int]

    @classmethod
    def of_run(cls, file: Path) -> "Results":
        """Read a file that pytest has written with ``--junit-xml``."""
        suite = ElementTree.parse(file).getroot().find("testsuite")
        if suite is None:
            raise ValueError(f"{file} has no test suite")
        properties = {item.attrib["name"]: item.attrib["value"] for item in suite.iter("property")}
        counts: dict[str, Counter[str]] = {}
        failed, skipped = [], Counter[str]()
        for case in suite.findall("testcase"):
            module, name = _names(case)
            outcome = _outcome(case)
            counts.setdefault(module, Counter())[outcome] += 1
            if outcome == "failed":
                failed.append(name)
            if outcome == "skipped":
                skipped[_reason(case)] += 1
        # pytest plugins can write properties, too.
        versions = {key: properties[key] for key in (*VERSIONS, "commit") if key in properties}
        plain = {file_name: dict(outcomes) for file_name, outcomes in counts.items()}
        return cls(versions, plain, failed, dict(skipped))

    @classmethod
    def of_summary(cls, file: Path) -> "Results":
        """Read a summary."""
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def keep(self, file: Path) -> None:
        """Write the summary."""
        file.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n", encoding="utf-8")

    def count(self, outcome: str, file: str | None = None) -> int:
        """Count the tests with an outcome, in one file or in all files."""
        files = self.counts if file is None else (file,)
        return sum(self.counts.get(name, {}).get(outcome, 0) for name in files)


def _names(case: ElementTree.Element) -> tuple[str, str]:
    module, _, cls = case.attrib["classname"].partition(".Test")
    name = f"Test{cls}.{case.attrib['name']}" if cls else case.attrib["name"]
    return module.rpartition(".test_")[2], name


def _outcome(case: ElementTree.Element) -> str:
    if case.find("skipped") is not None:
        return "skipped"
    is_bad = case.find("failure") is not None or case.find("error") is not None
    return "failed" if is_bad else "passed"


def _reason(case: ElementTree.Element) -> str:
    skipped = case.find("skipped")
    return "" if skipped is None else skipped.attrib.get("message", "")


def page(results: dict[str, Results]) -> str:
    """Render the page. A section without results is left out."""
    parts = [HEAD]
    if OURS in results and THEIRS in results:
        parts.append("\n".join(_standard(results[OURS], results[THEIRS])))
    lanes = {name: lane for name, lane in results.items() if name not in (OURS, THEIRS)}
    if lanes:
        parts.append("\n".join(_lanes(lanes)))
    return "\n".join(parts)


def _standard(ours: Results, theirs: Results) -> Iterator[str]:
    yield "## dbt's own test suite\n"
    versions = [f"{name} {ours.versions[name]}" for name in (*VERSIONS, "commit")]
    yield f"{', '.join(versions)}.\n"
    yield "| file | deltawiden: passed | failed | dbt-spark: passed | failed | skipped on both |"
    yield "|---|---|---|---|---|---|"
    for file in sorted(ours.counts):
        yield _row(file, ours, theirs, file)
    yield _row("**all**", ours, theirs)
    yield "\nSkipped tests, by reason:\n"
    reasons = Counter(ours.skipped).most_common()
    yield from _list(f"{reason}: {count}" for reason, count in reasons)
    yield from _failed("dbt-deltawiden", ours)
    if theirs.failed:
        file = f"{SUMMARIES.name}/{THEIRS}.json"
        yield f"\n[{file}]({file}) names the tests that failed on dbt-spark, in `failed`."
    yield ""


def _row(name: str, ours: Results, theirs: Results, file: str | None = None) -> str:
    counts = (
        ours.count("passed", file),
        ours.count("failed", file),
        theirs.count("passed", file),
        theirs.count("failed", file),
        ours.count("skipped", file),
    )
    return f"| {name} | {' | '.join(str(count) for count in counts)} |"


def _failed(place: str, results: Results) -> Iterator[str]:
    if results.failed:
        yield f"\nFailed on {place}:\n"
        yield from _list(f"`{test}`" for test in results.failed)


def _list(items: Iterable[str]) -> Iterator[str]:
    return (f"- {item}" for item in items)


def _lanes(lanes: dict[str, Results]) -> Iterator[str]:
    yield "## Versions\n"
    columns = (*VERSIONS, *OUTCOMES, "commit")
    yield f"| lane | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for lane, results in sorted(lanes.items()):
        cells = [results.versions[name] for name in VERSIONS]
        cells += [str(results.count(outcome)) for outcome in OUTCOMES]
        yield f"| {lane} | {' | '.join(cells)} | {results.versions.get('commit', '')} |"
    for lane, results in sorted(lanes.items()):
        yield from _failed(f"lane {lane}", results)
    yield ""


def main(folder: Path) -> None:
    """Write a summary of each run in a folder, and the page.

    Args:
        folder: the folder with the XML files of the runs.
    """
    SUMMARIES.mkdir(exist_ok=True)
    for file in folder.glob("*/*.xml"):
        name = f"standard-{file.stem}" if file.parent.name == "standard" else file.parent.name
        Results.of_run(file).keep(SUMMARIES / f"{name}.json")
    kept = {file.stem: Results.of_summary(file) for file in SUMMARIES.glob("*.json")}
    PAGE.write_text(page(kept), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
