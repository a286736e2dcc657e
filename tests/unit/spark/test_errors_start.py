"""The text of a failure to start Spark's JVM."""

import pytest

from dbt.adapters.deltawiden.spark.errors import java_major, start_failure_text

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


def test_the_error_without_java_says_what_to_install():
    text = start_failure_text("", None, 17)
    assert "no Java was found" in text
    assert "Java 17 or newer" in text
    assert "openjdk-17-jre-headless" in text
    assert "JAVA_HOME" in text


@pytest.mark.parametrize("version", ["11.0.22", "1.8.0_402"])
def test_the_error_of_an_old_java_shows_its_version(version: str):
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
    assert "-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT" in text
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
def test_any_other_failure_shows_the_message_of_the_launcher(log: str, reason: str):
    text = start_failure_text(log, "17.0.15", 17)
    assert text.startswith("Spark's JVM did not start: ")
    assert reason in text
    assert "\tat " not in text


@pytest.mark.parametrize(
    "line",
    [
        "java.lang.IllegalArgumentException: basedir must be absolute: ?/.ivy2.5.2/local",
        "java.io.FileNotFoundException: /home/a b/.ivy2.5.2/cache/resolved-org.apache.spark-spark-"
        "submit-parent-1.0.xml (Permission denied)",
        "java.io.FileNotFoundException: /ivy/cache/resolved-org.apache.spark-spark-submit-parent-"
        "1.0.xml (Read-only file system)",
    ],
)
def test_a_folder_for_jars_that_cannot_be_written_is_named(line: str):
    log = f'Exception in thread "main" {line}\n\tat org.apache.ivy.Ivy.main(Ivy.java:1)\n'
    assert start_failure_text(log, "17", 17) == (
        f"Spark can't store the jars that it downloads: {line.partition(': ')[2]}. Set "
        "spark.jars.ivy in the profile's server_side_parameters to a folder that dbt may write to."
    )


def test_the_options_that_java_picks_up_are_no_reason():
    picked = "Picked up JAVA_TOOL_OPTIONS: -XX:+ExitOnOutOfMemoryError -Dx=y\n"
    picked += "NOTE: Picked up JDK_JAVA_OPTIONS: -Derror=1\n"
    text = start_failure_text(f"{picked}Unrecognized VM option 'Xy'\nError: no JVM", "17", 17)
    assert text == "Spark's JVM did not start: Error: no JVM"
    assert start_failure_text(picked, "17", 17).endswith("it printed nothing")


def test_a_java_of_an_unknown_version_is_not_called_too_old():
    assert "too old" not in start_failure_text("Error: no luck", "unknown", 17)
    assert "Error: no luck" in start_failure_text("Error: no luck", "unknown", 17)


def test_the_error_says_that_a_launcher_printed_nothing():
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
