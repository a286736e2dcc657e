"""Which commit made a recorded type change."""

import json
from datetime import datetime, timezone

import pytest

from dbt.adapters.deltawiden.delta.change_history import DatedChange, date_changes
from dbt.adapters.deltawiden.delta.history import Commit, read_history
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import parse_path
from dbt.adapters.deltawiden.sql.types import parse_type
from tests.unit.delta.answers import answering

TAG = json.dumps({"changed_by": "model.shop.orders", "invocation_id": "i", "dbt_deltawiden": "1"})


def change(path: str, old: str, new: str) -> TypeChange:
    return TypeChange(parse_path(path), parse_type(old), parse_type(new))


def commit(version: int, *columns: tuple[str, str], tag: str = TAG) -> Commit:
    listed = [{"name": name, "type": type_, "nullable": True} for name, type_ in columns]
    text = json.dumps(listed, separators=(",", ":"))
    time = f"2024-01-0{version} 10:00:00"
    return Commit(version, time, "CHANGE COLUMNS", {}, tag, text)


def instant(value: datetime | str) -> datetime:
    return datetime.fromisoformat(str(value)).replace(tzinfo=timezone.utc)


def dated(changes: list[TypeChange], *newest_first: Commit) -> list[DatedChange]:
    return list(date_changes(changes, newest_first, instant))


def test_a_change_has_the_commit_of_its_column_and_type():
    changes = [change("a", "tinyint", "smallint"), change("a", "smallint", "int")]
    first, second = dated(changes, commit(2, ("a", "integer")), commit(1, ("a", "short")))
    assert (first.version, second.version) == (1, 2)
    assert first.text == ("a: tinyint -> smallint (2024-01-01 10:00 UTC, model.shop.orders)")
    assert second.value["invocation_id"] == "i"


@pytest.mark.parametrize(
    ("path", "name"),
    [("`a.b`", "`a.b`"), ("S.x", "s.X"), ("m.key", "m.key"), ('`q"t`', '`q"t`')],
)
def test_a_path_is_found_in_any_case_and_with_any_characters(path: str, name: str):
    (found,) = dated([change(path, "int", "bigint")], commit(1, (name, "long")))
    assert found.version == 1


def test_a_change_is_found_under_the_name_that_its_column_had_then():
    def rename(version: int, old: str, new: str) -> Commit:
        return Commit(version, "2024-01-01 10:00:00", "RENAME COLUMN", {}, "", f"{old} {new}")

    changes = [change("t.c", "tinyint", "smallint"), change("t.c", "smallint", "int")]
    commits = [rename(5, "s", "t"), commit(4, ("s.c", "integer")), rename(3, "s.b", "s.c")]
    commits += [rename(2, "my col", "other"), commit(1, ("s.b", "short"))]
    assert [found.version for found in dated(changes, *commits)] == [1, 4]


def test_the_newest_of_equal_changes_is_the_recorded_one():
    (found,) = dated(
        [change("a", "int", "bigint")], commit(4, ("a", "long")), commit(1, ("a", "long"))
    )
    assert found.version == 4


def test_a_change_without_a_commit_is_first_and_of_unknown_time():
    changes = [change("a", "int", "bigint"), change("b", "int", "bigint")]
    unknown, known = dated(changes, commit(1, ("a", "long")))
    assert (unknown.change.path, unknown.time_text, unknown.maker) == (
        ("b",),
        "not known",
        "not known",
    )
    assert known.version == 1
    assert unknown.text == "b: int -> bigint (not known)"


def test_a_change_without_a_commit_follows_the_one_of_the_same_column_before_it():
    changes = [
        change("a", "tinyint", "smallint"),
        change("a", "smallint", "int"),
        change("b", "int", "bigint"),
    ]
    found = dated(changes, commit(2, ("b", "long")), commit(1, ("a", "short")))
    assert [(known.change.path[0], known.version) for known in found] == [
        ("a", 1),
        ("a", None),
        ("b", 2),
    ]


def test_another_program_has_no_name():
    (found,) = dated([change("a", "int", "bigint")], commit(1, ("a", "long"), tag="by hand"))
    assert (found.maker, found.changed_by) == ("another program", None)


@pytest.mark.parametrize(
    "parameters",
    [
        {"column": '{"name":"a","type":"long","nullable":true,"metadata":{}}'},
        # As dbt returns it from a session, and as a Thrift server shows it.
        json.dumps({"columns": '[{"name":"a","type":"long","nullable":true}]'}),
        '{"columns":"[{"name":"a","type":"long","nullable":true,"metadata":{}}]"}',
    ],
)
def test_the_parameters_are_read_on_each_connection(parameters):
    row = {
        "version": 1,
        "timestamp": "2024-01-01 10:00:00",
        "operation": "CHANGE COLUMN",
        "operationMetrics": None,
        "operationParameters": parameters,
        "userMetadata": TAG,
    }
    fetch_rows, _ = answering([row])
    commits = read_history("t", fetch_rows)
    (found,) = date_changes([change("a", "int", "bigint")], commits, instant)
    assert found.changed_by == "model.shop.orders"
