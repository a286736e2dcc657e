"""When a write is begun again, and when not."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import tenacity.nap
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from pyspark.sql.types import LongType, ShortType

from dbt.adapters.deltawiden.conflicts import (
    CONFLICTS,
    MAX_ATTEMPTS,
    Attempts,
    SchemaChangeFailed,
    until_no_conflict,
)
from dbt.adapters.deltawiden.widening.change import TypeChange
from dbt.adapters.deltawiden.widening.plan import Plan

WIDENS = Plan("`s`.`t`", changes=(TypeChange(("n",), ShortType(), LongType()),))
UNCHANGED = Plan("`s`.`t`")
METADATA = DbtDatabaseError("[DELTA_METADATA_CHANGED] MetadataChangedException: The metadata of")
ARITY = DbtDatabaseError("[DELTA_INSERT_COLUMN_ARITY_MISMATCH] Cannot write to 't'")
OVERFLOW = DbtDatabaseError("[CAST_OVERFLOW] The value 300 of the type INT cannot be cast")


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr(tenacity.nap.time, "sleep", waits.append)
    return waits


class Writer:
    """A write with a plan and an end for each attempt; the last is repeated."""

    def __init__(self, *attempts: tuple[Plan, BaseException | None]) -> None:
        self._attempts = list(attempts)
        self.plans: list[Plan] = []

    def __call__(self, attempts: Attempts) -> None:
        plan, error = self._attempts[min(len(self.plans), len(self._attempts) - 1)]
        self.plans.append(plan)
        self.plans[-1] = attempts.remember(plan)
        if error is not None:
            raise error


def test_one_attempt_where_nothing_is_in_the_way(waits):
    write = Writer((WIDENS, None))
    until_no_conflict(write)
    assert write.plans == [WIDENS]
    assert waits == []


@pytest.mark.parametrize("name", sorted(CONFLICTS))
@pytest.mark.parametrize("suffix", ["", ".WITHOUT_HINT"])
def test_a_conflict_is_planned_and_tried_again(name, suffix, waits):
    write = Writer((UNCHANGED, DbtDatabaseError(f"[{name}{suffix}] Files")), (UNCHANGED, None))
    until_no_conflict(write)
    assert len(write.plans) == 2
    assert len(waits) == 1


def test_what_an_earlier_attempt_has_changed_is_told():
    write = Writer((WIDENS, METADATA), (UNCHANGED, METADATA), (UNCHANGED, None))
    until_no_conflict(write)
    assert write.plans[-1] == replace(UNCHANGED, made_before=WIDENS.changes)


def test_what_has_to_be_changed_again_is_told_once():
    write = Writer((WIDENS, METADATA), (WIDENS, None))
    until_no_conflict(write)
    assert write.plans[-1] == WIDENS


@pytest.mark.parametrize("error", [ARITY, SchemaChangeFailed("[DELTA_CANNOT_CHANGE_DATA_TYPE] x")])
def test_a_schema_that_has_moved_is_planned_again(error):
    write = Writer((WIDENS, error), (UNCHANGED, None))
    until_no_conflict(write)
    assert len(write.plans) == 2


@pytest.mark.parametrize("error", [ARITY, SchemaChangeFailed("[DELTA_CANNOT_CHANGE_DATA_TYPE] x")])
def test_the_error_itself_where_the_schema_has_not_moved(error):
    write = Writer((WIDENS, error), (WIDENS, None))
    with pytest.raises(type(error)) as raised:
        until_no_conflict(write)
    assert raised.value is error


@pytest.mark.parametrize(
    "error",
    [OVERFLOW, DbtRuntimeError("no connection"), DbtDatabaseError("no condition"), KeyError("x")],
)
def test_any_other_error_ends_the_write(error):
    write = Writer((WIDENS, error), (UNCHANGED, None))
    with pytest.raises(type(error)) as raised:
        until_no_conflict(write)
    assert raised.value is error
    assert len(write.plans) == 1


def test_it_gives_up_and_says_why(waits):
    write = Writer((UNCHANGED, METADATA))
    with pytest.raises(DbtDatabaseError) as raised:
        until_no_conflict(write)
    assert len(write.plans) == MAX_ATTEMPTS
    assert len(waits) == MAX_ATTEMPTS - 1
    assert f"each of {MAX_ATTEMPTS} attempts" in str(raised.value)
    assert "DELTA_METADATA_CHANGED" in str(raised.value)
    assert sum(waits) < 60


def test_an_error_that_quotes_a_conflict_is_none():
    """Only the condition that a message begins with is the statement's own."""
    text = "[CAST_INVALID_INPUT] The value 'x [DELTA_METADATA_CHANGED]' cannot be cast"
    write: Callable[[Attempts], None] = Writer((UNCHANGED, DbtDatabaseError(text)))
    with pytest.raises(DbtDatabaseError, match="CAST_INVALID_INPUT"):
        until_no_conflict(write)
