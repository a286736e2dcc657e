"""The types in a contract are changed in the file as it is: nothing else in it changes."""

import os
import stat
from pathlib import Path

import pytest
import yaml

from dbt.adapters.deltawiden.operations.contracts.yaml_file import ModelFile, NotWritable
from dbt.adapters.deltawiden.spark.atomic_file import write_atomically

TEXT = """\
# The models.\r
models:
  - name: orders   # ours
    columns:
      - name: amount
        data_type:   int  # in cents
      - {name: fee, data_type: 'decimal(8,2)', description: "a: b"}
      - {data_type: tinyint, name: tip}
  - name: parts
    versions:
      - v: 1
        columns: [{name: n, data_type: smallint}]
      - v: 2
        columns: &two
          - {name: n, data_type: "int"}
          - {name: j, data_type: "{{ var('j', 'int') }}"}
      - v: 3
        columns: *two
      - v: 4
        columns: [{name: n, data_type: &n int}, {name: m, data_type: *n}]
"""


def changed(model: str, version: object, column: str, before: str, after: str) -> str:
    file = ModelFile(TEXT)
    return file.replaced({file.find(model, version, column, before): after})


@pytest.mark.parametrize(
    ("place", "after", "old", "new"),
    [
        (("orders", None, "amount", "int"), "bigint", "  int  #", "  bigint  #"),
        (("orders", None, "amount", "int"), "decimal(9,2)", "  int  #", "  decimal(9,2)  #"),
        (("orders", None, "amount", "int"), "struct<a: int>", "  int  #", '  "struct<a: int>"  #'),
        (("orders", None, "fee", "decimal(8,2)"), "decimal(9,3)", "8,2", "9,3"),
        (("orders", None, "tip", "tinyint"), "decimal(9,3)", "tinyint", '"decimal(9,3)"'),
        (("parts", 1, "n", "smallint"), "bigint", "smallint", "bigint"),
    ],
)
def test_only_the_type_is_replaced(place, after, old, new):
    assert TEXT.count(old) == 1
    assert changed(*place, after) == TEXT.replace(old, new)


HOSTILE = [
    'a"b',
    "it's",
    "back\\slash",
    "line\nend",
    "tab\t",
    "# no comment",
    "a: b",
    "ü",
    "'",
    '"',
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("column", ["amount", "fee", "tip"])
def test_a_type_with_any_name_in_it_is_read_as_it_was_written(name, column):
    before = {"amount": "int", "fee": "decimal(8,2)", "tip": "tinyint"}[column]
    data_type = f"struct<`{name}`: bigint>"
    read = yaml.safe_load(changed("orders", None, column, before, data_type))
    found = {item["name"]: item["data_type"] for item in read["models"][0]["columns"]}
    assert found[column] == data_type
    assert [item["name"] for item in read["models"]] == ["orders", "parts"]


@pytest.mark.parametrize(
    ("data_type", "why"),
    [
        ("struct<`a\x07\x7f`: int>", "YAML can't have"),
        ("struct<`{{ b }}`: int>", "Jinja"),
        ("struct<`{% b %}`: int>", "Jinja"),
    ],
)
def test_a_type_that_would_be_read_as_another_one_is_not_written(data_type, why):
    with pytest.raises(NotWritable, match=why):
        changed("orders", None, "fee", "decimal(8,2)", data_type)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (("orders", None, "other", "int"), "no such line"),
        (("others", None, "n", "int"), "no such line"),
        (("orders", None, "amount", "bigint"), "Jinja makes this line"),
        (("parts", 2, "j", "int"), "Jinja makes this line"),
        (("parts", 2, "n", "int"), "anchor"),
        (("parts", 3, "n", "int"), "anchor"),
        (("parts", 4, "n", "int"), "anchor"),
        (("parts", 4, "m", "int"), "anchor"),
    ],
)
def test_a_line_that_is_not_one_columns_own_is_not_changed(place, why):
    with pytest.raises(NotWritable, match=why):
        ModelFile(TEXT).find(*place)


def test_a_file_is_replaced_as_a_whole_and_keeps_its_mode(tmp_path: Path, monkeypatch):
    file = tmp_path / "models.yml"
    file.write_bytes(b"a\r\n")
    file.chmod(0o640)
    write_atomically(file, "b\r\n")
    assert file.read_bytes() == b"b\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640

    def fails(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no space"):
        write_atomically(file, "c")
    assert file.read_bytes() == b"b\r\n"
    assert list(tmp_path.iterdir()) == [file]
