"""The next step that an error's text adds."""

import pytest

from dbt.adapters.deltawiden.spark.errors import error_text
from tests.unit.spark.java_errors import from_py4j

CHANGE_REFUSED = (
    "[DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP] ALTER TABLE CHANGE COLUMN is not supported for "
    "changing column amount from INT to BIGINT"
)


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        (CHANGE_REFUSED, "delta.enableTypeWidening = true"),
        (
            "[DELTA_CONFIGURE_SPARK_SESSION_WITH_EXTENSION_AND_CATALOG] This Delta operation "
            "requires the SparkSession to be configured with the DeltaSparkSessionExtension and "
            "the DeltaCatalog.",
            "spark.sql.extensions to io.delta.sql.DeltaSparkSessionExtension",
        ),
        (
            "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta. Make sure the provider "
            "name is correct and the package is properly registered. SQLSTATE: 42K02",
            "put the Delta jars on the driver's class path",
        ),
        (
            "[REQUIRES_SINGLE_PART_NAMESPACE] spark_catalog requires a single-part namespace, but "
            "got `lake`.`shop`. SQLSTATE: 42K05",
            "spark.sql.catalog.NAME",
        ),
        (
            "[REQUIRES_SINGLE_PART_NAMESPACE] spark_catalog requires a single-part namespace, but "
            "got `analytics`.`shop`. SQLSTATE: 42K05",
            "the configuration database, which dbt-spark ignores, remove that",
        ),
        (
            "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:/t/part-0. "
            "SQLSTATE: KD001",
            "restore table NAME to version as of N",
        ),
        (
            "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
            "file:/t/_delta_log/00000000000000000006.checkpoint.parquet. SQLSTATE: KD001",
            "move the checkpoint and _last_checkpoint out of the folder",
        ),
        (
            "[DELTA_MISSING_PART_FILES] Couldn't find all part files of the checkpoint version: 6",
            "Put it back from a backup",
        ),
        (
            "Job aborted due to stage failure: java.io.IOException: No space left on device",
            "Make room on it, and run again",
        ),
        (
            "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint Generated Column (day <=> "
            "CAST(at AS DATE)) violated by row with values:\n - day : 19724. SQLSTATE: 23001",
            "set spark.sql.session.timeZone to that time zone",
        ),
        (
            "java.io.FileNotFoundException: /t/_delta_log/1.json.tmp (Permission denied)",
            "correct the permissions, and run again",
        ),
        (
            "[DELTA_CANNOT_CREATE_LOG_PATH] Cannot create file:/t/_delta_log",
            "correct the permissions, and run again",
        ),
        (
            "Nested databases are not supported by v1 session catalog: lake.shop.",
            "not a catalog that Spark has",
        ),
        (
            'Cannot delete file where some, but not all, rows match filter (ref(name="at") >= 1 '
            'and ref(name="at") < 2): file:/lake/t/data/1.parquet',
            "partition_by: days(NAME)",
        ),
    ],
)
def test_a_condition_without_a_next_step_gets_one(message: str, advice: str):
    text = error_text(from_py4j(f"org.apache.spark.sql.AnalysisException: {message}"))
    shown, _, last = text.rpartition("\n")
    assert shown == message
    assert advice in last


def test_a_cause_without_a_next_step_gets_one():
    raw = from_py4j(
        "java.lang.RuntimeException: wrapped",
        f"org.apache.spark.sql.delta.DeltaAnalysisException: {CHANGE_REFUSED}",
    )
    assert "delta.enableTypeWidening = true" in error_text(raw)


def test_a_condition_that_spark_cannot_show_is_named():
    raw = "[INTERNAL_ERROR] Cannot find main error class 'DELTA_NEW' SQLSTATE: XX000"
    assert (
        error_text(raw) == "[DELTA_NEW] Delta refused the statement. Spark can't show its message."
    )


def test_a_char_column_in_the_condition_of_a_merge_is_explained():
    raw = (
        "[INTERNAL_ERROR] Cannot find main error class "
        "'DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT' SQLSTATE: XX000"
    )
    assert "uses a char column of the table" in error_text(raw)
