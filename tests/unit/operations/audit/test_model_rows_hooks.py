"""Which hooks can give a model's query other values."""

import pytest

from dbt.adapters.deltawiden.operations.audit.model_rows import settings_in_hooks

AT_START = {"resource_type": "operation", "tags": ["on-run-start"]}


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("set spark.sql.session.timeZone=UTC", "spark.sql.session.timeZone"),
        ("{% if true %} SET TIME ZONE 'UTC' {% endif %}", "TIME ZONE"),
        ("set `spark.sql.legacy.timeParserPolicy`=LEGACY", "spark.sql.legacy.timeParserPolicy"),
        ("set spark.sql.legacy.parquet.datetimeRebaseModeInWrite=CORRECTED", ""),
        ("set spark.sql.legacy.createHiveTableByDefault=false", ""),
        ("set spark.sql.shuffle.partitions=2", ""),
        ("update t set ansi = 1", ""),
    ],
)
def test_only_settings_that_a_query_depends_on_count(sql: str, found: str):
    node = {"config": {"pre-hook": [{"sql": sql}]}}
    assert settings_in_hooks(node, {"nodes": {}}) == found
    graph = {"nodes": {"operation.p.o": {**AT_START, "raw_code": sql}}}
    assert settings_in_hooks({"config": {}}, graph) == found
