"""The picture of the demo shows lines of the demo, and says where it leaves some out."""

import re
import sys
from pathlib import Path

from examples.flights import recording
from examples.flights.recording import PICTURE, ROOT, Line, lines_of, played, record, svg, wrapped

DEMO = rf"""
print("=== 1. Load\n\nloaded\nall\n")
print("=== 3. Refuse\n\n\x1b[31mrefused\x1b[0m: {ROOT}/models/fares.sql\n")
"""


def test_a_recording_shows_the_chosen_steps_and_names_the_lines_that_it_leaves_out(tmp_path: Path):
    record([sys.executable, "-c", DEMO], tmp_path / "demo.cast")
    rows = played(recording.steps_of(lines_of(tmp_path / "demo.cast")))
    assert [row.text for row in rows] == [
        "$ make demo",
        "=== 1. Load",
        "",
        "[3 lines and 0 seconds are left out]",
        "",
        "=== 3. Refuse",
        "",
        "\x1b[31mrefused\x1b[0m: models/fares.sql",
        "",
        "",
    ]
    assert [row.at for row in rows] == sorted(row.at for row in rows)
    assert '<tspan class="c31">refused</tspan>: models/fares.sql</text>' in svg(rows)


def test_a_long_line_is_broken_as_in_a_terminal():
    assert wrapped("\x1b[32m" + "a" * 109) == ["\x1b[32m" + "a" * 108, "\x1b[32ma"]
    assert wrapped("") == [""]


def test_a_wait_is_cut():
    rows = played({0: [Line(0, "a"), Line(100, "b")]})
    assert rows[1].at - rows[0].at == recording.LONGEST_WAIT


def test_the_picture_has_no_path_of_a_machine():
    text = PICTURE.read_text(encoding="utf-8")
    assert "=== 8. " in text
    assert re.findall(r"(?<![\w.])/(?:home|root|tmp|Users|work)/", text) == []
