"""Find and change the ``data_type`` of columns in a YAML file.

PyYAML says where a value starts and ends. Only this part of the text is replaced, so comments,
order, quotes and line ends are kept.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

_PLAIN = re.compile(r"[\w()<>]+")
_PLAIN_IN_BLOCK = re.compile(r"[\w()<>,]+")


class NotWritable(ValueError):
    """A value is not in the file as it is, or more than one column has it. The message says why."""


@dataclass(frozen=True)
class TypePlace:
    """The place of a ``data_type`` in a file. In braces, a comma ends a value."""

    start: int
    end: int
    is_in_braces: bool


class ModelFile:
    """The text of a YAML file that describes models. One that is not valid is NotWritable."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._root = _composed(text)
        except yaml.YAMLError as error:
            raise NotWritable(f"it is not valid YAML: {error}") from error
        self._uses = Counter(id(node) for node in _every_node(self._root))

    def find(self, model: str, version: Any, column: str, data_type: str) -> TypePlace:
        """Find the ``data_type`` of a column.

        Raises:
            NotWritable: the value is not in the file, is made by Jinja, or more than one column or
                version has it.
        """
        steps = [("models", "name", model)]
        steps += [("versions", "v", str(version))] if version is not None else []
        path = [self._root]
        for key, name, wanted in (*steps, ("columns", "name", column)):
            path.append(_value(path[-1], key))
            path.append(_item(path[-1], name, wanted))
        value = _value(path[-1], "data_type")
        if not isinstance(value, yaml.ScalarNode):
            raise NotWritable(
                "the file has no such line; Jinja, a version or a package may have it"
            )
        if "{{" in value.value or "{%" in value.value or value.value != data_type:
            raise NotWritable("Jinja makes this line")
        start, end = value.start_mark.index, value.end_mark.index
        if any(self._uses[id(node)] > 1 for node in (*path, value)) or self.text[start] in "&!*":
            raise NotWritable("it has an anchor or an alias, so that other lines may use it")
        if value.style in ("|", ">"):
            raise NotWritable("it is a block of text")
        return TypePlace(start, end, bool(path[-1].flow_style))

    def replaced(self, types: Mapping[TypePlace, str]) -> str:
        """Return the text with other types in some places. A quoted type stays quoted.

        Raises:
            NotWritable: dbt would read another type from the new text.
        """
        text, starts, end = "", {}, 0
        for place, data_type in sorted(types.items(), key=lambda item: item[0].start):
            text += self.text[end : place.start]
            starts[len(text)] = data_type
            text += self._scalar(place, data_type)
            end = place.end
        text += self.text[end:]
        _check(text, starts)
        return text

    def _scalar(self, place: TypePlace, data_type: str) -> str:
        quote = self.text[place.start]
        plain = _PLAIN if place.is_in_braces else _PLAIN_IN_BLOCK
        if quote not in "'\"" and plain.fullmatch(data_type):
            return data_type
        if quote == "'" and data_type.isprintable():
            return f"'{data_type.replace(quote, quote * 2)}'"
        # JSON's escapes are also those of YAML between double quotes.
        return json.dumps(data_type, ensure_ascii=False)


def _composed(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _check(text: str, starts: Mapping[int, str]) -> None:
    """Check that YAML and dbt read each type as it is. The names of fields can be anything."""
    for data_type in starts.values():
        if any(opening in data_type for opening in ("{{", "{%", "{#")):
            raise NotWritable(f"dbt would read {data_type} as Jinja")
    try:
        nodes = [node for node in _every_node(_composed(text)) if isinstance(node, yaml.ScalarNode)]
    except yaml.YAMLError as error:
        raise NotWritable(f"YAML can't have the new type: {error}") from error
    read = {node.start_mark.index: node.value for node in nodes}
    for start, data_type in starts.items():
        if read.get(start) != data_type:
            raise NotWritable(f"YAML can't have the new type: {data_type}")


def _value(node: Any, key: str) -> Any:
    pairs: Iterable[tuple[Any, Any]] = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for found, value in pairs if found.value == key), None)


def _item(node: Any, key: str, wanted: str) -> Any:
    items = node.value if isinstance(node, yaml.SequenceNode) else ()
    found = (item for item in items if getattr(_value(item, key), "value", None) == wanted)
    return next(found, None)


def _every_node(root: Any) -> Iterator[Any]:
    """Yield each node as often as the text uses it. What is inside a node is visited once."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            waiting += [item for pair in node.value for item in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
