"""The queries that a snapshot of a table runs, and the values that it reads."""

from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.protocol import may_have_computed_columns
from dbt.adapters.deltawiden.delta.table_snapshot import REDACTED, TableSnapshot
from dbt.adapters.deltawiden.sql.describe_parser import CHAR_VARCHAR_KEY
from tests.unit.delta.answers import COMMITS, Rows, answering, column, commit, schema_string
from tests.unit.schemas import DELTA_4_4, table_snapshot

PROPERTIES = "show tblproperties `s`.`t`"
DETAIL = "describe detail `s`.`t`"


def snapshot(*answers: Rows) -> tuple[TableSnapshot, list[str]]:
    fetch_rows, queries = answering(*answers)
    return TableSnapshot("`s`.`t`", lambda: DELTA_4_4, fetch_rows), queries


def detail(**values: Any) -> Rows:
    return [{"location": "/w/t", "partitionColumns": "[]", **values}]


@pytest.mark.parametrize(
    "feature", ["catalogManaged", "catalogOwned-preview", "coordinatedCommits-preview"]
)
def test_the_log_of_a_table_that_its_catalog_manages_is_not_read(feature: str):
    managed = [
        (f"delta.feature.{feature}", "supported"),
        ("delta.feature.typeWidening", "supported"),
    ]
    table, queries = snapshot(managed)
    for read in (lambda: table.changes, lambda: table.location, table.require_own_log):
        with pytest.raises(
            DbtRuntimeError, match=f"managed by its catalog .table feature {feature}"
        ):
            read()
    # What a model without such columns needs.
    assert table.widening_features == ["typeWidening"]
    assert table.defaults == frozenset()
    assert queries == [PROPERTIES]


def test_values_that_spark_hides_are_read_from_the_detail():
    hidden = [
        ("clusteringColumns", REDACTED),
        ("delta.constraints.c", REDACTED),
        ("delta.feature.clustering", "supported"),
    ]
    shown = detail(
        properties='{"delta.constraints.c": "token <> \'\'"}',
        clusteringColumns='["`a.b_url`", "s.`x``url`"]',
    )
    table, queries = snapshot(hidden, shown)
    assert table.constraints == {"c": "token <> ''"}
    assert table.clustering_columns == (("a.b_url",), ("s", "x`url"))
    assert table.features == {"clustering"}
    assert queries == [PROPERTIES, DETAIL]


def test_one_query_is_enough_for_a_table_without_computed_columns():
    listed = [
        ("delta.enableTypeWidening", "true"),
        ("delta.constraints.positive", "amount > 0"),
        ("delta.feature.typeWidening", "supported"),
        ("delta.feature.checkConstraints", "supported"),
        ("delta.minWriterVersion", "7"),
    ]
    table, queries = snapshot(listed)
    assert queries == []
    assert table.properties == {
        "delta.enableTypeWidening": "true",
        "delta.constraints.positive": "amount > 0",
        "delta.minWriterVersion": "7",
    }
    assert table.features == {"typeWidening", "checkConstraints"}
    assert (table.generation_expressions, table.identity, table.defaults) == ({}, set(), set())
    assert queries == [PROPERTIES]
    assert table.constraints == {"positive": "amount > 0"}


@pytest.mark.parametrize(
    ("listed", "expected"),
    [('["day", "my col"]', ("day", "my col")), (["day"], ("day",)), (None, ()), ("", ())],
)
def test_the_partition_columns_are_asked_for_where_they_are_wanted(listed, expected):
    table, queries = snapshot(detail(partitionColumns=listed))
    assert table.partition_columns == expected
    assert queries == [DETAIL]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ([], ()),
        ([("clusteringColumns", "[]")], ()),
        (
            [("clusteringColumns", '[["a"],["s","x"],["my.col"]]')],
            (("a",), ("s", "x"), ("my.col",)),
        ),
    ],
)
def test_the_clustering_columns_are_among_the_properties(listed, expected):
    table, queries = snapshot(listed)
    assert table.clustering_columns == expected
    assert table.properties == dict(listed)
    assert queries == [PROPERTIES]


def test_a_snapshot_with_other_clustering_columns_keeps_its_answers():
    table, queries = snapshot([("clusteringColumns", '[["a"]]')])
    assert table.clustering_columns == (("a",),)
    changed = table.with_clustering((("b",),))
    assert (table.clustering_columns, changed.clustering_columns) == ((("a",),), (("b",),))
    assert changed.properties == table.properties
    assert queries == [PROPERTIES]


@pytest.mark.parametrize(
    "listed",
    [
        [("delta.feature.generatedColumns", "supported")],
        [("delta.feature.identityColumns", "supported"), ("delta.minWriterVersion", "7")],
        [("delta.feature.allowColumnDefaults", "supported")],
        [("delta.minWriterVersion", "4")],
    ],
)
def test_the_log_is_read_if_the_table_can_have_computed_columns(listed):
    schema = schema_string(
        column("amount"),
        column("Tenfold", **{"delta.generationExpression": "amount * 10"}),
        column("Number", **{"delta.identity.start": 1}),
    )
    table, queries = snapshot(listed, detail(partitionColumns='["day"]'), commit(schema))
    assert (table.generation_expressions, table.identity) == (
        {"Tenfold": "amount * 10"},
        {"Number"},
    )
    assert table.generated_or_identity_columns == table.computed_columns == {"tenfold", "number"}
    assert table.partition_columns == ("day",)
    assert queries == [PROPERTIES, DETAIL, COMMITS.format("/w/t")]


def test_a_char_is_not_compared_with_its_expression_because_spark_pads_it():
    schema = schema_string(
        column("padded", **{"delta.generationExpression": "a", CHAR_VARCHAR_KEY: "char(3)"}),
        column("limited", **{"delta.generationExpression": "a", CHAR_VARCHAR_KEY: "varchar(3)"}),
    )
    listed = [("delta.feature.generatedColumns", "supported")]
    table, _ = snapshot(listed, detail(), commit(schema))
    assert list(table.generation_expressions) == ["padded", "limited"]
    assert list(table.comparable_expressions) == ["limited"]


@pytest.mark.parametrize(
    ("features", "writer", "expected"),
    [
        (set(), None, False),
        (set(), "2", False),
        (set(), "3", False),
        (set(), "4", True),
        (set(), "5", True),
        (set(), "6", True),
        (set(), "7", False),
        ({"typeWidening", "checkConstraints"}, "7", False),
        ({"generatedColumns"}, "7", True),
        ({"identityColumns"}, "7", True),
    ],
)
def test_the_protocol_shows_whether_a_table_can_have_computed_columns(
    features, writer, expected: bool
):
    properties = {"delta.minWriterVersion": writer} if writer else {}
    assert may_have_computed_columns(features, properties) is expected


def test_a_table_of_another_format_is_not_queried():
    fetch_rows, queries = answering()
    table = TableSnapshot("`s`.`t`", lambda: DELTA_4_4, fetch_rows, "parquet")
    assert (table.properties, table.features) == ({}, set())
    assert (table.partition_columns, table.clustering_columns, table.changes) == ((), (), ())
    assert table.files is None
    assert queries == []


def test_a_table_of_another_format_shows_its_defaults():
    shown = [("Id", "int", None), ("# Column Default Values", "", ""), ("Id", "int", "5")]
    fetch_rows, queries = answering(shown)
    table = TableSnapshot("`s`.`t`", lambda: DELTA_4_4, fetch_rows, "parquet")
    assert table.computed_columns == {"id"}
    assert queries == ["describe table `s`.`t`"]


def test_a_snapshot_with_more_properties_keeps_what_it_has_read():
    table, queries = snapshot([("a", "1"), ("b", "2")])
    changed = table.with_properties({"b": "3"})
    assert (table.properties["b"], changed.properties) == ("2", {"a": "1", "b": "3"})
    assert queries == [PROPERTIES]


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), ("True", True), ("false", False), ("", False)]
)
def test_a_table_has_a_property_if_its_value_is_true(value: str, expected: bool):
    assert (
        table_snapshot({"delta.enableTypeWidening": value}).has("delta.enableTypeWidening")
        is expected
    )
    assert not table_snapshot({}).has("delta.enableTypeWidening")
