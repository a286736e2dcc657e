"""What is left of an error of Spark or Delta for the person who reads it."""

import pytest

from dbt.adapters.deltawiden.spark.errors import (
    condition,
    error_text,
    has_java_stack,
    java_major,
    start_failure_text,
    whole_text,
)

STACK = """
\tat org.apache.spark.sql.delta.DeltaErrorsBase.alterTableChangeColumnException(DeltaErrors.scala:838)
\tat org.apache.spark.sql.delta.DeltaErrorsBase.alterTableChangeColumnException$(DeltaErrors.scala:833)
\tat org.apache.spark.sql.delta.commands.AlterTableChangeColumnDeltaCommand.$anonfun$run$1(alterDeltaTableCommands.scala:901)
\tat scala.collection.immutable.List.foreach(List.scala:334)
\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:103)
\tat org.apache.spark.sql.classic.SparkSession$$Lambda/0x00007f2c0c9a4a08.apply(Unknown Source)
\tat py4j.ClientServerConnection.run(ClientServerConnection.java:108)
\tat java.base/java.lang.Thread.run(Thread.java:1583)
"""  # noqa: E501

CHANGE_REFUSED = (
    "[DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP] ALTER TABLE CHANGE COLUMN is not supported for "
    "changing column amount from INT to BIGINT"
)
OVERFLOW = (
    '[CAST_OVERFLOW_IN_TABLE_INSERT] Fail to assign a value of "BIGINT" type to the "INT" type '
    "column or variable `v` due to an overflow. Use `try_cast` on the input value to tolerate "
    "overflow and return NULL instead. SQLSTATE: 22003"
)


def from_py4j(first: str, *causes: str) -> str:
    """The text of a Py4JJavaError, as PySpark raises it."""
    stacks = [f"{first}{STACK.rstrip()}"]
    stacks += [f"Caused by: {cause}{STACK.rstrip()}\n\t... 24 more" for cause in causes]
    return "An error occurred while calling o55.sql.\n: " + "\n".join(stacks) + "\n"


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
                "java.io.IOException: No space left on device",
            ],
            f"{OVERFLOW}\nCaused by: No space left on device",
        ),
        (
            f"org.apache.spark.SparkException: {WRITE_FAILED}",
            ["java.io.IOException: No space left on device"],
            f"{WRITE_FAILED}\nCaused by: No space left on device",
        ),
    ],
)
def test_the_deepest_causes_are_told_where_they_say_more(first, causes, text):
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
def test_a_message_without_java_in_it_is_kept_as_it_is(message: str):
    assert error_text(message) == message


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
    ],
)
def test_a_condition_that_leaves_no_next_step_gets_one(message: str, advice: str):
    text = error_text(from_py4j(f"org.apache.spark.sql.AnalysisException: {message}"))
    first, second = text.split("\n")
    assert first == message
    assert advice in second


def test_a_cause_that_leaves_no_next_step_gets_one():
    raw = from_py4j(
        "java.lang.RuntimeException: wrapped",
        f"org.apache.spark.sql.delta.DeltaAnalysisException: {CHANGE_REFUSED}",
    )
    assert "delta.enableTypeWidening = true" in error_text(raw)


HIVE = (
    "org.apache.hadoop.hive.ql.metadata.HiveException: java.lang.RuntimeException: Unable to "
    "instantiate org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient"
)
UNTOLD = (
    "ERROR XJ040: Failed to start database 'metastore_db' with class loader "
    "jdk.internal.loader.ClassLoaders$AppClassLoader@5ffd2b27, see the next exception for details."
)
LOCKED = "Another instance of Derby may have already booted the database /home/anna/metastore_db."
HALF_MADE = (
    "The database directory '/home/anna/metastore_db' exists. However, it does not contain the "
    "expected 'service.properties' file. Perhaps Derby was brought down in the middle of creating "
    "this database."
)


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (
            f"ERROR XSDB6: {LOCKED}",
            "The embedded metastore (/home/anna/metastore_db) is in use by another process: wait "
            "for the other dbt run to end, or use a metastore server.",
        ),
        (
            f"ERROR XBM0A: {HALF_MADE}",
            "The embedded metastore (/home/anna/metastore_db) has no service.properties: the "
            "process that began to make it was stopped before any table was in it. Delete that "
            "folder, and run again.",
        ),
        (
            "java.net.ConnectException: Connection refused",
            "Spark can't open its Hive metastore: Connection refused. Where it is, "
            "spark.hadoop.hive.metastore.uris in the server_side_parameters says, or "
            "hive-site.xml.",
        ),
    ],
)
def test_a_metastore_that_can_not_be_opened_is_told_with_its_reason(cause: str, told: str):
    raw = from_py4j(HIVE, "java.lang.reflect.InvocationTargetException", UNTOLD, cause)
    assert error_text(raw) == told


def test_a_locked_derby_metastore_is_told_whoever_has_opened_it():
    assert "is in use by another process" in error_text(from_py4j(f"{UNTOLD}\n{LOCKED}"))


class Captured(Exception):
    """An exception of PySpark's, which has the causes in an attribute of its own."""


@pytest.mark.parametrize("attribute", ["_stackTrace", "stackTrace"])
def test_the_causes_that_pyspark_keeps_apart_are_read(attribute: str):
    error = Captured(HIVE)
    stack = from_py4j(HIVE, f"ERROR XSDB6: {LOCKED}")
    setattr(error, attribute, stack)
    assert "is in use by another process" in error_text(error)
    assert whole_text(error).startswith(HIVE)
    assert whole_text(error).endswith(stack)


@pytest.mark.parametrize("before", ["[CAST_OVERFLOW_IN_TABLE_INSERT] ", ""])
def test_what_a_thrift_server_puts_before_a_message_is_left_out(before: str):
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


# Spark that does not start

UNRESOLVED_JARS = """\
:: loading settings :: url = jar:file:/venv/pyspark/jars/ivy-2.5.3.jar!/org/apache/ivy/core/ivysettings.xml
Ivy Default Cache set to: /home/anna/.ivy2.5.2/cache
io.delta#delta-spark_4.1_2.13 added as a dependency
com.example#other_2.13 added as a dependency
\t\t:: problems summary ::
:::: WARNINGS
\t\tmodule not found: io.delta#delta-spark_4.1_2.13;4.4.1
\t\t::::::::::::::::::::::::::::::::::::::::::::::
\t\t::          UNRESOLVED DEPENDENCIES         ::
\t\t::::::::::::::::::::::::::::::::::::::::::::::
\t\t:: io.delta#delta-spark_4.1_2.13;4.4.1: not found
Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: io.delta#delta-spark_4.1_2.13;4.4.1: not found, unresolved dependency: com.example#other_2.13;1.0: not found]
\tat org.apache.spark.util.MavenUtils$.resolveMavenCoordinates(MavenUtils.scala:541)
\tat org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)
"""  # noqa: E501


def test_a_machine_without_java_is_told_to_install_one():
    text = start_failure_text("", None, 17)
    assert "no Java was found" in text
    assert "Java 17 or newer" in text
    assert "openjdk-17-jre-headless" in text
    assert "JAVA_HOME" in text


@pytest.mark.parametrize("version", ["11.0.22", "1.8.0_402"])
def test_a_java_too_old_is_told_with_its_version(version: str):
    log = (
        "Error: LinkageError occurred while loading main class "
        "org.apache.spark.launcher.Main\n\tjava.lang.UnsupportedClassVersionError: "
        "org/apache/spark/launcher/Main has been compiled by a more recent version of the Java "
        "Runtime (class file version 61.0)"
    )
    text = start_failure_text(log, version, 17)
    assert f"the Java that was found is {version}" in text
    assert "Java 17 or newer" in text


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_jars_that_maven_central_lacks_are_named(version: str):
    text = start_failure_text(UNRESOLVED_JARS, version, 17)
    assert "io.delta:delta-spark_4.1_2.13:4.4.1, com.example:other_2.13:1.0." in text
    assert text.count("delta-spark_4.1_2.13") == 1
    assert "spark.jars.packages" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            "WARNING: Using incubator modules: jdk.incubator.vector\n"
            'Exception in thread "main" org.apache.spark.SparkException: When running with master '
            "'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the environment.\n"
            "\tat org.apache.spark.deploy.SparkSubmitArguments.error(SparkSubmitArguments.scala)",
            "either HADOOP_CONF_DIR or YARN_CONF_DIR must be set",
        ),
        (
            "Error: Could not find or load main class org.apache.spark.launcher.Main\n",
            "Could not find or load main class",
        ),
        (
            "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x00007f0a00000000, "
            "68719476736, 0) failed; error='Not enough space' (errno=12)\n"
            "#\n# There is insufficient memory for the Java Runtime Environment to continue.\n",
            "Not enough space",
        ),
        (
            "/venv/pyspark/bin/spark-class: line 71: /opt/jdk/bin/java: Permission denied\n",
            "denied",
        ),
    ],
)
def test_any_other_failure_is_told_in_the_words_of_the_launcher(log: str, reason: str):
    text = start_failure_text(log, "17.0.15", 17)
    assert text.startswith("Spark's JVM did not start: ")
    assert reason in text
    assert "\tat " not in text


def test_a_java_of_an_unknown_version_is_not_called_too_old():
    assert "too old" not in start_failure_text("Error: no luck", "unknown", 17)
    assert "Error: no luck" in start_failure_text("Error: no luck", "unknown", 17)


def test_a_launcher_that_printed_nothing_is_said_to_have_printed_nothing():
    assert start_failure_text(" \n", "17", 17) == ("Spark's JVM did not start: it printed nothing")


@pytest.mark.parametrize(
    ("version", "major"),
    [
        ("17.0.15", 17),
        ("1.8.0_402", 8),
        ("21", 21),
        ("9-ea", 9),
        ("11.0.22+7", 11),
        ("unknown", None),
        ("", None),
    ],
)
def test_the_major_version_of_a_java_is_read(version: str, major: int | None):
    assert java_major(version) == major


def test_a_java_stack_is_told_from_a_message():
    assert has_java_stack("Query failed\n\tat org.apache.Spark$.run(Spark.scala:1)")
    assert not has_java_stack("[PARSE_SYNTAX_ERROR] Syntax error at or near 'limit'")


def test_a_value_that_was_checked_is_told_as_it_is_whatever_stands_around_it():
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
    assert first == sentence
    assert rest[0].startswith("Cast the column in the model")


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
