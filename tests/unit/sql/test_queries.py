import pytest
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql.types import IntegerType, LongType, StructType

from dbt.adapters.deltawiden.sql.queries import analyse_with_types, select_from


@pytest.mark.parametrize("end", ["", ";", ";\n  ", ";;\n"])
def test_the_query_is_in_brackets_without_its_semicolons(end):
    query = select_from("id + 1", f"select 1 as id{end}")
    assert query == "select id + 1 from (\nselect 1 as id\n)"


def test_a_comment_at_the_end_of_the_query_does_not_hide_the_bracket():
    assert select_from("*", "select 1 -- one").endswith("-- one\n)")


@pytest.mark.parametrize(
    ("query", "without"),
    [
        ("select 1; -- one", "select 1 -- one"),
        ("select 1; /* one */ ; -- two;\n", "select 1 /* one */  -- two"),
        ("select ';' as a, '; -- ' as b; -- it's", "select ';' as a, '; -- ' as b -- it's"),
        ("select '; -- ' as a", "select '; -- ' as a"),
        ("select 1 -- one; -- two", "select 1 -- one; -- two"),
    ],
)
def test_semicolons_before_a_comment_are_removed(query, without):
    assert select_from("*", query) == f"select * from (\n{without}\n)"


def test_a_query_that_can_not_be_read_is_left_to_spark():
    query = "select 'one; -- two"
    assert select_from("*", query) == f"select * from (\n{query}\n)"


def schema_by_name(query: str) -> StructType:
    """Answer as Spark does to a query that names a column by its table, orders."""
    if "from `orders`" not in query or query.count("`orders` as (") != 1:
        raise DbtDatabaseError("[UNRESOLVED_COLUMN] or [DUPLICATED_CTE_NAMES]")
    return StructType().add("amount", LongType())


def test_a_table_can_have_two_names_in_a_query_that_names_a_column_by_its_table():
    after = StructType().add("amount", LongType())
    names = {("sales", "orders"): after, ("orders",): after}
    query = "select orders.amount from sales.orders"
    assert analyse_with_types(query, names, schema_by_name)[1] == after
    others = {**names, ("shop", "orders"): StructType().add("amount", IntegerType())}
    with pytest.raises(DbtDatabaseError):
        analyse_with_types(query, others, schema_by_name)
