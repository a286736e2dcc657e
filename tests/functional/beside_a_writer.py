"""Commands that race with another writer of their table."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import AnalysisException, PySparkException

from dbt.adapters.deltawiden.delta.conflicts import is_conflict
from tests.functional.support import Table, again_and_again

ROUNDS = 20
FIRST_ID = 1000
PAUSE = 4  # seconds, at most
# What a command says that other writers have stopped too often. It can be run again.
NOT_DONE = ("Other writers came first in each of 8 attempts", "and the next run will do it")
CONFLICT = "Another writer came first"
OF_THE_WRITER = ("WRITE", "UPDATE")


@dataclass(frozen=True)
class Done:
    """What a command has printed, and its error if there is one."""

    printed: str
    error: str


@dataclass
class Writer:
    """Adds rows to a table, and sets the column ``written`` of rows that exist.

    Attributes:
        rows: how many rows exist before. Their ids start with 0.
        written: the values of ``written`` that were committed, by id.
    """

    table: Table
    rows: int
    written: dict[int, int] = field(default_factory=dict)
    _number: int = 0

    def write(self) -> None:
        """Write once. The statement is gone if the table's other writer has come first."""
        self._number += 1
        number, name = self._number, self.table.name
        time.sleep(random.uniform(0, PAUSE))
        if number % 2:
            key = FIRST_ID + number
            statement = f"insert into {name} (id, written) values ({key}, {number})"
        else:
            key = number % self.rows
            statement = f"update {name} set written = {number} where id = {key}"
        try:
            self.table.spark.sql(statement)
        except AnalysisException:
            return
        except PySparkException as error:
            if not is_conflict(DbtRuntimeError(str(error))):
                raise
            return
        self.written[key] = number

    @property
    def own_ids(self) -> list[int]:
        """The ids of the rows that it has added."""
        return sorted(key for key in self.written if key >= FIRST_ID)


def race(writer: Writer, command: Callable[[int], Done]) -> None:
    """Run a command in each round while the writer writes, until it is done.

    Args:
        command: runs it once, for the number of a round.
    """
    table, seen = writer.table, Counter[str]()
    with again_and_again(writer.write):
        for number in range(1, ROUNDS + 1):
            before = table.version
            done = Done("", NOT_DONE[0])
            while any(text in done.error for text in NOT_DONE):
                seen["again"] += 1
                done = command(number)
                seen["conflicts"] += CONFLICT in done.printed
            assert not done.error, done.printed
            operations = table.operations(since=before)
            own = [k for k, name in enumerate(operations) if name not in OF_THE_WRITER]
            assert own, operations
            # The writer's commits between the first reading of the command and its last commit.
            seen["between"] += len(own) < own[-1] + 1
    assert seen["conflicts"] + seen["between"] >= ROUNDS / 4, seen
    assert len(writer.own_ids) >= ROUNDS / 4
