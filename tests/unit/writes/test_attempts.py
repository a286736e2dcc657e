"""The errors after which a write is retried."""

import functools
import threading
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest
import tenacity.nap
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from pyspark.sql.types import DecimalType, LongType, ShortType

from dbt.adapters.deltawiden.delta.conflicts import CONFLICTS, MAX_ATTEMPTS
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.schema_diff import TypeDifference
from dbt.adapters.deltawiden.widening.steps import (
    AlterTypes,
    ClusterBy,
    DropColumns,
    RewriteRows,
    SetStatistics,
    Stage,
    Step,
)
from dbt.adapters.deltawiden.writes.attempts import (
    Attempts,
    SchemaChangeFailed,
    Turns,
    WidensItsOwnInput,
    is_cancelled,
    retry_with_new_plan,
)
from dbt.adapters.deltawiden.writing.columns import Write
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment

TABLE = "`s`.`t`"
CHANGE = TypeChange(("n",), ShortType(), LongType())
WIDENS = Plan(TABLE, (AlterTypes(TABLE, (CHANGE,)),))
UNCHANGED = Plan(TABLE)
MOVED = replace(UNCHANGED, write=Write(unused=("another",)))
METADATA = DbtDatabaseError("[DELTA_METADATA_CHANGED] MetadataChangedException: The metadata of")
ARITY = DbtDatabaseError("[DELTA_INSERT_COLUMN_ARITY_MISMATCH] Cannot write to 't'")
OVERFLOW = DbtDatabaseError("[CAST_OVERFLOW] The value 300 of the type INT cannot be cast")


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    # Not `time.sleep` itself: threads of tests before may sleep in a loop.
    monkeypatch.setattr(tenacity.nap, "time", SimpleNamespace(sleep=waits.append))
    return waits


class Writer:
    """A write that has a plan and a result for each attempt. The last one repeats."""

    def __init__(self, *attempts: tuple[Plan, BaseException | None]) -> None:
        self._attempts = list(attempts)
        self.plans: list[Plan] = []

    def __call__(self, attempts: Attempts) -> None:
        plan, error = self._attempts[min(len(self.plans), len(self._attempts) - 1)]
        self.plans.append(plan)
        attempts.record_plan(plan)
        if error is not None:
            raise error


def test_a_write_without_a_conflict_takes_one_attempt(waits):
    write = Writer((WIDENS, None))
    retry_with_new_plan(write)
    assert write.plans == [WIDENS]
    assert waits == []


@pytest.mark.parametrize("name", sorted(CONFLICTS))
@pytest.mark.parametrize("suffix", ["", ".WITHOUT_HINT"])
def test_a_conflict_is_planned_and_tried_again(name, suffix, waits):
    write = Writer((UNCHANGED, DbtDatabaseError(f"[{name}{suffix}] Files")), (UNCHANGED, None))
    retry_with_new_plan(write)
    assert len(write.plans) == 2
    assert len(waits) == 1


def test_the_plan_records_the_changes_of_an_earlier_attempt():
    write = Writer((WIDENS, METADATA), (UNCHANGED, METADATA), (UNCHANGED, None))
    attempts = retry_with_new_plan(write)
    assert (attempts.plan, attempts.changes) == (UNCHANGED, (CHANGE,))


def test_a_change_that_is_made_again_is_recorded_once():
    write = Writer((WIDENS, METADATA), (WIDENS, None))
    attempts = retry_with_new_plan(write)
    assert (attempts.plan, attempts.changes) == (WIDENS, (CHANGE,))


@pytest.mark.parametrize("error", [ARITY, SchemaChangeFailed("[DELTA_CANNOT_CHANGE_DATA_TYPE] x")])
def test_a_changed_schema_is_planned_again(error):
    write = Writer((WIDENS, error), (MOVED, None))
    retry_with_new_plan(write)
    assert len(write.plans) == 2


@pytest.mark.parametrize(
    ("error", "left"),
    [
        (ARITY, UNCHANGED),
        (SchemaChangeFailed("[DELTA_CANNOT_CHANGE_DATA_TYPE] x"), WIDENS),
    ],
)
def test_the_error_is_raised_if_the_schema_has_not_changed(error, left):
    write = Writer((WIDENS, error), (left, None))
    with pytest.raises(type(error)) as raised:
        retry_with_new_plan(write)
    assert raised.value is error


def test_the_rest_of_a_plan_with_several_statements_is_not_a_changed_schema():
    changes = (TypeChange((name,), ShortType(), LongType()) for name in "abc")
    steps = tuple(AlterTypes(TABLE, (change,)) for change in changes)
    error = SchemaChangeFailed("[DELTA_CANNOT_CHANGE_DATA_TYPE] x", done=steps[:1])
    write = Writer((Plan(TABLE, steps), error), (Plan(TABLE, steps[1:]), None))
    with pytest.raises(SchemaChangeFailed) as raised:
        retry_with_new_plan(write)
    assert raised.value is error
    assert error.msg.endswith("x\nType changes already made stay: a: smallint -> bigint.")
    # Another writer has changed the second one.
    write = Writer((Plan(TABLE, steps), error), (Plan(TABLE, steps[2:]), None))
    retry_with_new_plan(write)
    assert len(write.plans) == 2


CLUSTERS = ClusterBy(TABLE, (("n",),))
CLUSTERS_AGAIN = replace(CLUSTERS, stage=Stage.CLUSTERING_AGAIN)
DROPS = DropColumns(TABLE, ())


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        # Clustering that the write removes is not restored because it was changed before.
        ((CLUSTERS, CLUSTERS_AGAIN, DROPS), (CLUSTERS_AGAIN, DROPS)),
        ((CLUSTERS, *WIDENS.steps), ()),
        # Such a step is planned again each time.
        ((SetStatistics(TABLE, ()), RewriteRows(TABLE, "n")), (RewriteRows(TABLE, "n"),)),
    ],
)
def test_what_an_attempt_has_done_is_not_left(steps: tuple[Step, ...], left: tuple[Step, ...]):
    write = Writer((Plan(TABLE, steps), ARITY), (Plan(TABLE, left), None))
    with pytest.raises(DbtDatabaseError) as raised:
        retry_with_new_plan(write)
    assert raised.value is ARITY
    write = Writer((Plan(TABLE, steps), ARITY), (Plan(TABLE, (CLUSTERS, DROPS)), None))
    retry_with_new_plan(write)
    assert len(write.plans) == 2


@pytest.mark.parametrize(
    "error",
    [OVERFLOW, DbtRuntimeError("no connection"), DbtDatabaseError("no condition"), KeyError("x")],
)
def test_any_other_error_ends_the_write(error):
    write = Writer((WIDENS, error), (UNCHANGED, None))
    with pytest.raises(type(error)) as raised:
        retry_with_new_plan(write)
    assert raised.value is error
    assert len(write.plans) == 1


def test_the_last_attempt_raises_an_error_with_the_reason(waits):
    write = Writer((UNCHANGED, METADATA))
    with pytest.raises(DbtDatabaseError) as raised:
        retry_with_new_plan(write)
    assert len(write.plans) == MAX_ATTEMPTS
    assert len(waits) == MAX_ATTEMPTS - 1
    assert f"each of {MAX_ATTEMPTS} attempts" in str(raised.value)
    assert "DELTA_METADATA_CHANGED" in str(raised.value)
    assert sum(waits) < 60


@pytest.mark.parametrize(
    ("error", "stays"),
    [
        (METADATA, True),
        (SchemaChangeFailed(METADATA.msg, WIDENS.before), True),
        (SchemaChangeFailed(METADATA.msg), False),
    ],
)
def test_it_gives_up_and_names_the_changes_that_stay(error, stays):
    with pytest.raises(DbtDatabaseError, match="no row was written") as raised:
        retry_with_new_plan(Writer((WIDENS, error)))
    said = "Type changes already made stay: n: smallint -> bigint. Run"
    assert (said in raised.value.msg) == stays


def test_a_failed_step_names_the_changes_of_the_steps_before_it_once():
    error = SchemaChangeFailed("[LOSSY_VALUE] x", WIDENS.before)
    attempts = Attempts()
    with pytest.raises(SchemaChangeFailed) as raised:
        retry_with_new_plan(Writer((WIDENS, error), (MOVED, error)), attempts=attempts)
    assert raised.value.msg.count("Type changes already made stay: n: smallint -> bigint.") == 1
    assert attempts.error_text(raised.value).count("already made stay") == 1


@pytest.mark.parametrize(
    ("what", "plan", "stay"),
    [
        ("strategy", UNCHANGED, "before. Look at"),
        ("MERGE", WIDENS, "before. Type changes already made stay: n: smallint -> bigint. Look at"),
    ],
)
def test_a_write_that_must_not_run_twice_is_not_retried(waits, what, plan, stay):
    write = Writer((plan, METADATA))

    def once(attempts: Attempts) -> None:
        attempts.forbid_retry(what)
        write(attempts)

    said = f"The {what} is one of the project's own, which is not run again"
    with pytest.raises(DbtDatabaseError, match=said) as raised:
        retry_with_new_plan(once)
    assert stay in raised.value.msg
    assert len(write.plans) == 1
    assert waits == []


def test_writers_of_one_table_take_turns_once_they_have_collided():
    turns, inside, most = Turns(), [], []
    both = threading.Barrier(2)

    def write(attempts: Attempts, first: list[bool]) -> None:
        inside.append(1)
        most.append(len(inside))
        is_first, first[:] = bool(first), []
        if is_first:
            both.wait()
        inside.pop()
        if is_first:
            both.wait()
            raise METADATA

    threads = [
        threading.Thread(
            target=retry_with_new_plan,
            args=(functools.partial(write, first=[True]), turns),
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Both write at first. Later they take turns.
    assert max(most[:2]) == 2
    assert most[2:] == [1, 1]


def test_an_error_that_quotes_a_conflict_is_not_a_conflict():
    """The condition of the statement is the one at the start of the message."""
    text = "[CAST_INVALID_INPUT] The value 'x [DELTA_METADATA_CHANGED]' cannot be cast"
    write: Callable[[Attempts], None] = Writer((UNCHANGED, DbtDatabaseError(text)))
    with pytest.raises(DbtDatabaseError, match="CAST_INVALID_INPUT"):
        retry_with_new_plan(write)


def test_a_model_that_widens_its_own_input_is_stopped_after_one_change():
    first = TypeChange(("n",), DecimalType(10, 2), DecimalType(20, 2))
    second = TypeChange(("n",), DecimalType(20, 2), DecimalType(30, 2))
    stale = DbtDatabaseError("[CANNOT_UP_CAST_DATATYPE] Cannot up cast n")
    plans = [Plan(TABLE, (AlterTypes(TABLE, (change,)),)) for change in (first, second)]
    write = Writer((plans[0], stale), (plans[1], None))
    with pytest.raises(WidensItsOwnInput, match=r"cast\(\.\.\. as decimal\(20,2\)\) as n"):
        retry_with_new_plan(write)
    assert len(write.plans) == 2


def test_a_change_that_was_not_made_can_be_planned_again():
    write = Writer((WIDENS, METADATA), (WIDENS, None))
    retry_with_new_plan(write)
    assert len(write.plans) == 2


def test_the_error_of_a_cast_names_the_columns_that_the_value_can_be_in():
    lossy = TypeDifference(("v",), ShortType(), LongType(), StoreAssignment.LOSSY)
    error = DbtDatabaseError("[CAST_OVERFLOW] The value 300\nSet spark.sql.ansi.enabled to false")
    for plan, more in ((UNCHANGED, ""), (replace(UNCHANGED, lossy=(lossy,)), "v (bigint into")):
        with pytest.raises(DbtDatabaseError) as raised:
            retry_with_new_plan(Writer((plan, error)))
        assert more in raised.value.msg
        assert ("spark.sql" in raised.value.msg) == (not more)


def test_a_write_that_fails_for_another_reason_names_no_column():
    lossy = TypeDifference(("v",), ShortType(), LongType(), StoreAssignment.LOSSY)
    error = DbtDatabaseError("[TASK_WRITE_FAILED] Task failed: No space left on device")
    with pytest.raises(DbtDatabaseError) as raised:
        retry_with_new_plan(Writer((replace(UNCHANGED, lossy=(lossy,)), error)))
    assert raised.value is error


def test_a_query_that_is_wrong_each_time_is_tried_twice_before_there_is_a_plan():
    tried = []

    def write(attempts: Attempts) -> None:
        tried.append(attempts)
        raise DbtDatabaseError("[UNRESOLVED_COLUMN.WITH_SUGGESTION] no_such_column")

    with pytest.raises(DbtDatabaseError, match="no_such_column"):
        retry_with_new_plan(write)
    assert len(tried) == 2


@pytest.mark.parametrize(
    ("text", "cancelled"),
    [
        ("[SPARK_JOB_CANCELLED] Job 7 cancelled as part of cancellation of all jobs", True),
        ("Job 7 cancelled as part of cancellation of all jobs", True),
        ("[OPERATION_CANCELED] Operation has been canceled.", True),
        ("Query exceeded timeout of 60 seconds", False),
        ("[LOSSY_VALUE] a value of the column cancelled_at is not stored exactly", False),
    ],
)
def test_a_statement_that_the_user_stopped_is_known(text: str, cancelled: bool):
    assert is_cancelled(DbtDatabaseError(text)) is cancelled
