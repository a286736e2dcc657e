"""The columns and files in which filters of Spark can miss rows."""

import json
from collections.abc import Iterable, Iterator, Sequence

import pytest
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.data_files import DataFile, FilesBySql
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.delta.widened_files import has_misread_files, misread_columns
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.types import parse_type


def schema(**types: str) -> StructType:
    fields = [
        {"name": name, "type": text, "nullable": True, "metadata": {}}
        for name, text in types.items()
    ]
    return StructType.fromJson(json.loads(json.dumps({"fields": fields})))


def change(path: Path, before: str, after: str) -> TypeChange:
    return TypeChange(path, parse_type(before), parse_type(after))


def test_each_type_that_a_column_had_is_compared_with_its_type_now():
    changes = [
        change(("a",), "decimal(8,2)", "decimal(9,2)"),
        change(("a",), "decimal(9,2)", "decimal(12,2)"),
        change(("b",), "decimal(8,2)", "decimal(12,2)"),
        change(("b",), "decimal(12,2)", "decimal(14,4)"),
        change(("gone",), "int", "bigint"),
        change(("P",), "int", "bigint"),
    ]
    now = schema(a="decimal(12,2)", b="decimal(14,4)", P="long")
    assert misread_columns(changes, now, ["p"]) == (("a",),)


class Files(FilesBySql):
    """Files with a type for each column, the oldest first, which count how many were read."""

    def __init__(self, stored: Iterable[StructType]) -> None:
        super().__init__("t", "/t", lambda _: [])
        self._stored = {f"f{number}": each for number, each in enumerate(stored)}
        self.read = 0

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def list(self) -> Sequence[DataFile]:
        written = [DataFile(name, 1, modified=int(name[1:])) for name in self._stored]
        return written[::-1]

    def schemas(self, files: Sequence[DataFile]) -> Iterator[tuple[DataFile, StructType]]:
        for file in files:
            self.read += 1
            yield file, self._stored[file.path]


OLD, NEW, WITHOUT = schema(a="integer"), schema(a="long"), schema(b="long")


@pytest.mark.parametrize(
    ("stored", "is_misread", "read"),
    [
        ([OLD] * 5 + [NEW] * 100, True, 1),
        ([NEW] * 100, False, 32),
        # A file from before a column was added does not say when the column was widened.
        ([WITHOUT] * 40 + [OLD] + [NEW] * 100, True, 41),
        ([WITHOUT] * 40 + [NEW] * 100, False, 64),
        # Clocks differ: a file can seem to be somewhat newer than it is.
        ([NEW] * 3 + [OLD] + [NEW] * 100, True, 4),
        ([], False, 0),
    ],
)
def test_files_are_read_from_the_oldest_on(stored: list[StructType], is_misread: bool, read: int):
    files = Files(stored)
    assert has_misread_files(files, schema(a="long", b="long"), [("a",)]) is is_misread
    assert files.read == read


def test_an_older_type_that_no_filter_misreads_does_not_end_the_search():
    files = Files([schema(a="decimal(8,2)")] * 40 + [schema(a="decimal(10,4)")] * 40)
    assert has_misread_files(files, schema(a="decimal(20,4)"), [("a",)])
    assert files.read == 41
