"""Where a deployment has the relations of a target."""

import pytest

from dbt.adapters.deltawiden.operations.forecast.check_type_widening import _Deployment
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
