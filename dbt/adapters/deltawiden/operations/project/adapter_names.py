"""Find the Jinja that depends on the name of the adapter, which is not that of dbt-spark."""

import re
from collections.abc import Iterator
from copy import deepcopy

import jinja2
from dbt_common.clients.jinja import get_environment
from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from dbt.adapters.deltawiden.operations.project.files import ProjectFiles
from dbt.adapters.deltawiden.operations.project.finding import FileLine, Finding, Severity

_NAMES = ("target", "adapter")
_DBT_SPARK = "spark"
_CONDITIONS = (nodes.Compare, nodes.And, nodes.Or)
_MESSAGES = ("exceptions", "log", "print")
_COMMENT = re.compile(r"^[ \t]*#.*", re.MULTILINE)
# dbt finds these blocks itself: its Jinja does not know them.
_SNAPSHOT = re.compile(r"\{%[-+]?\s*(?:end)?snapshot\b.*?%\}", re.DOTALL)


def find_adapter_names(files: ProjectFiles, own: str, target_type: str) -> Iterator[Finding]:
    """Find Jinja that reads ``target.type`` or ``adapter.type()``, and not this adapter's name."""
    environment = get_environment()
    for file in files.each():
        text = file.read_text(encoding="utf-8")
        if not any(name in text for name in _NAMES):
            continue
        if file.suffix != ".sql":
            text = _COMMENT.sub("", text)
        text = _SNAPSHOT.sub(lambda block: "\n" * block[0].count("\n"), text)
        try:
            parsed = environment.parse(text)
        except jinja2.TemplateSyntaxError:
            continue  # dbt says what is wrong with it.
        _resolve_names(parsed)
        for line, name in dict.fromkeys(_reads(parsed, own)):
            if name == "target.type" and target_type != own:
                continue
            yield _finding(files.place(file, line), name, own, target_type)


def _resolve_names(parsed: nodes.Template) -> None:
    """Write ``target`` for each name that is set to it."""
    same = {
        assigned.target.name
        for assigned in parsed.find_all(nodes.Assign)
        if isinstance(assigned.target, nodes.Name)
        and isinstance(assigned.node, nodes.Name)
        and assigned.node.name == "target"
    }
    for name in parsed.find_all(nodes.Name):
        name.name = "target" if name.name in same else name.name


def _finding(place: FileLine, name: str, own: str, target_type: str) -> Finding:
    if name == "target.type":
        text = f"{name} is {target_type!r}, and was 'spark'"
        do = f"set target_type: spark in the profile, or let this line also know {own!r}"
    else:
        text = f"{name} is {own!r}, and was 'spark'"
        do = f"let this line also know {own!r}, or use adapter.dispatch, which finds spark__ macros"
    return Finding("Jinja that reads the adapter's name", Severity.CHANGES, place, text, do)


def _reads(node: nodes.Node, own: str) -> Iterator[tuple[int, str]]:
    if isinstance(node, _CONDITIONS) and (_knows(node, own) or _is_same(node, own)):
        return
    if isinstance(node, nodes.Call) and _root(node.node) in _MESSAGES:
        return
    if name := _adapter_name(node):
        yield node.lineno, name
    for child in node.iter_child_nodes():
        yield from _reads(child, own)


def _root(node: nodes.Node) -> str:
    """Return the first name of what is called: ``exceptions`` in ``exceptions.warn()``."""
    called = node.node if isinstance(node, nodes.Getattr) else node
    return called.name if isinstance(called, nodes.Name) else ""


def _knows(node: nodes.Expr, own: str) -> bool:
    """Return whether a condition names this adapter."""
    return any(const.value == own for const in node.find_all(nodes.Const))


def _is_same(node: nodes.Expr, own: str) -> bool:
    """Return whether a condition has the same value with this name and with dbt-spark's.

    It has if it compares the name only with those of other adapters.
    """
    try:
        values = {_Named(name).visit(_copied(node)).as_const() for name in (own, _DBT_SPARK)}
    except nodes.Impossible:
        return False  # It also depends on something else.
    return len(values) == 1


def _copied(node: nodes.Node) -> nodes.Node:
    return deepcopy(node, {id(node.environment): node.environment})


class _Named(NodeTransformer):
    """Replaces what reads the adapter's name by a name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def generic_visit(self, node: nodes.Node) -> nodes.Node:
        if _adapter_name(node):
            return nodes.Const(self._name, lineno=node.lineno, environment=node.environment)
        return super().generic_visit(node)


def _adapter_name(node: nodes.Node) -> str:
    if isinstance(node, nodes.Call) and _is_type_of(node.node, "adapter"):
        return "adapter.type()"
    return "target.type" if _is_type_of(node, "target") or _gets_type(node) else ""


def _gets_type(node: nodes.Node) -> bool:
    """Return whether a node is ``target.get('type')``."""
    if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Getattr):
        return False
    key = node.args[0] if node.args else None
    is_type = isinstance(key, nodes.Const) and key.value == "type"
    return is_type and node.node.attr == "get" and _root(node.node) == "target"


def _is_type_of(node: nodes.Node, name: str) -> bool:
    if isinstance(node, nodes.Getitem):
        is_type = isinstance(node.arg, nodes.Const) and node.arg.value == "type"
    else:
        is_type = isinstance(node, nodes.Getattr) and node.attr == "type"
    return is_type and isinstance(node.node, nodes.Name) and node.node.name == name  # type: ignore[attr-defined]
