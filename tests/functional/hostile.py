"""Models and dbt runs with the names of tests/hostile.py."""

import json
from typing import Any

import pytest

from tests.functional.support import dbt
from tests.hostile import FEW, NAMES, TEXTS

EACH_NAME = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
A_FEW_NAMES = pytest.mark.parametrize("name", FEW.values(), ids=FEW)
EACH_TEXT = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


def each_name(item: str) -> str:
    """Return Jinja for a select item of each name. NAME and TEXT stand for the name."""
    item = item.replace("NAME", "{{ adapter.quote(name) }}")
    item = item.replace("TEXT", "{{ dbt.string_literal(dbt.escape_single_quotes(name)) }}")
    return "{% for name in var('names') %}, " + item + "{% endfor %}"


def in_backticks(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def as_yaml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_configured(name: str) -> str:
    """Return a name as users configure it: a name that reads as a path is in backticks."""
    return in_backticks(name) if "." in name else name


def run(*arguments: str, **variables: Any):
    keys = [as_configured(name) for name in NAMES.values()]
    return dbt(*arguments, names=[*NAMES.values()], keys=keys, **variables)
