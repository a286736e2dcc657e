"""Which hooks can give a model's query other values."""

import pytest

from dbt.adapters.deltawiden.operations.audit.model_rows import settings_in


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("set spark.sql.session.timeZone=UTC", "spark.sql.session.timeZone"),
        ("{% if true %} SET TIME ZONE 'UTC' {% endif %}", "TIME ZONE"),
        ("set `spark.sql.legacy.timeParserPolicy`=LEGACY", "spark.sql.legacy.timeParserPolicy"),
        ("set -- a zone\n time /* of */ zone 'UTC'", "time /* of */ zone"),
        ("reset spark.sql.ansi.enabled", "spark.sql.ansi.enabled"),
        ("-- all\nRESET;", "RESET"),
        ("select 1 as reset", ""),
        ("set spark.sql.legacy.parquet.datetimeRebaseModeInWrite=CORRECTED", ""),
        ("set spark.sql.legacy.createHiveTableByDefault=false", ""),
        ("set spark.sql.shuffle.partitions=2", ""),
        ("update t set ansi = 1", ""),
    ],
)
def test_only_settings_that_a_query_depends_on_count(sql: str, found: str):
    assert settings_in([sql]) == found
