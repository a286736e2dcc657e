"""``backfill_columns``: give columns of existing rows the values of the model's full query."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.operations.audit.model_rows import ModelRows
from dbt.adapters.deltawiden.operations.audit.query import Repair
from dbt.adapters.deltawiden.operations.audit.repair import Choice, Repairer
from dbt.adapters.deltawiden.sql.identifiers import path_text, read_name
from dbt.adapters.deltawiden.sql.types import limited
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_write_alone
from dbt.adapters.deltawiden.widening.schema_diff import compare
from dbt.adapters.deltawiden.writes.refused import require_not_refused


def choose_backfill(names: Sequence[str], where: str, rows: ModelRows, by: Repairer) -> Choice:
    """Choose the rows that differ in some columns: ``Choose``."""
    require_columns(rows, names)
    wanted = rows.only
    source = limited(rows.produced, wanted)

    def plan(schema: StructType, columns: Sequence[str] = wanted) -> Plan:
        given, stored = limited(source, columns), limited(schema, columns)
        found = plan_write_alone(
            compare(given, stored), given, stored, rows.name, check=by.check(rows, schema)
        )
        return replace(require_not_refused(found, "store the model's values"), lossy=())

    plan(rows.schema)
    repair = Repair(where=where)
    document = rows.compare(repair)
    differing = rows.differing_names(document)
    folded = [name.lower() for name in differing]
    return Choice(rows, repair, document, differing, lambda schema: plan(schema, folded))


def require_columns(rows: ModelRows, names: Sequence[str]) -> None:
    """Refuse columns that can't be given the model's values, all of them in one message."""
    problems = [f"{name}: {problem}" for name in names for problem in _problems(rows, name)]
    if problems:
        lines = [f"columns: {rows.name} can't be changed; nothing was changed.", *problems]
        raise DbtRuntimeError("\n".join(lines))
    if names and rows.compared.not_comparable:
        raise DbtRuntimeError(
            f"Nothing was changed: {', '.join(rows.compared.not_comparable)} can't be compared."
        )


def _problems(rows: ModelRows, name: str) -> Iterator[str]:
    path = read_name(name)
    if len(path) > 1:
        yield f"it names what is inside a column; name the column {path_text(path[:1])}"
        return
    for schema, owner in ((rows.produced, "the model's query"), (rows.schema, "the table")):
        if path[0].lower() not in map(str.lower, schema.names):
            yield f"{owner} has no such column; it has {', '.join(schema.names)}"
    if path[0].lower() in folded_columns(rows.key):
        yield "it is in unique_key, by which the rows are found"
    if path[0].lower() in rows.computed:
        yield "Delta computes it: it is a generated or an identity column"


def folded_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that names have, in lower case."""
    return [read_name(name)[0].lower() for name in names]
