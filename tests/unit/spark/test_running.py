"""What is said when the Spark that this process uses has ended."""

from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError

from dbt.adapters.deltawiden.spark import running
from dbt.adapters.deltawiden.spark.running import RunningSpark, end_text, note_running

REFUSED = "failed to connect: ipv4:127.0.0.1:41: Connection refused"


@pytest.fixture(autouse=True)
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(running, "_current", None)
    monkeypatch.setattr(running, "_SECONDS_TO_END", 0)
    log = tmp_path / "spark.log"
    log.write_text("WARN x\n")
    return log


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(111, "Connection refused"),
        ConnectionResetError(),
        BrokenPipeError(),
        Py4JNetworkError("Answer from Java side is empty"),
        f"<_MultiThreadedRendezvous of RPC that terminated with: UNAVAILABLE, {REFUSED}>",
        "Stream removed",
        "[RETRIES_EXCEEDED] The maximum number of retries has been exceeded.",
    ],
)
def test_the_end_of_spark_is_the_reason_of_the_errors_of_its_clients(
    error: Exception | str, log: Path
):
    assert end_text(error) is None
    note_running(RunningSpark(7, log, lambda: False))
    assert end_text(error) is None
    note_running(RunningSpark(7, log, lambda: True))
    text = end_text(error)
    assert text == (
        f"Spark (process 7) has ended. Its log is {log}. The last statement may have been "
        "committed or not. The next run starts another Spark."
    )
    assert end_text("[TABLE_OR_VIEW_NOT_FOUND] x") is None


def test_a_spark_that_ran_out_of_memory_asks_for_more(log: Path):
    log.write_text("Terminating due to java.lang.OutOfMemoryError: Java heap space\n")
    note_running(RunningSpark(7, log, lambda: True))
    text = end_text(ConnectionResetError())
    assert text is not None
    assert "It had too little memory: set spark.driver.memory in the profile's" in text
    log.unlink()
    assert end_text(ConnectionResetError()) is not None
