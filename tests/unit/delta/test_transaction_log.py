"""What is asked of a server about a table and itself, and what is read from the answers."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.engine import Engine, read_engine
from dbt.adapters.deltawiden.delta.questions import may_have_made_columns, read_snapshot
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows, newest_schema
from tests.unit.schemas import DELTA_4_4

Rows = Sequence[Any]


def answering(*answers: Rows | DbtRuntimeError) -> tuple[FetchRows, list[str]]:
    """Answer one query after the other; the queries are kept in the list."""
    rest, queries = iter(answers), []

    def ask(query: str) -> Rows:
        queries.append(query)
        answer = next(rest)
        if isinstance(answer, DbtRuntimeError):
            raise answer
        return answer

    return ask, queries


def column(name: str, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "type": "integer", "nullable": True, "metadata": metadata}


def schema_string(*columns: dict[str, Any]) -> str:
    return json.dumps({"type": "struct", "fields": columns})


def commit(schema: str) -> Rows:
    return [(json.dumps({"metaData": {"id": "x", "schemaString": schema}}),)]


COMMITS = (
    "select value from text.`{}/_delta_log/*.json` "
    "where ltrim(value) like '{{\"metaData\"%' order by _metadata.file_name desc limit 1"
)
CHECKPOINTS = (
    "select metaData.schemaString from parquet.`{}/_delta_log/*.checkpoint*.parquet` "
    "where metaData is not null order by _metadata.file_name desc limit 1"
)


# The log


def test_the_newest_commit_with_metadata_has_the_schema():
    ask, queries = answering(commit(schema_string(column("größe"))))
    assert newest_schema("file:/w/t", ask) == schema_string(column("größe"))
    assert queries == [COMMITS.format("file:/w/t")]


def test_a_checkpoint_is_read_only_where_no_commit_has_metadata():
    ask, queries = answering([], [(schema_string(column("a")),)])
    assert newest_schema("file:/w/t", ask) == schema_string(column("a"))
    assert queries == [COMMITS.format("file:/w/t"), CHECKPOINTS.format("file:/w/t")]


def test_a_log_without_a_schema_is_an_error_that_says_where():
    ask, queries = answering([], [])
    with pytest.raises(DbtRuntimeError, match="no schema in the Delta log of s3a://b/t"):
        newest_schema("s3a://b/t", ask)
    assert len(queries) == 2


@pytest.mark.parametrize(
    ("location", "folder"),
    [
        ("file:/w/t", "file:/w/t"),
        ("s3a://b/t/", "s3a://b/t"),
        ("/w/my t", "/w/my t"),
        ("/w/t'--%20$1,^#\"", "/w/t'--%20$1,^#\""),
        ("/w/größe🙂", "/w/größe🙂"),
        ("/w/[t]", r"/w/\[t\]"),
        ("/w/{a,b}", r"/w/\{a,b\}"),
        ("/w/*?", r"/w/\*\?"),
        ("/w/a\\b", r"/w/a\\b"),
        ("/w/a`b", "/w/a``b"),
        ("/w/`[`", r"/w/``\[``"),
    ],
)
def test_the_files_are_those_of_the_table_whatever_its_path(location: str, folder: str):
    ask, queries = answering([], [(schema_string(),)])
    newest_schema(location, ask)
    assert queries == [COMMITS.format(folder), CHECKPOINTS.format(folder)]


# The facts of a table

PROPERTIES = "show tblproperties `s`.`t`"
DETAIL = "describe detail `s`.`t`"


def read(*answers: Rows, layout: bool = False) -> tuple[TableSnapshot, list[str]]:
    ask, queries = answering(*answers)
    return read_snapshot("`s`.`t`", DELTA_4_4, ask, layout), queries


def detail(**values: Any) -> Rows:
    return [{"location": "/w/t", "partitionColumns": "[]", "clusteringColumns": "[]", **values}]


def test_one_question_is_enough_for_a_table_without_columns_that_delta_makes():
    listed = [
        ("delta.enableTypeWidening", "true"),
        ("delta.constraints.positive", "amount > 0"),
        ("delta.feature.typeWidening", "supported"),
        ("delta.feature.checkConstraints", "supported"),
        ("delta.minWriterVersion", "7"),
    ]
    facts, queries = read(listed)
    assert queries == [PROPERTIES]
    assert facts == TableSnapshot(
        name="`s`.`t`",
        engine=DELTA_4_4,
        properties={
            "delta.enableTypeWidening": "true",
            "delta.constraints.positive": "amount > 0",
            "delta.minWriterVersion": "7",
        },
        features=frozenset({"typeWidening", "checkConstraints"}),
    )
    assert facts.constraints == {"positive": "amount > 0"}


@pytest.mark.parametrize(
    ("partition", "clustering", "expected"),
    [
        ('["day", "my col"]', "[]", (("day", "my col"), ())),
        (["day"], ["a"], (("day",), ("a",))),
        (None, None, ((), ())),
        ("", '["s"]', ((), ("s",))),
    ],
)
def test_the_layout_is_asked_for_where_it_is_wanted(partition, clustering, expected):
    of_table = detail(partitionColumns=partition, clusteringColumns=clustering)
    facts, queries = read([], of_table, layout=True)
    assert queries == [PROPERTIES, DETAIL]
    assert (facts.partition_columns, facts.clustering_columns) == expected


def test_the_layout_of_a_delta_that_knows_no_clustering_is_read():
    facts, _ = read([], [{"location": "/w/t", "partitionColumns": '["day"]'}], layout=True)
    assert (facts.partition_columns, facts.clustering_columns) == (("day",), ())


@pytest.mark.parametrize("layout", [True, False])
@pytest.mark.parametrize(
    "listed",
    [
        [("delta.feature.generatedColumns", "supported")],
        [("delta.feature.identityColumns", "supported"), ("delta.minWriterVersion", "7")],
        [("delta.feature.allowColumnDefaults", "supported")],
        [("delta.minWriterVersion", "4")],
    ],
)
def test_the_log_is_asked_where_the_table_can_have_columns_that_delta_makes(listed, layout: bool):
    schema = schema_string(
        column("amount"),
        column("Tenfold", **{"delta.generationExpression": "amount * 10"}),
        column("Number", **{"delta.identity.start": 1}),
    )
    facts, queries = read(listed, detail(partitionColumns='["day"]'), commit(schema), layout=layout)
    assert queries == [PROPERTIES, DETAIL, COMMITS.format("/w/t")]
    assert (facts.generated, facts.identity) == ({"Tenfold": "amount * 10"}, {"Number"})
    assert facts.computed == facts.computed_columns == {"tenfold", "number"}
    assert facts.partition_columns == ("day",)


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
def test_a_protocol_says_whether_delta_can_make_columns(features, writer, expected: bool):
    properties = {"delta.minWriterVersion": writer} if writer else {}
    assert may_have_made_columns(features, properties) is expected


# The server

SPARK = "select version()"
DELTA = "select java_method('io.delta.package', 'VERSION')"


def test_a_server_is_asked_for_both_versions():
    ask, queries = answering([("4.1.4 45b9b176e6e2",)], [("4.4.0",)])
    assert read_engine(ask) == Engine(spark=(4, 1, 4), delta=(4, 4, 0))
    assert queries == [SPARK, DELTA]


def test_where_the_profile_says_which_delta_it_is_only_spark_is_asked():
    ask, queries = answering([("3.5.9",)])
    assert read_engine(ask, "3.3.3-rc1") == Engine(spark=(3, 5, 9), delta=(3, 3, 3))
    assert queries == [SPARK]


def test_a_server_that_does_not_say_which_delta_it_runs_needs_the_setting():
    refused = DbtRuntimeError("java_method is not allowed")
    ask, _ = answering([("4.1.4",)], refused)
    with pytest.raises(DbtRuntimeError) as error:
        read_engine(ask)
    assert "set delta_version in the profile" in error.value.msg
    assert "java_method is not allowed" in error.value.msg
    assert error.value.__cause__ is refused


def test_another_error_of_the_server_is_not_taken_for_a_missing_setting():
    refused = DbtRuntimeError("connection lost")
    ask, _ = answering(refused)
    with pytest.raises(DbtRuntimeError) as error:
        read_engine(ask)
    assert error.value is refused
