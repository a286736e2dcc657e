"""A setting with which filters can miss rows is named once in a run."""

from typing import Any

import pytest

from dbt.adapters.deltawiden.spark import unsafe_settings
from dbt.adapters.deltawiden.spark.settings import SAFE_READS
from dbt.adapters.deltawiden.spark.unsafe_settings import warn_of_filters


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []

    def keep(event: Any) -> None:
        said.append(event.base_msg)

    monkeypatch.setattr(unsafe_settings, "warn_or_error", keep)
    monkeypatch.setattr(unsafe_settings, "_warned", set())
    return said


def test_the_warning_has_the_setting_its_value_and_what_to_do(warnings: list[str]):
    (decimals, lists) = SAFE_READS
    for _ in range(2):
        warn_of_filters({decimals: "true", lists: "0"})
    (text,) = warnings
    assert text.startswith(f"{decimals} is true")
    assert lists not in text
    assert "can miss rows" in text
    assert "Remove the setting" in text


def test_the_safe_values_and_other_settings_give_no_warning(warnings: list[str]):
    warn_of_filters({**SAFE_READS, "spark.x": "y"})
    warn_of_filters({key: value.upper() for key, value in SAFE_READS.items()})
    warn_of_filters({})
    assert warnings == []
