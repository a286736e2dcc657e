"""``sync_contracts``: show, and write, the types in contracts that a widening has made stale."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.operations.contracts.yaml_file import ModelFile, NotWritable, TypePlace
from dbt.adapters.deltawiden.operations.forecast.contracts import ContractDifference, has_contract
from dbt.adapters.deltawiden.operations.forecast.downstream import Forecast
from dbt.adapters.deltawiden.operations.result import OperationResult, OperationResults
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.spark.atomic_file import write_atomically
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.schema_diff import compare


@dataclass(frozen=True)
class SyncResults(OperationResults):
    """The results of ``sync_contracts``, with the lines to change as a unified diff."""

    COUNTED = "contracts"

    diff: str = ""

    @property
    def document(self) -> dict[str, Any]:
        return {**super().document, "diff": self.diff}

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, [super().text, self.diff]))


def sync_contracts(
    operation: str, forecast: Forecast, nodes: Sequence[Node], project_root: Path, write: bool
) -> SyncResults:
    """Show the lines of contracts whose type is narrower than that of the model's query.

    Args:
        forecast: the forecast, after ``visit_nodes``. It did not stop at contracts.

    Returns:
        A result for each model with an enforced contract. A difference that is not a widening, and
        a line that can't be changed, are failures. Nothing is written for such a model.
    """
    files = _Files(project_root)
    results = [
        _sync(files, node, forecast.contracts[str(node["unique_id"])], write)
        if node["unique_id"] in forecast.contracts
        else OperationResult(full_name(node), error=_NOT_ANALYSED)
        for node in nodes
        if has_contract(node)
    ]
    diff = "".join(files.diffs())
    if write:
        files.write()
    return SyncResults(operation, results, {"written": write and bool(diff)}, diff.rstrip("\n"))


_NOT_ANALYSED = (
    "Its query was not analysed: it is in Python, dbt can't compile it, its text does what its run "
    "alone may do, it is not valid, or it reads a model whose run would stop. For one that runs a "
    "statement, run dbt compile first, and give compiled: true."
)


class _Files:
    """The files with contracts, and the types to write into them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[Path, ModelFile] = {}
        self._types: dict[Path, dict[TypePlace, str]] = {}

    def open(self, path: Path) -> ModelFile:
        if path not in self._files:
            with open(self._root / path, encoding="utf-8", newline="") as opened:
                self._files[path] = ModelFile(opened.read())
        return self._files[path]

    def change(self, path: Path, types: dict[TypePlace, str]) -> None:
        self._types.setdefault(path, {}).update(types)

    def diffs(self) -> Iterator[str]:
        for path in sorted(self._types):
            file = self._files[path]
            before, after = (
                text.splitlines(keepends=True)
                for text in (file.text, file.replaced(self._types[path]))
            )
            name = path.as_posix()
            lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
            # The last line of a file may have no end.
            yield from (line if line.endswith("\n") else f"{line}\n" for line in lines)

    def write(self) -> None:
        for path, types in self._types.items():
            write_atomically(self._root / path, self._files[path].replaced(types))


def _sync(
    files: _Files, node: Node, differences: Sequence[ContractDifference], write: bool
) -> OperationResult:
    name = full_name(node)
    problems = [
        f"{difference.text}. This is no widening: change the model or the contract by hand."
        for difference in differences
        if not _is_widening(difference)
    ]
    path = Path(str(node.get("patch_path") or "").partition("://")[2])
    types: dict[TypePlace, str] = {}
    for difference in differences if not problems else ():
        assert difference.output is not None
        column, data_type = difference.column, difference.data_type
        try:
            place = files.open(path).find(str(node["name"]), node.get("version"), column, data_type)
            types[place] = type_text(difference.output)
            files.open(path).replaced({place: types[place]})
        except (NotWritable, OSError) as error:
            problems.append(f"{difference.text}. {path}: {error}. Change it by hand.")
    if problems:
        return OperationResult(name, error="\n".join([*problems, "Nothing is written for it."]))
    if types:
        files.change(path, types)
    stale = [
        {"column": d.column, "from": d.data_type, "to": type_text(d.output)}
        for d in differences
        if d.output is not None
    ]
    state = "written" if write else "stale: write: true writes it"
    shown = {
        "contract": state if stale else "matches",
        "columns": "; ".join(f"{d['column']}: {d['from']} -> {d['to']}" for d in stale),
    }
    return OperationResult(name, shown, {"file": path.as_posix(), "stale": stale})


def _is_widening(difference: ContractDifference) -> bool:
    """Return whether the query's type holds every value of the declared type."""
    if difference.output is None or difference.declared is None:
        return False
    declared, output = (
        StructType([StructField("c", data_type)])
        for data_type in (difference.declared, difference.output)
    )
    return not compare(declared, output)


def own_package(nodes: Sequence[Node], package: str) -> list[Node]:
    """Return the nodes of the project itself. One of a package, whose files stay, is an error."""
    foreign = [full_name(node) for node in nodes if node.get("package_name") != package]
    if foreign:
        raise DbtRuntimeError(f"sync_contracts: {', '.join(foreign)}: not a model of this project")
    return list(nodes)
