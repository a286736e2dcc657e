"""`docs/readers.md` is up to date. The other tests of this folder check its contents."""

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.readers.page import PAGE, page


def test_the_page_is_up_to_date(request: pytest.FixtureRequest):
    wanted = page(version("delta-spark"))
    file = request.config.getoption("--readers-page")
    if file:
        Path(file).write_text(wanted, encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == wanted, "make readers writes the page anew"
