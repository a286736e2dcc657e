"""The tutorial, from its page: each file is written, each command run, and each line printed."""

import re
import shlex
from pathlib import Path

import pytest

from tests.functional.test_keep_alive import kept as kept
from tests.functional.test_start import dbt, ended
from tests.functional.test_start import project as project

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"(?:^`(\S+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Shell:
    """A shell in a clone, in which commands are run in turn."""

    def __init__(self, clone: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = clone, environment

    def printed(self, commands: str) -> tuple[str, int]:
        """Run the commands of a block. Return what they print, and how the last one has ended."""
        output, code = "", 0
        for line in commands.splitlines():
            assert code == 0, f"{output}before {line}"
            match shlex.split(line):
                case ["python3", "-m", "venv", _] | [".", _] | ["pip", "install", *_]:
                    pass  # The tests have an environment.
                case ["mkdir", "-p", *folders]:
                    for each in folders:
                        (self.folder / each).mkdir(parents=True)
                case ["cd", folder]:
                    self.folder = (self.folder / folder).resolve(strict=True)
                case ["dbt", *words]:
                    ran = dbt(self.folder, *words, **self.environment)
                    output, code = output + ran.stdout + ran.stderr, ran.returncode
                case _:
                    raise AssertionError(f"the test does not know {line}")
        return output, code


@pytest.mark.slow
def test_each_step_does_what_the_page_says(project: Path, kept: dict[str, str]):
    clone = project / "clone"
    clone.mkdir()
    shell = Shell(clone, kept)
    output, code = "", 0
    for name, language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "text":
            assert [line for line in text.splitlines() if line not in output] == [], output
            assert code == ("[LOSSY_VALUE]" in text), output
            code = 0
            continue
        assert code == 0, output  # The page shows each error.
        if name:
            (shell.folder / name).write_text(text)
        elif language == "shell":
            output, code = shell.printed(text)
            assert "Warning" not in output
    assert code == 0, output
    assert ended(shell.folder)
