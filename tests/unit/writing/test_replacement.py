"""Which conditions Delta reads in `replace where` as Spark does."""

import pytest

from dbt.adapters.deltawiden.writing.replacement import ReplaceWhere


@pytest.mark.parametrize(
    "condition",
    [
        "day >= '2024-01-02' and (id < 100 or id in (200, 300))",
        "day >= date_sub(current_date(), 3) and day < date '2024-02-01'",
        "amount > cast('1.5' as decimal(8, 2)) and not (`a b` is null)",
        "name like 'A%'",
    ],
)
def test_a_condition_of_comparisons_has_no_functions(condition: str):
    assert not ReplaceWhere([condition], ()).has_functions


@pytest.mark.parametrize(
    "condition",
    [
        "startswith(sku, 'A_')",
        "not ENDSWITH (sku, '_')",
        "contains/* the text */(sku, '_')",
        "sku like 'A\\\\%' escape '/'",
        "my_schema.is_old(sku)",
        "`is old`(sku)",
        "contains -- the text\n(sku, '_')",
    ],
)
def test_a_function_of_a_column_may_have_another_meaning_as_a_text(condition: str):
    assert ReplaceWhere(["id > 0", condition], ()).has_functions
