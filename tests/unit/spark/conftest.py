from typing import Any

import pytest

from dbt.adapters.deltawiden import warnings


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the warnings of the test, which is an invocation of its own."""
    texts: list[str] = []

    def warn(event: Any) -> None:
        texts.append(event.base_msg)

    monkeypatch.setattr(warnings, "warn_or_error", warn)
    monkeypatch.setattr(warnings, "_warned", set())
    return texts
