"""docs/reference.md is up to date with the code."""

from tests.reference_page import PAGE, page


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page()
