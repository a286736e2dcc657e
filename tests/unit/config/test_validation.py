"""The values of configuration keys."""

import pytest

from dbt.adapters.deltawiden.config.after_run import is_optimized
from dbt.adapters.deltawiden.config.model_spec import read_model_spec
from dbt.adapters.deltawiden.config.validation import CHECKS, configuration_problems
from tests.reference_page import IGNORED, PAGES

CONFIG = {"materialized": "incremental", "clustered_by": "id", "zorder": "id"}


# An empty list of clustering columns removes the clustering.
@pytest.mark.parametrize("empty", ["", []])
@pytest.mark.parametrize("key", sorted({*CHECKS, *PAGES, *IGNORED} - {"liquid_clustered_by"}))
def test_an_empty_value_is_the_same_as_no_value(key: str, empty: object):
    given, without = ({**CONFIG, key: value} for value in (empty, None))
    assert configuration_problems(given, lambda _: False) == []
    assert read_model_spec(given, "m") == read_model_spec(without, "m")
    assert is_optimized(given, {}) == is_optimized(without, {})


@pytest.mark.parametrize("key", [*CHECKS, "type_widening_compatible_with", "optimize"])
def test_false_is_the_same_as_no_value(key: str):
    given, without = ({**CONFIG, key: value} for value in (False, None))
    assert configuration_problems(given, lambda _: False) == []
    assert read_model_spec(given, "m") == read_model_spec(without, "m")
    assert is_optimized(given, {}) == is_optimized(without, {})
