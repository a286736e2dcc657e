"""Read the generated columns and default values that a contract declares as custom constraints.

dbt has no key for them. A custom constraint of a column is the place where it keeps the text that
follows a column in CREATE TABLE.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.deltawiden.config.model import DELTA
from dbt.adapters.deltawiden.delta.column_metadata import CURRENT_DEFAULT, GENERATION_EXPRESSION
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.references import referenced_paths

DEFAULTS_PROPERTY = "delta.feature.allowColumnDefaults"
"""The table property without which Delta refuses default values."""

_IDENTITY = re.compile(r"generated\s+(always|by\s+default)\s+as\s+identity\b.*", re.I | re.S)
_GENERATED = re.compile(r"generated\s+always\s+as\s*\((?P<expression>.+)\)", re.I | re.S)
_DEFAULT = re.compile(r"default\s+(?P<expression>.+)", re.I | re.S)
_FIRST_WORD = re.compile(r"(generated|default)\b", re.I)
_KEYS = ((_GENERATED, GENERATION_EXPRESSION), (_DEFAULT, CURRENT_DEFAULT))

Columns = Mapping[str, Mapping[str, Any]]
"""The columns of a node, as dbt's ``model.columns`` has them."""


@dataclass(frozen=True)
class Declaration:
    """What a contract declares about the values of a column.

    Attributes:
        key: the key of the column's metadata in a Delta table: that of a generation expression or
            that of a default value. None if a new table can't have it.
        expression: the expression; the whole text if the key is None.
    """

    column: str
    key: str | None
    expression: str


def read_declarations(columns: Columns) -> list[Declaration]:
    """Read the declarations among the constraints of a model's columns.

    Returns:
        The declarations. Constraints of another type, and custom ones with another text, are left
        out.

    Source:
        https://docs.getdbt.com/reference/resource-properties/constraints (custom);
        https://docs.delta.io/latest/delta-batch.html#use-generated-columns;
        https://docs.delta.io/latest/delta-default-columns.html
    """
    return [
        declaration
        for column in columns.values()
        for constraint in column.get("constraints") or ()
        if str(constraint.get("type")) == "custom"
        for declaration in _read(str(column["name"]), str(constraint.get("expression") or ""))
    ]


def is_declaration(constraint: Mapping[str, Any]) -> bool:
    """Return whether a constraint is a declaration: a new table has it, or is not created."""
    text = str(constraint.get("expression") or "").strip()
    return str(constraint.get("type")) == "custom" and bool(_FIRST_WORD.match(text))


def is_contract_enforced(config: Mapping[str, Any]) -> bool:
    """Return whether a contract is enforced."""
    contract = config.get("contract")
    # In a run it is an object of dbt's, and in the manifest a mapping.
    if isinstance(contract, Mapping):
        return bool(contract.get("enforced"))
    return bool(getattr(contract, "enforced", False))


def declared_defaults(config: Mapping[str, Any], columns: Columns) -> dict[str, str]:
    """Return the default values that an enforced contract declares, by column in lower case.

    A value fails if it breaks a condition that the contract has for its column alone.
    """
    if not is_contract_enforced(config):
        return {}
    return {
        found.column.lower(): _checked_sql(found.expression, column)
        for column in columns.values()
        for found in read_declarations({"": column})
        if found.key == CURRENT_DEFAULT
    }


def _checked_sql(default: str, column: Mapping[str, Any]) -> str:
    name = str(column["name"]).replace("`", "")
    failing = [
        f"when ({check}\n) is not true "
        f"then raise_error({literal(f'the default of {name} breaks its contract: {check}')})"
        for each in column["constraints"]
        if str(each.get("type")) == "check"
        for check in [str(each.get("expression") or "").strip()]
        if check and {path[0] for path in referenced_paths(check)} <= {name.lower()}
    ]
    if not failing:
        return default
    cases = f"case {' '.join(failing)} else {quote(name)} end"
    return f"transform(array({default}\n), {quote(name)} -> {cases})[0]"


def _read(column: str, text: str) -> Iterator[Declaration]:
    text = text.strip()
    if _IDENTITY.fullmatch(text):
        yield Declaration(column, None, text)
        return
    for pattern, key in _KEYS:
        if found := pattern.fullmatch(text):
            yield Declaration(column, key, found["expression"].strip())
            return
    if _FIRST_WORD.match(text):
        yield Declaration(column, None, text)


def declaration_problems(
    declarations: list[Declaration], file_format: str, has_session: bool
) -> list[str]:
    """Find the declarations that a new table can't have: one line for each problem."""
    return [
        f"columns: {declaration.column}: {declaration.expression!r} {problem}"
        for declaration in declarations
        for problem in _problems(declaration, file_format, has_session)
    ]


def _problems(declaration: Declaration, file_format: str, has_session: bool) -> Iterator[str]:
    if declaration.key is None and not _IDENTITY.fullmatch(declaration.expression):
        yield "is not valid. Accepted: generated always as (expression); default expression."
    elif declaration.key is None:
        yield (
            "is an identity column, and the CREATE TABLE AS SELECT of a model can't number rows. "
            "Create the table yourself before the first run, with the identity column. An "
            "incremental model then leaves the column to Delta if it does not select it."
        )
    elif file_format != DELTA:
        yield f"needs file_format: delta; got {file_format!r}."
    elif not has_session:
        yield (
            "can't be declared on this connection, because SQL has no CREATE TABLE AS SELECT with "
            "declared columns. Use method: session or connect for the run that creates the table."
        )


def metadata(declarations: list[Declaration]) -> dict[str, dict[str, str]]:
    """Return the metadata that Delta keeps for declared columns, by their names in lower case.

    Source:
        Delta's protocol, "Generated Columns" and "Default Columns"
    """
    found: dict[str, dict[str, str]] = {}
    for declaration in declarations:
        assert declaration.key is not None
        found.setdefault(declaration.column.lower(), {})[declaration.key] = declaration.expression
    return found
