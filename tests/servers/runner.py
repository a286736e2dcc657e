"""Two dbt processes that run models whenever a test asks for it: see `rounds.py`."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.servers import rounds


class Runner:
    """A process of dbt, and its project of one model."""

    def __init__(self, folder: Path, model: str, target: Mapping[str, object]) -> None:
        (folder / "models").mkdir(parents=True)
        (folder / "models" / "t.sql").write_text(model)
        (folder / "dbt_project.yml").write_text("{name: rounds, profile: rounds}")
        profile = {"outputs": {"default": dict(target)}}
        (folder / "profiles.yml").write_text(json.dumps({"rounds": profile}))
        self._process = subprocess.Popen(
            [sys.executable, rounds.__file__, str(folder)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(folder / "errors.log").open("w"),
            text=True,
            start_new_session=True,
        )
        assert self._answer() == "ready\n"

    def begin(self, **variables: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(variables) + "\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, object]:
        return json.loads(self._answer())

    def run(self, **variables: object) -> dict[str, object]:
        self.begin(**variables)
        return self.end()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def kill(self) -> None:
        """Kill the process, and its Spark, without a chance to clean up."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)


@contextlib.contextmanager
def two_runners(
    folder: Path, model: str, target: Mapping[str, object]
) -> Iterator[tuple[Runner, Runner]]:
    """Start two processes with the same model, and stop them at the end."""
    with contextlib.ExitStack() as stack:
        started = []
        for name in ("first", "second"):
            started.append(Runner(folder / name, model, target))
            stack.callback(started[-1].stop)
        yield started[0], started[1]
