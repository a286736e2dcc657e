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


def printed(folder: Path, commands: str, **environment: str) -> str:
    """Run the commands of a block, and return what they print."""
    output = ""
    for line in commands.splitlines():
        program, *words = shlex.split(line)
        if program == "pip":
            continue
        assert program == "dbt"
        ran = dbt(folder, *words, **environment)
        output += ran.stdout + ran.stderr
    return output


@pytest.mark.slow
def test_each_step_does_what_the_page_says(project: Path, kept: dict[str, str]):
    folder = project / "shop"
    folder.mkdir()
    output = ""
    for name, language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if name:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        elif language == "shell":
            output = printed(folder, text, **kept)
            assert "Warning" not in output
        else:
            assert [line for line in text.splitlines() if line not in output] == [], output
    assert ended(folder)
