"""Compare the types that enforced contracts declare with the types of models' queries."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbt_common.exceptions import CompilationError
from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.config.declared_columns import is_contract_enforced
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.sql.identifiers import path_text, quote
from dbt.adapters.deltawiden.sql.types import type_text


@dataclass(frozen=True)
class ContractDifference:
    """A column whose type in a contract is not that in the model's query.

    Attributes:
        data_type: the text of ``declared`` in the contract. Empty if it has no such column.
        declared, output: the two types. None where there is no such column.
    """

    column: str
    data_type: str
    declared: DataType | None
    output: DataType | None

    @property
    def text(self) -> str:
        name, declared = path_text((self.column,)), self.data_type or _shown(None)
        return f"{name}: {declared} in the contract, {_shown(self.output)} in the query"


def _shown(data_type: DataType | None) -> str:
    return "no such column" if data_type is None else type_text(data_type)


def has_contract(node: Node) -> bool:
    """Return whether a node's contract is enforced."""
    return is_contract_enforced(node.get("config") or {})


def broken_contract(
    node: Node, differences: Sequence[ContractDifference], because: tuple[str, ...] = ()
) -> Effect:
    """Return the effect on a contract that no longer matches: the node's run stops at it."""
    name, texts = full_name(node), tuple(difference.text for difference in differences)
    do = f"dbt run-operation sync_contracts --args '{{models: [{name}]}}'"
    return Effect(Kind.CONTRACT, name, Outcome.BREAKS, because, texts, (do,))


def require_contract(backend: SqlBackend, node: Node, output: StructType) -> None:
    """Refuse a node whose enforced contract no longer matches, as its run does."""
    if differences := contract_differences(backend, node, output):
        raise CompilationError(broken_contract(node, differences).error)


def contract_differences(
    backend: SqlBackend, node: Node, output: StructType
) -> list[ContractDifference]:
    """Find the columns whose types in an enforced contract and in the model's query differ.

    dbt compares the names with their case. Empty if Spark does not know one of the declared types:
    dbt's own check says so.

    Source:
        https://docs.getdbt.com/reference/resource-configs/contract
    """
    if not has_contract(node):
        return []
    declared = {
        str(column["name"]): str(column["data_type"])
        for column in (node.get("columns") or {}).values()
        if column.get("data_type")
    }
    columns = ", ".join(
        f"cast(null as {data_type}) as {quote(name)}" for name, data_type in declared.items()
    )
    contract = backend.schema_if_valid(f"select {columns}") if declared else StructType()
    if contract is None:
        return []
    wanted, found = (
        {field.name: field.dataType for field in schema.fields} for schema in (contract, output)
    )
    return [
        ContractDifference(name, declared.get(name, ""), wanted.get(name), found.get(name))
        for name in dict.fromkeys((*wanted, *found))
        if _shown(wanted.get(name)) != _shown(found.get(name))
    ]
