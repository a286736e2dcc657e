"""Make ``docs/demo.svg``, a recording of the demo in a terminal.

``make recording`` runs it. The demo runs in a terminal of its own. What it shows, and when, is
stored as an asciicast: ``asciinema play .matrix/demo.cast`` shows all of it. The picture has parts
of it, with shorter waits, and says where lines are left out.
https://docs.asciinema.org/manual/asciicast/v2/
"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
CAST = ROOT / ".matrix" / "demo.cast"
PICTURE = ROOT / "docs" / "demo.svg"
COLUMNS, ROWS = 108, 28
# The steps that are shown: from the first line with one text to the first one with another.
SHOWN = {
    0: ("", ""),
    2: ("", "Done."),
    3: ("", ""),
    7: ("sum of", ""),
    8: ("dbt-spark's table:", ""),
}
# In seconds: the longest wait, the least time between two lines, and the rest after a shown step.
LONGEST_WAIT, LINE, STEP = 0.45, 0.08, 2.5
LINE_HEIGHT, LEFT, TOP, WIDTH = 18, 14, 10, 944
STYLE = """
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
text { white-space: pre; fill: #1f2328; }
.page { fill: #ffffff; } .border { fill: none; stroke: #d0d7de; }
.c31 { fill: #cf222e; } .c32 { fill: #1a7f37; } .out { fill: #59636e; }
.title { font-weight: bold; }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117; } text { fill: #e6edf3; } .border { stroke: #3d444d; }
  .c31 { fill: #f85149; } .c32 { fill: #3fb950; } .out { fill: #9198a1; }
}
@media (prefers-reduced-motion: reduce) { #lines, #cover { animation: none; } }
"""


class Line(NamedTuple):
    """A line of the terminal, and the seconds after which it was there."""

    at: float
    text: str


def main() -> None:
    record([sys.executable, str(Path(__file__).with_name("demo.py"))], CAST)
    PICTURE.write_text(svg(played(steps_of(lines_of(CAST)))), encoding="utf-8")
    print(f"wrote {PICTURE}, {PICTURE.stat().st_size:,} bytes")


def record(command: list[str], cast: Path) -> None:
    """Run the demo in a terminal, and store what it shows and when."""
    cast.parent.mkdir(exist_ok=True)
    terminal, of_demo = pty.openpty()
    fcntl.ioctl(of_demo, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with cast.open("w", encoding="utf-8") as file:
        print(json.dumps({"version": 2, "width": COLUMNS, "height": ROWS}), file=file)
        print(json.dumps([0, "o", "$ make demo\r\n"]), file=file)
        start = time.monotonic()
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=of_demo, stderr=of_demo
        ) as demo:
            os.close(of_demo)
            with open(terminal, encoding="utf-8", newline="") as output:
                try:
                    for text in output:
                        seconds = round(time.monotonic() - start, 2)
                        print(json.dumps([seconds, "o", text]), file=file)
                except OSError:
                    pass  # So Linux says that the demo has closed its side.
    if demo.returncode:
        sys.exit(f"The demo failed. {cast} has its output.")


def lines_of(cast: Path) -> list[Line]:
    """Return the lines of a recording. Paths are those in the repository."""
    events = [json.loads(event) for event in cast.read_text(encoding="utf-8").splitlines()[1:]]
    return [
        Line(at, line.replace(f"{ROOT}/", ""))
        for at, _, text in events
        for line in text.splitlines()
    ]


def steps_of(lines: list[Line]) -> dict[int, list[Line]]:
    """Return the lines of each step of the demo. Those before the first step are step 0."""
    steps: dict[int, list[Line]] = {0: []}
    for line in lines:
        if started := re.match(r"=== (\d+)[.]", line.text):
            steps[int(started[1])] = []
        steps[max(steps)].append(line)
    return steps


def played(steps: dict[int, list[Line]]) -> list[Line]:
    """Return the rows of the picture, each with the second from which it is there."""
    rows, now, before = [], 0.0, 0.0
    for number, lines in steps.items():
        for line in shown(number, lines):
            now += min(max(line.at - before, LINE), LONGEST_WAIT)
            before = line.at
            rows += [Line(now, row) for row in wrapped(line.text)]
        now += STEP if number in SHOWN else 0
    return [*rows, Line(now, "")]


def shown(number: int, lines: list[Line]) -> list[Line]:
    """Return the title of a step and its lines that are shown. A line stands for the others."""
    if number not in SHOWN:
        return [*lines[:2], left_out(lines[2:]), *lines[-1:]]
    first, last = SHOWN[number]
    start = next(n for n, line in enumerate(lines) if first in line.text)
    end = next((n for n, line in enumerate(lines) if last and last in line.text), len(lines) - 1)
    before = [*lines[:2], left_out(lines[2:start])] if start else []
    after = [left_out(lines[end + 1 :]), lines[-1]] if end < len(lines) - 1 else []
    return [*before, *lines[start : end + 1], *after]


def left_out(lines: list[Line]) -> Line:
    seconds = lines[-1].at - lines[0].at
    return Line(lines[-1].at, f"[{len(lines)} lines and {seconds:.0f} seconds are left out]")


def wrapped(text: str) -> list[str]:
    """Break a line as a terminal of this width does. A color goes on in the next row."""
    rows, color, places = [""], "", 0
    for part in re.findall(r"\x1b\[\d*m|.", text):
        if part.startswith("\x1b"):
            color = part
        elif places == COLUMNS:
            rows.append(color)
            places = 1
        else:
            places += 1
        rows[-1] += part
    return rows


def svg(rows: list[Line]) -> str:
    """Draw the rows under each other. The animation uncovers the first ones, and moves them up."""
    moved, covered = {}, {}
    for number, row in enumerate(rows):
        percent = f"{row.at / rows[-1].at * 100:.2f}%"
        moved[percent] = min(ROWS - 1 - number, 0) * LINE_HEIGHT
        covered[percent] = min(number + 1, ROWS) * LINE_HEIGHT
    drawn = "\n".join(row_svg(number, row.text) for number, row in enumerate(rows) if row.text)
    style = "".join(
        keyframes(name, places, rows[-1].at)
        for name, places in (("lines", moved), ("cover", covered))
    )
    inner, height = ROWS * LINE_HEIGHT, ROWS * LINE_HEIGHT + 2 * TOP
    size = f'width="{WIDTH}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {height}">
<title>The demo in a terminal</title>
<style>{style}{STYLE}</style>
<rect class="page" {size} rx="6"/>
<svg x="{LEFT}" y="{TOP}" width="{WIDTH - 2 * LEFT}" height="{inner}">
<g id="lines">
{drawn}
</g>
<rect id="cover" class="page" width="{WIDTH}" height="{inner}"/>
</svg>
<rect class="border" {size} rx="6"/>
</svg>
"""


def keyframes(name: str, places: dict[str, int], seconds: float) -> str:
    """Render how an element moves. Where nothing moves, it is at the last place."""
    frames, place = "", None
    for percent, y in places.items():
        frames += f"{percent} {{ transform: translateY({y}px) }}\n" if y != place else ""
        place = y
    return f"""#{name} {{
  animation: {name} {seconds:.1f}s step-end infinite;
  transform: translateY({place}px);
}}
@keyframes {name} {{
0% {{ transform: none }}
{frames}}}
"""


def row_svg(number: int, text: str) -> str:
    """Draw a row. Its parts have the classes of their colors."""
    kind = "title" if text.startswith("===") else "out" if text.endswith("left out]") else ""
    drawn, color = "", "0"
    for n, part in enumerate(re.split(r"\x1b\[(\d*)m", text)):
        if n % 2:
            color = part
        elif part:
            drawn += (
                f'<tspan class="c{color}">{escape(part)}</tspan>' if color > "0" else escape(part)
            )
    attributes = f' class="{kind}"' if kind else ""
    return f'<text y="{number * LINE_HEIGHT + 14}"{attributes}>{drawn}</text>'


if __name__ == "__main__":
    main()
