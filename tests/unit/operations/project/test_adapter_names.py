"""Which Jinja of a project depends on the name of the adapter."""

from pathlib import Path

import pytest

from dbt.adapters.deltawiden.operations.project.adapter_names import find_adapter_names
from dbt.adapters.deltawiden.operations.project.finding import FileLine


class _Files:
    """The files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def each(self) -> list[Path]:
        return sorted(self._folder.iterdir())

    def place(self, file: Path, line: int) -> FileLine:
        return FileLine(file.name, line)


def found(folder: Path, name: str, text: str, target_type: str = "deltawiden") -> list[int]:
    """Return the lines that are found in a file with a text."""
    (folder / name).write_text(text)
    findings = find_adapter_names(_Files(folder), "deltawiden", target_type)
    return [finding.place.line for finding in findings]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("\n{% if target.type == 'spark' %} x {% endif %}", [2]),
        ("{% if target['type'] in ['spark'] %} x {% endif %}", [1]),
        ("{% set own = adapter.type() %}", [1]),
        ("{% macro a() %}\n{% if adapter.type() == 'spark' %} x {% endif %}{% endmacro %}", [2]),
        ("{% if target.get('type', '') == 'spark' %} x {% endif %}", [1]),
        ("{% if target.get('name') == 'spark' %} x {% endif %}", []),
        ("{% set t = target %}\n{% if t.type == 'spark' %} x {% endif %}", [2]),
        ("{% if target.type == 'hive' %}\n{% elif target.type == 'spark' %} x {% endif %}", [2]),
        (
            "{% if target.type not in ('hive', 'presto') and target.type != 'trino' %}{% endif %}",
            [],
        ),
        ("{% if target.type == var('other') %}{% endif %}", [1]),
        ("{% if target.type == 'hive' or var('spark') %}{% endif %}", []),
        ("{{ exceptions.warn('not on ' ~ target.type) }}{{ log(target.type) }}", []),
        ("{{ exceptions.warn('no') if target.type == 'spark' }}", [1]),
        ("{% materialization a, default %}\n{{ target.type }}{% endmaterialization %}", [2]),
        ("{% if target.type in ['spark', 'deltawiden'] %} x {% endif %}", []),
        ("{% if target.type == 'spark' or target.type == 'deltawiden' %} x {% endif %}", []),
        ("{# target.type #} select target.type from a as target -- adapter.type()", []),
        ("{{ target.name }} {{ other.target.type }} {{ adapter.types() }}", []),
        ("{% if target.type == 'spark' %} not closed", []),
        ("{% snapshot a %}\n{{ target.type }}\n{%- endsnapshot -%}\n{{ adapter.type() }}", [2, 4]),
    ],
)
def test_the_lines_that_read_the_name_are_found(tmp_path: Path, text: str, lines: list[int]):
    assert found(tmp_path, "a.sql", text) == lines


def test_a_comment_in_yaml_is_not_read(tmp_path: Path):
    text = "\n\n# {{ target.type }}\n+enabled: \"{{ target.type in ['spark'] }}\""
    assert found(tmp_path, "dbt_project.yml", text) == [4]


def test_a_target_type_in_the_profile_answers_for_target_alone(tmp_path: Path):
    text = "{{ target.type }}\n{{ adapter.type() }}"
    assert found(tmp_path, "a.sql", text, target_type="spark") == [2]
