"""The pages of the documentation, for the tests that compare them with the code."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.glob("*.md")]

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


class Block(NamedTuple):
    """A fenced block: the language that it names, and its text."""

    language: str
    text: str


def read(page: Path) -> tuple[str, list[Block]]:
    """The text of a page without its fenced blocks, and the blocks."""
    blocks: list[Block] = []

    def keep(match: re.Match[str]) -> str:
        blocks.append(Block(match.group(2), match.group(3)))
        return ""

    fenced = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$\n?", re.DOTALL | re.MULTILINE)
    return fenced.sub(keep, page.read_text(encoding="utf-8")), blocks


def in_code(text: str) -> list[str]:
    """The texts in backticks."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)


def tables(text: str) -> Iterator[list[list[str]]]:
    """The tables of a page, as rows of cells; the first row is the heading."""
    for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in table.splitlines()]
        yield [[cell.strip() for cell in row] for row in [rows[0], *rows[2:]]]


def table(page: str, first: str) -> list[list[str]]:
    """The rows of the only table of a page whose heading starts with these words."""
    text, _ = read(DOCS / page)
    (found,) = [rows for rows in tables(text) if "|".join(rows[0]).startswith(first)]
    return found[1:]
