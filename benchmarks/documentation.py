"""Measure `dbt docs generate` of a schema with many tables."""

import json
from functools import partial
from typing import Any

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.many_tables import MODEL, make_tables
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.workspace import OURS, SCHEMA, THEIRS, Program, Workspace, with_the_same_spark

TABLES, TABLES_QUICK = 1_000, 20
TYPES = {"id": "bigint", "amount": "decimal(12,2)"}
# dbt-spark has the names that Spark shows in a tree of columns.
_ALIASES = {"long": "bigint"}
METHOD = f"""\
One `dbt docs generate` of a project with one model and a source of {TABLES:,} Delta tables, those
of `many_tables`. The Spark settings are those of `merges`. The seconds are from the start of the
process to the end of the dbt command. The benchmark stops with an error if `catalog.json` does not
have each table with the types of its columns."""


def source(tables: int) -> dict[str, Any]:
    """Return the properties of a source with the tables of ``make_tables``."""
    names = [{"name": f"t{number:04}"} for number in range(tables)]
    return {"version": 2, "sources": [{"name": SCHEMA, "tables": names}]}


def types_by_table(catalog: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the types of the columns of each source in a `catalog.json`."""
    return {
        found["metadata"]["name"]: {
            name: _ALIASES.get(column["type"], column["type"])
            for name, column in found["columns"].items()
        }
        for found in catalog["sources"].values()
    }


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The whole command.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a catalog does not have all tables and types.
    """
    tables = TABLES_QUICK if quick else TABLES
    properties = source(tables)
    (listed,) = properties["sources"]
    wanted = {table["name"]: TYPES for table in listed["tables"]}
    with work_folder() as folder:
        # Each JSON document is a YAML document, too.
        files = {"models/properties.yml": json.dumps(properties)}
        workspace = Workspace(folder / "documentation", {"first": MODEL}, files)
        workspace.build(make_tables, tables)

        def run_once(program: Program) -> Measures:
            run = workspace.run(program, "docs", "generate")
            found = types_by_table(workspace.artifact(program, "catalog"))
            check(f"the catalog of {program.name}", found, wanted)
            return {"whole": run.whole}

        programs = {program.name: partial(run_once, program) for program in with_the_same_spark()}
        taken = in_turns(programs, Rounds.of(quick))
    ours, theirs = (Sample(name, taken[name]["whole"]) for name in (OURS, THEIRS))
    return [Comparison(f"`dbt docs generate` of {tables:,} tables", ours, theirs, aim=0.5)]


BENCHMARK = Benchmark("documentation", METHOD, measure)
