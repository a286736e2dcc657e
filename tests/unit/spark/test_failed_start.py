"""A start of Spark that has failed once fails at once for the other threads of a dbt command."""

import pytest
from dbt_common.invocation import reset_invocation_id

from dbt.adapters.deltawiden.spark.failed_start import FailedStart


class Starts:
    """Starts that all fail."""

    def __init__(self) -> None:
        self._failed = FailedStart()
        self.tried: list[str] = []

    def start(self, asked: str) -> None:
        with self._failed.raised_again(asked):
            self.tried.append(asked)
            raise ValueError(f"start {len(self.tried)}")


def test_the_same_start_fails_at_once_with_the_first_error():
    starts = Starts()
    for _ in range(3):
        with pytest.raises(ValueError, match="start 1"):
            starts.start("x")
    assert starts.tried == ["x"]


def test_another_start_and_that_of_another_command_are_tried():
    starts = Starts()
    with pytest.raises(ValueError, match="start 1"):
        starts.start("x")
    with pytest.raises(ValueError, match="start 2"):
        starts.start("y")
    reset_invocation_id()
    with pytest.raises(ValueError, match="start 3"):
        starts.start("y")
