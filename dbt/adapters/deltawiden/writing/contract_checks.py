"""Check the constraints of a contract in the query whose rows are written, on every run.

If a row breaks one, the statement fails before any row is stored, and an existing table is not
replaced. Delta can't set a column of an existing table to NOT NULL, and a CHECK constraint on the
table can prevent a widening.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dbt_common.exceptions import CompilationError
from dbt_common.utils import md5

from dbt.adapters.deltawiden.config.declared_columns import is_contract_enforced, is_declaration
from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.project_macros import is_replaced
from dbt.adapters.deltawiden.sql.identifiers import (
    as_list,
    columns_named,
    quote,
    quote_once,
    unquoted,
)
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.warnings import warn_as_macro

_MACROS = (
    "persist_constraints",
    "alter_table_add_constraints",
    "alter_column_set_constraints",
)
"""The macros that add constraints to a new table. One of a project may know other constraints."""

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


def check_constraints(context: Mapping[str, Any]) -> None:
    """Check what a contract asks of a new table, before the table is created.

    Raises:
        CompilationError: two checks have one name.
        EventCompilationError: ``--warn-error`` makes an error of the warning of a constraint that
            Delta does not have.
    """
    config, model = context["config"], context["model"]
    if not is_contract_enforced(config) or file_format_of(config) != DELTA:
        return
    if any(is_replaced(context, name) for name in _MACROS):
        return
    added_checks(model.get("constraints") or ())
    for of, constraint in _constraints(model):
        kind = constraint["type"]
        is_known = kind in ("check", "not_null") or is_declaration(constraint)
        if not is_known and constraint.get("warn_unsupported", True):
            warn_as_macro(
                f"{model['unique_id']}: Delta has no {kind} constraint: the one of {of} is not "
                "enforced. Test it with a data test; `warn_unsupported: false` in the constraint "
                "ends this warning."
            )


def added_checks(constraints: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the checks of a model that a new table gets: the conditions, by their names.

    Delta ignores the case of these names. A check that is there twice is one.

    Raises:
        CompilationError: two checks have one name.
    """
    checks: dict[str, tuple[str, str]] = {}
    for constraint in constraints:
        if constraint["type"] != "check":
            continue
        condition = str(constraint.get("expression") or "")
        name = str(constraint.get("name") or f"dbt_{md5(condition)}")
        _, first = checks.setdefault(name.lower(), (name, condition))
        if first != condition:
            raise CompilationError(
                f"The contract has two checks with the name {name}: {first}, and {condition}. Give "
                "one of them another name."
            )
    return dict(checks.values())


def _constraints(model: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from (("the model", constraint) for constraint in model.get("constraints") or ())
    for column in model["columns"].values():
        name = f"column {column['name']}"
        yield from ((name, constraint) for constraint in column.get("constraints") or ())


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
