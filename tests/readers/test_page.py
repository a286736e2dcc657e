"""`docs/readers.md` is the page that the generator renders."""

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.readers.page import PAGE, page


def test_the_page_is_what_is_known(request: pytest.FixtureRequest):
    wanted = page(version("delta-spark"))
    file = request.config.getoption("--readers-page")
    if file:
        Path(file).write_text(wanted, encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == wanted, "make readers writes the page again"
