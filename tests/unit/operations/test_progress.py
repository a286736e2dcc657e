"""Sizes in readable units."""

import pytest

from dbt.adapters.deltawiden.operations.progress import size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (2_150_000_000, "2.1 GB"),
        (9_000_000_000_000_000, "9000.0 TB"),
    ],
)
def test_a_size_is_shown_in_units(size, text):
    assert size_text(size) == text
