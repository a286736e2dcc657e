"""Check the constraints of a contract in the query whose rows are written, on every run.

If a row breaks one, the statement fails before any row is stored, and an existing table is not
replaced. Delta can't set a column of an existing table to NOT NULL, and a CHECK constraint on the
table can prevent a widening.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.sql.identifiers import (
    as_list,
    columns_named,
    quote,
    quote_once,
    unquoted,
)
from dbt.adapters.deltawiden.sql.literals import literal

_Condition = tuple[str, str]
"""What must be true of a row, and the error of a row of which it is not."""


def contract_columns(model: Mapping[str, Any], unique_key: str | Sequence[str] | None) -> str:
    """Render the columns of a contract for the SELECT around the model's query.

    The conditions of the model are in a column of the unique key, if there is one: a MERGE reads
    other columns only if it writes them.

    Raises:
        CompilationError: a constraint does not say what it checks.
    """
    columns = [*model["columns"].values()]
    keys = columns_named(as_list(unique_key))
    names = [unquoted(column["name"]) for column in columns]
    checking = next((name for name in names if name in keys), names[0] if names else "")
    rendered = []
    for column, folded in zip(columns, names, strict=True):
        name = (quote if column.get("quote") else quote_once)(column["name"])
        conditions = [*_conditions(column, {column["name"]: name})]
        if folded == checking:
            conditions += _conditions(model, {})
        rendered.append(_checked(name, conditions))
    return ", ".join(rendered)


def _conditions(node: Mapping[str, Any], quoted: Mapping[str, str]) -> Iterator[_Condition]:
    """Yield the conditions of a model, or of its only ``quoted`` column."""
    of = f"column {node['name']}" if quoted else "the model"
    for constraint in node.get("constraints") or ():
        if constraint["type"] == "check":
            named = f" {constraint['name']}" if constraint.get("name") else ""
            condition = constraint.get("expression") or ""
            if not condition.strip():
                raise _incomplete("check", of, "expression", 'a condition, such as "n > 0"')
            yield condition, f"a row that breaks the check{named} of its contract: {condition}"
        elif constraint["type"] == "not_null":
            names = quoted or constraint.get("columns")
            if not names:
                raise _incomplete("not_null", of, "columns", "the names of columns")
            for name in names:
                condition = f"{quoted.get(name) or quote_once(name)} is not null"
                yield condition, f"a null in {name}, which is not_null in its contract"


def _incomplete(kind: str, of: str, key: str, what: str) -> CompilationError:
    return CompilationError(
        f"The contract has a constraint for {of} that checks nothing: type: {kind} without {key}. "
        f"Set {key} to {what}, or remove the constraint."
    )


def _checked(name: str, conditions: Sequence[_Condition]) -> str:
    if not conditions:
        return name
    cases = [
        f"when ({condition}) is not true then raise_error({literal(f'the model has {broken}')})"
        for condition, broken in conditions
    ]
    return "\n".join(["", "case", *cases, f"else {name} end as {name}"])
