"""What the terminal shows if the disk of dbt's log is full."""

from pathlib import Path

from tests.functional.test_start import dbt
from tests.functional.test_start import project as project


def test_a_log_that_cannot_be_written_is_reported_once(project: Path):
    (project / "logs").mkdir()
    (project / "logs" / "dbt.log").symlink_to("/dev/full")
    run = dbt(project, "parse", "--vars", "type: int")
    assert run.returncode == 0, run.stdout
    lines = run.stderr.splitlines()
    assert lines[-1].startswith("dbt can't write its log (")
    assert lines[-1].endswith("logs/dbt.log): No space left on device.")
    # What dbt writes before it reads the profile still has tracebacks.
    assert sum("can't write its log" in line for line in lines) == 1
