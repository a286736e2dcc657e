"""Where a deployment has the relations of a target."""

from dataclasses import replace

import pytest

from dbt.adapters.deltawiden.operations.forecast.check_type_widening import (
    _Deployment,
    _is_target,
)
from dbt.adapters.deltawiden.operations.selection import Selection

SELECTION = Selection("check_type_widening", {}, "ci", lambda *_: None, lambda *_: ())


@pytest.mark.parametrize(
    ("schema", "configured", "place"),
    [
        ("ci", None, (None, "prod")),
        ("ci_finance", "finance", (None, "prod_finance")),
        ("ci_finance", " finance ", (None, "prod_finance")),
        ("ci_finance", None, (None, "prod_finance")),
        # With dbt's generate_schema_name_for_env, production alone has custom schemas.
        ("ci", "finance", None),
        ("ci__finance", "finance", (None, "prod__finance")),
        ("ci_finance_eu", "finance-eu", (None, "prod_finance_eu")),
        ("finance", "finance", None),
    ],
)
def test_a_custom_schema_has_a_place_there_if_the_target_has_it_too(schema, configured, place):
    node = {"schema": schema, "alias": "orders", "config": {"schema": configured}}
    assert _Deployment(SELECTION, "prod").place(node) == place


@pytest.mark.parametrize(
    ("against", "is_target"),
    [
        ("ci", True),
        ("CI", True),
        ("`Ci`", True),
        ("cat.ci", True),
        ("CAT.`CI`", True),
        ("other.ci", False),
        ("ci_finance", False),
        ("prod", False),
    ],
)
def test_the_schema_of_the_target_is_known_in_any_spelling(against: str, is_target: bool):
    assert _is_target(replace(SELECTION, target_catalog="cat"), against) is is_target


def test_a_target_without_a_catalog_and_with_a_name_that_is_quoted_is_known():
    assert _is_target(SELECTION, "CI")
    assert _is_target(replace(SELECTION, target_schema="`My CI`"), "my ci")
    assert not _is_target(SELECTION, "cat.ci")
