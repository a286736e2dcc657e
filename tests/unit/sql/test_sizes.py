"""Sizes in readable units, and sizes that users write."""

import pytest

from dbt.adapters.deltawiden.sql.sizes import parse_size, size_text


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
def test_a_size_is_shown_in_units(size: int, text: str):
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0b", 0),
        ("100b", 100),
        ("1kb", 1_024),
        (" 256 MB ", 268_435_456),
        ("1gb", 1 << 30),
        ("2tb", 2 << 40),
        ("12", None),
        ("-1mb", None),
        ("1.5gb", None),
        ("1gib", None),
        ("", None),
    ],
)
def test_a_size_is_read_as_spark_reads_it(text: str, size: int | None):
    assert parse_size(text) == size
