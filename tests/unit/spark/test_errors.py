"""The text of an error of Spark or Delta, as users read it."""

import pytest

from dbt.adapters.deltawiden.spark.errors import condition, error_text, has_java_stack, whole_text
from tests.unit.spark.java_errors import OVERFLOW, STACK, Captured, from_py4j


def test_a_java_error_becomes_its_condition_and_message():
    raw = from_py4j(f"org.apache.spark.sql.delta.DeltaAnalysisException: {OVERFLOW}")
    assert error_text(raw) == OVERFLOW


def test_an_exception_is_read_like_its_text():
    raw = from_py4j(f"org.apache.spark.SparkArithmeticException: {OVERFLOW}")
    assert error_text(RuntimeError(raw)) == OVERFLOW


def test_a_message_of_several_lines_is_kept_whole():
    message = (
        "[DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD] Dropping typeWidening was partially "
        "successful.\n\nThe feature is now no longer used in the current version of the table.\n"
        "  ALTER TABLE table_name DROP FEATURE feature_name TRUNCATE HISTORY"
    )
    raw = from_py4j(f"org.apache.spark.sql.delta.DeltaTableFeatureException: {message}")
    assert error_text(raw) == message


WRITE_FAILED = (
    "[TASK_WRITE_FAILED] Task failed while writing rows to file:/tmp/warehouse/t. SQLSTATE: 58030"
)
JOB_ABORTED = (
    "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: "
    "Lost task 0.0 in stage 3.0 (TID 3) (127.0.0.1 executor driver): "
    f"org.apache.spark.SparkException: {WRITE_FAILED}"
)


@pytest.mark.parametrize(
    ("first", "causes", "text"),
    [
        (
            f"org.apache.spark.SparkException: {WRITE_FAILED}",
            [f"org.apache.spark.SparkArithmeticException: {OVERFLOW}"],
            OVERFLOW,
        ),
        (
            "java.util.concurrent.ExecutionException: Boxed Exception",
            [
                f"org.apache.spark.SparkException: {WRITE_FAILED}",
                f"org.apache.spark.SparkArithmeticException: {OVERFLOW}",
            ],
            f"Boxed Exception\nCaused by: {OVERFLOW}",
        ),
        (
            f"org.apache.spark.SparkException: {JOB_ABORTED}",
            [f"org.apache.spark.SparkException: {WRITE_FAILED}", "java.io.IOException: disk full"],
            f"{JOB_ABORTED}\nCaused by: disk full",
        ),
        (
            f"org.apache.spark.SparkArithmeticException: {OVERFLOW}",
            [f"org.apache.spark.SparkArithmeticException: {OVERFLOW}"],
            OVERFLOW,
        ),
        (
            f"org.apache.spark.SparkException: {WRITE_FAILED}",
            [
                f"org.apache.spark.SparkArithmeticException: {OVERFLOW}",
                "java.io.IOException: Input/output error",
            ],
            f"{OVERFLOW}\nCaused by: Input/output error",
        ),
        (
            f"org.apache.spark.SparkException: {WRITE_FAILED}",
            ["java.io.IOException: Input/output error"],
            f"{WRITE_FAILED}\nCaused by: Input/output error",
        ),
    ],
)
def test_the_deepest_causes_follow_if_they_say_more(first, causes, text):
    assert error_text(from_py4j(first, *causes)) == text


FIRST_FRAMES = [
    "org.apache.spark.SparkContext.assertNotStopped(SparkContext.scala:122)",
    "org.apache.spark.SparkContext.<init>(SparkContext.scala:426)",
    "java.base/java.util.concurrent.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:642)",
    "app//org.apache.spark.deploy.SparkSubmit$$anon$2.<init>(SparkSubmit.scala:1018)",
    "org.apache.spark.sql.classic.Dataset$.$anonfun$ofRows$5(Dataset.scala:139)",
    "jdk.proxy2/jdk.proxy2.$Proxy42.get_table_req(Unknown Source)",
]


@pytest.mark.parametrize("frame", FIRST_FRAMES)
def test_no_line_of_a_java_stack_is_left(frame: str):
    raw = (
        "An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.\n"
        ": org.apache.spark.SparkException: A master URL must be set in your configuration\n"
        f"\tat {frame}{STACK}"
    )
    assert error_text(raw) == "A master URL must be set in your configuration"


@pytest.mark.parametrize("frame", FIRST_FRAMES)
def test_no_line_of_the_stack_of_a_cause_is_left(frame: str):
    raw = from_py4j("java.lang.RuntimeException: wrapped").rstrip()
    raw += f"\nCaused by: org.apache.spark.SparkException: {OVERFLOW}\n\tat {frame}{STACK}"
    assert error_text(raw) == f"wrapped\nCaused by: {OVERFLOW}"


def test_the_stack_that_pyspark_adds_by_itself_is_left_out():
    raw = f"{OVERFLOW}\n\nJVM stacktrace:\norg.apache.spark.SparkArithmeticException{STACK}"
    assert error_text(raw) == OVERFLOW


UNRESOLVED = (
    "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name "
    "`amuont` cannot be resolved. Did you mean one of the following? [`amount`, `id`]. "
    "SQLSTATE: 42703; line 1 pos 7"
)


@pytest.mark.parametrize(
    "logical_plan",
    [
        "'Project ['amuont]\n+- SubqueryAlias default.t\n   +- Relation [id#1] parquet",
        "Project [id#1]\n+- OneRowRelation",
        "+- 'UnresolvedRelation [t], [], false",
        ":- LocalRelation [id#1]\n+- LocalRelation [id#2]",
    ],
)
def test_the_logical_plan_after_a_message_is_left_out(logical_plan: str):
    assert error_text(f"{UNRESOLVED};\n{logical_plan}\n") == UNRESOLVED


@pytest.mark.parametrize(
    "message",
    [
        "no such thing",
        "'x' is no number; try another",
        "[SOMETHING_ELSE] first line;\nthen a second one, in lower case",
        "met at the station (platform 3)",
    ],
)
def test_a_message_without_java_stays_as_it_is(message: str):
    assert error_text(message) == message


@pytest.mark.parametrize("before", ["[CAST_OVERFLOW_IN_TABLE_INSERT] ", ""])
def test_the_prefix_of_a_thrift_server_is_left_out(before: str):
    raw = (
        f"org.apache.hive.service.cli.HiveSQLException: Error running query: {before}"
        f"org.apache.spark.SparkArithmeticException: {OVERFLOW}{STACK}"
    )
    assert error_text(raw) == OVERFLOW


def test_a_stack_that_is_in_the_text_already_is_not_added_again():
    error = Captured(OVERFLOW + STACK)
    error._stackTrace = STACK
    assert whole_text(error) == OVERFLOW + STACK


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (OVERFLOW, "CAST_OVERFLOW_IN_TABLE_INSERT"),
        (UNRESOLVED, "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("wrapped\nCaused by: " + OVERFLOW, "CAST_OVERFLOW_IN_TABLE_INSERT"),
        ("[CANNOT_UPDATE_FIELD.STRUCT_TYPE] x", "CANNOT_UPDATE_FIELD.STRUCT_TYPE"),
        ("an array[int] and [`a`, `b`]", None),
        ("", None),
    ],
)
def test_the_condition_of_a_text_is_found(text: str, found: str | None):
    assert condition(text) == found


def test_a_java_stack_is_recognized():
    assert has_java_stack("Query failed\n\tat org.apache.Spark$.run(Spark.scala:1)")
    assert not has_java_stack("[PARSE_SYNTAX_ERROR] Syntax error at or near 'limit'")


def test_the_error_of_a_checked_value_is_shown_without_the_text_around_it():
    sentence = (
        "The model m has the value a\nb (string) for the column c of `t`. Nothing was written."
    )
    raw = (
        "An error occurred while calling o1.sql.\n: org.apache.spark.SparkException: "
        "[TASK_WRITE_FAILED] Task failed while writing rows to file:/t. SQLSTATE: 58030\n"
        "\tat org.apache.spark.A.b(C.scala:1)\nCaused by: org.apache.spark.SparkRuntimeException: "
        f"[USER_RAISED_EXCEPTION] [LOSSY_VALUE] {sentence} SQLSTATE: P0001\n\tat x.Y.z(W.java:2)"
    )
    first, *rest = error_text(raw).rsplit("\n", 1)
    assert first == f"[LOSSY_VALUE] {sentence}"
    assert rest[0].startswith("Do one of these: (1) To store such values, set on_schema_change")


def test_an_error_that_shows_the_statement_is_not_taken_for_one_that_the_statement_raises():
    raw = (
        "[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'. SQLSTATE: 42601 (line 3, pos 9)\n\n"
        "== SQL ==\nselect * from v where assert_true(typeof(a) = typeof(b), "
        "'[TABLE_TYPES_CHANGED] Another writer has changed the types of t. Nothing was written.')"
    )
    assert error_text(raw).startswith("[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'.")


@pytest.mark.parametrize(
    "before",
    [
        "[USER_RAISED_EXCEPTION] ",
        "java.lang.RuntimeException: ",  # Spark 3.5
        "(java.lang.RuntimeException) ",  # Spark 3.5, Spark Connect
        "",
    ],
)
def test_an_error_that_the_statement_raises_is_found_on_each_version(before):
    raised = "[TABLE_TYPES_CHANGED] Another writer has changed the types. Nothing was written."
    assert error_text(f"{before}{raised} SQLSTATE: P0001").splitlines()[0] == raised


def test_the_error_of_a_text_that_is_too_long_says_that_nothing_was_written():
    too_long = (
        '[DELTA_EXCEED_CHAR_VARCHAR_LIMIT] Value "a\nbcdef" exceeds char/varchar type length '
        "limitation. Failed check: ((c IS NULL) OR (length(c) <= 5))."
    )
    raw = (
        "[DELTA_REPLACE_WHERE_MISMATCH] Written data does not conform to partial table overwrite "
        f"condition or constraint '(id > 0)'.\n{too_long}\n\tat x.Y.z(W.java:2)"
    )
    first, rest = error_text(raw).rsplit("\n", 1)
    assert first == f"{too_long} Nothing was written."
    assert "a greater length" in rest
