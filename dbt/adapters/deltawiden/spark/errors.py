"""Reduce errors of Spark and Delta to the error condition and its message, without a Java stack."""

import re
from collections.abc import Mapping, Sequence

from dbt.adapters.deltawiden.sql.raised_errors import END_OF_MESSAGE, REMEDIES

TIMED_OUT = "Query exceeded timeout of"
"""The text of dbt-spark's error for ``query_timeout``."""

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
_JAVA_STACK = re.compile(r"\n\s*at [\w.$/<>]+\(.*|\n+JVM stacktrace:.*", re.DOTALL)
_PY4J_PREFIX = re.compile(r"\AAn error occurred while calling [^\n]*\n:\s*")
# A Thrift server repeats the error condition before the class. The message contains it, too.
_THRIFT_PREFIX = re.compile(
    r"\A(?:[\w.]+\.HiveSQLException: )?Error running query: (?:\[[A-Z0-9_.]+\] )?"
)
_EXCEPTION_CLASS = re.compile(r"\A(?:[a-z][\w]*\.)+[A-Z][\w$.]*(?:Exception|Error)?:\s*")
_CAUSED_BY = re.compile(r"^\s*Caused by: (.*?)(?=\n\s*at |\n\s*\.\.\. \d+ more|\Z)", re.M | re.S)
_LOGICAL_PLAN = re.compile(r";\n(?='|\+- |:- |[A-Z]\w+ ).*", re.DOTALL)

UNKNOWN_CATALOG = (
    "The first part of the name is not a catalog that Spark has. Correct it, or name the catalog's "
    "class in server_side_parameters: spark.sql.catalog.NAME. If it is from the configuration "
    "database, which dbt-spark ignores, remove that."
)
"""What to do if a name is in a catalog that Spark does not have."""
# Spark's message for the same mistake in SHOW TABLES, which has no condition.
_NESTED_DATABASES = "Nested databases are not supported by v1 session catalog"

_DAMAGED_FILE = (
    "If the file is damaged or missing, build the table again (for a dbt model: dbt run "
    "--full-refresh --select NAME), or go back to a version from before the file was written: "
    "describe history NAME shows the versions, restore table NAME to version as of N goes back."
)
_DAMAGED_LOG = (
    "A file of the table's transaction log, the folder _delta_log, is damaged or missing. Put it "
    "back from a backup. If it is a checkpoint, and each commit (.json) since an older checkpoint "
    "or since version 0 is there, move the checkpoint and _last_checkpoint out of the folder: "
    "Delta reads the commits then. If nothing helps, drop the table and build it again."
)
_FULL_DISK = (
    "A disk is full: that of the table, or that of spark.local.dir (Spark's temporary files). Make "
    "room on it, and run again."
)
_NOT_PERMITTED = (
    "The user that Spark runs as has to be able to write there: correct the permissions, and run "
    "again."
)
# Iceberg deletes no file of which a condition selects some rows, or that may have other rows too.
_OF_ONE_FILE = "Cannot delete file where some, but not all, rows match filter"
_OF_ONE_FILE_ADVICE = (
    "Iceberg replaces whole files, and this file also has, or may have, rows of other batches. No "
    "row was written or deleted. Partition the table by the event_time, in parts that are no "
    "larger than batch_size and in UTC, for example partition_by: days(NAME), and build it again: "
    "dbt run --full-refresh --select NAME."
)
_OF_GENERATED = "CHECK constraint Generated Column"
_OF_GENERATED_ADVICE = (
    "A generated column must have the value that its expression has in this session. Another "
    "session can have written a row of the same files in another time zone: then set "
    "spark.sql.session.timeZone to that time zone. If the model selects the column, select its "
    "expression, or leave the column out: Delta then computes it."
)
_NO_SPACE, _DENIED = "No space left on device", "(Permission denied)"
_IN_LOG = re.compile(r"reading file \S*/_delta_log/")

# Advice for conditions whose message does not say what to do next.
_ADVICE: Mapping[str, str] = {
    "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP": (
        "Delta makes this change only on a table with delta.enableTypeWidening = true, and only "
        "where its type widening permits it."
    ),
    "DELTA_CONFIGURE_SPARK_SESSION_WITH_EXTENSION_AND_CATALOG": (
        "This Spark has no Delta wired in: set spark.sql.extensions to "
        "io.delta.sql.DeltaSparkSessionExtension and spark.sql.catalog.spark_catalog to "
        "org.apache.spark.sql.delta.catalog.DeltaCatalog."
    ),
    "CANNOT_UP_CAST_DATATYPE": (
        "A view that is read here was created before a table became wider: create the view again, "
        "for a dbt model by dbt run --select NAME."
    ),
    "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE": (
        "Delta never gives partitions to a table that is clustered, or that was clustered before: "
        "drop the table, then run again; or use liquid_clustered_by instead of partition_by."
    ),
    "DELTA_CLUSTERING_COLUMN_MISSING_STATS": (
        "Delta collects statistics for the first 32 columns of a table: select the column earlier "
        "in the model, or list all columns that need statistics in the table property "
        "delta.dataSkippingStatsColumns (tblproperties)."
    ),
    "DELTA_CANNOT_MODIFY_APPEND_ONLY": (
        "Also remove delta.appendOnly from the model's tblproperties: a run would set it again."
    ),
    "REQUIRES_SINGLE_PART_NAMESPACE": UNKNOWN_CATALOG,
    "DELTA_CANNOT_CREATE_LOG_PATH": _NOT_PERMITTED,
    "DELTA_LOG_FILE_NOT_FOUND": _DAMAGED_LOG,
    "DELTA_MISSING_PART_FILES": _DAMAGED_LOG,
    "DELTA_STATE_RECOVER_ERROR": _DAMAGED_LOG,
    "DELTA_TRUNCATED_TRANSACTION_LOG": _DAMAGED_LOG,
    "DELTA_VERSIONS_NOT_CONTIGUOUS": _DAMAGED_LOG,
    "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER": _DAMAGED_FILE,
    "FAILED_READ_FILE.FILE_NOT_EXIST": _DAMAGED_FILE,
    "FAILED_READ_FILE.NO_HINT": _DAMAGED_FILE,
    "DATA_SOURCE_NOT_FOUND": (
        "If it is Delta that is missing, put the Delta jars on the driver's class path."
    ),
}

# Matches an error of our own SQL, anywhere in the server's answer. Another error can show the SQL
# itself or its plan, where no exception comes before the condition.
_RAISED = re.compile(
    r"(?:\A|\[USER_RAISED_EXCEPTION\] |Exception: |Exception\) )"
    rf"\[({'|'.join(REMEDIES)})\] (.*?{re.escape(END_OF_MESSAGE)})",
    re.DOTALL,
)
# Spark can't show this condition of Delta, because it looks it up among its own conditions.
_CHAR_IN_MERGE = "DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"
_CHAR_IN_MERGE_TEXT = (
    "Delta can't run this MERGE. A condition in it uses a char column of the table, whose values "
    "Spark pads when it reads them. Leave the column out of unique_key and incremental_predicates, "
    "or make it a string: dbt run-operation widen_columns, then remove the padding: update ... set "
    "the column = rtrim(the column)."
)

# Delta writes no row of such a statement. An INSERT with REPLACE WHERE has another condition before
# this one, which is about the rows to replace.
_TOO_LONG = re.compile(
    r"\[DELTA_EXCEED_CHAR_VARCHAR_LIMIT\] Value .*? Failed check: [^\n]*", re.DOTALL
)
_TOO_LONG_ADVICE = (
    "Select a shorter value in the model, or give the column a greater length: dbt run-operation "
    "widen_columns."
)

# Matches any condition of Delta that Spark looks up among its own, and then can't show.
_WITHOUT_MESSAGE = re.compile(r"Cannot find main error class '([A-Z0-9_.]+)'")
# Conditions that only wrap the one that explains the failure.
_AROUND_ANOTHER = frozenset({"TASK_WRITE_FAILED"})

_NO_METASTORE = re.compile(r"Unable to instantiate \S*MetaStoreClient")
_META_EXCEPTION = re.compile(r"^MetaException\(message:(.*)\)$", re.DOTALL)
# Explanations, by the message of Derby at the end of a long chain of causes.
_EMBEDDED_METASTORE: Mapping[re.Pattern[str], str] = {
    re.compile(r"Another instance of Derby may have already booted the database (.+?)\.?$", re.M): (
        "The embedded metastore ({folder}) is in use by another process: wait for the other dbt "
        "run to end, or use a metastore server. If keep_alive has kept a Spark alive: "
        "dbt run-operation stop_spark."
    ),
    re.compile(r"The database directory '(.+?)' exists\. However, it does not contain the"): (
        "The embedded metastore ({folder}) has no service.properties: the process that began to "
        "make it was stopped before any table was in it. Delete that folder, and run again."
    ),
}

# What to do, by what a connection to the metastore's own database lacks.
_METASTORE_DATABASE = {
    "No suitable driver found": (
        "Spark needs the database's JDBC driver on Java's class path: set "
        "spark.driver.extraClassPath to the jar. The jars of spark.jars.packages are not enough."
    ),
    "Version information not found in metastore": (
        "The database has no tables of a Hive metastore. Hive's schematool creates them."
    ),
    "read-only mode on a connection": (
        "A file in the folder metastore_db may only be read by the user that Spark runs as: "
        "correct the permissions, or choose another folder with spark_dir in the profile."
    ),
}
_METASTORE_ADDRESS = (
    "Its address is set by spark.hadoop.hive.metastore.uris in server_side_parameters, or in "
    "hive-site.xml."
)


def error_text(error: BaseException | str) -> str:
    """Reduce an error that came from Spark or Delta, or its text, to what its user needs.

    It is the message with its condition. If they say more, the message of the deepest cause that
    has a condition and the message of the deepest cause of all follow. Java stacks and logical
    plans are left out. If the metastore can't be opened, it is the reason why.

    Source:
        https://spark.apache.org/docs/latest/sql-error-conditions.html
    """
    raw = whole_text(error)
    if raised := _RAISED.search(raw):
        return f"[{raised[1]}] {raised[2]}\n{REMEDIES[raised[1]]}"
    if too_long := _TOO_LONG.search(raw):
        return f"{too_long[0]} {END_OF_MESSAGE}\n{_TOO_LONG_ADVICE}"
    if _CHAR_IN_MERGE in raw:
        return _CHAR_IN_MERGE_TEXT
    causes = [_message(cause) for cause in _CAUSED_BY.findall(raw)]
    metastore = _metastore_text(raw, causes)
    if metastore is not None:
        return metastore
    message = _message(raw)
    deepest = next((cause for cause in reversed(causes) if _says_why(cause)), "")
    if without_message := _WITHOUT_MESSAGE.search(raw):
        message = (
            f"[{without_message[1]}] Delta refused the statement. Spark can't show its message."
        )
    elif deepest and condition(message) in _AROUND_ANOTHER:
        message = deepest
    for cause in (deepest, *causes[-1:]):
        if cause not in message:
            message = f"{message}\nCaused by: {cause}"
    advice = _advice(message)
    return f"{message}\n{advice}" if advice else message


def _advice(message: str) -> str | None:
    if _NO_SPACE in message:
        return _FULL_DISK
    if _DENIED in message:
        return _NOT_PERMITTED
    if _NESTED_DATABASES in message:
        return UNKNOWN_CATALOG
    if _OF_ONE_FILE in message:
        return _OF_ONE_FILE_ADVICE
    if _OF_GENERATED in message:
        return _OF_GENERATED_ADVICE
    advice = _ADVICE.get(condition(message) or "")
    return _DAMAGED_LOG if advice == _DAMAGED_FILE and _IN_LOG.search(message) else advice


def _says_why(message: str) -> bool:
    return condition(message) not in (None, *_AROUND_ANOTHER)


def whole_text(error: BaseException | str) -> str:
    """Return the text of an error with its Java stack, which PySpark stores separately."""
    text = str(error)
    # PySpark has no public API for the causes. PySpark 3.5 has the name without the underscore.
    stack = getattr(error, "_stackTrace", None) or getattr(error, "stackTrace", None) or ""
    return text if stack in text else f"{text}\n\nJVM stacktrace:\n{stack}"


def _metastore_text(raw: str, causes: Sequence[str]) -> str | None:
    for pattern, text in _EMBEDDED_METASTORE.items():
        if found := pattern.search(raw):
            return text.format(folder=found[1])
    if not _NO_METASTORE.search(raw):
        return None
    why = _META_EXCEPTION.sub(r"\1", causes[-1] if causes else _message(raw)).strip(" .")
    advice = (text for lack, text in _METASTORE_DATABASE.items() if lack in why)
    return f"Spark can't open its Hive metastore: {why}. {next(advice, _METASTORE_ADDRESS)}"


def has_java_stack(text: str) -> bool:
    """Return whether a text contains a Java stack trace."""
    return bool(_JAVA_STACK.search(text))


NOT_BUILT = "TABLE_OR_VIEW_NOT_FOUND"
UP_CAST = "CANNOT_UP_CAST_DATATYPE"
"""The error condition when a view's types are narrower than those of a widened table."""


def message_of(error: BaseException) -> str:
    """Return the message of an error, without what dbt adds to that of its own errors."""
    return str(getattr(error, "msg", error))


def condition(text: str) -> str | None:
    """Return the first error condition that a text names, such as ``CAST_OVERFLOW``, or None."""
    match = _CONDITION.search(text)
    return match.group(1) if match else None


def condition_of(error: BaseException) -> str | None:
    """Return the ``condition`` of an error's message."""
    return condition(message_of(error))


def _message(raw: str) -> str:
    text = _PY4J_PREFIX.sub("", raw)
    text = _JAVA_STACK.sub("", text)
    text = _EXCEPTION_CLASS.sub("", _THRIFT_PREFIX.sub("", text))
    return _LOGICAL_PLAN.sub("", text).strip()


# Java first names the variables that it reads, with their options: -XX:+ExitOnOutOfMemoryError.
_SAYS_NOTHING = re.compile(r"\s*$|(NOTE: )?Picked up \w+: ")

# Without a home folder, its name is `?`.
_JARS_NOT_STORED = re.compile(
    r"IllegalArgumentException: (basedir must be absolute: \?.*)|FileNotFoundException: "
    r"(.*(?:/\.ivy2|resolved-org\.apache\.spark).* \((?:Permission|Read-only|No such).*)"
)


def start_failure_text(log: str, java_version: str | None, minimum_java: int) -> str:
    """Explain in one sentence why Spark's JVM did not start, and what to install or set.

    Args:
        java_version: the version that ``java -version`` prints, or None if there is no Java.
    """
    if java_version is None:
        return (
            f"Spark needs Java {minimum_java} or newer, and no Java was found. Install it, or set "
            f"JAVA_HOME. Debian: apt install openjdk-{minimum_java}-jre-headless; macOS: brew "
            f"install --cask temurin@{minimum_java}; Windows: winget install "
            f"EclipseAdoptium.Temurin.{minimum_java}.JRE"
        )
    major = java_major(java_version)
    if major is not None and major < minimum_java:
        return (
            f"Spark needs Java {minimum_java} or newer, and the Java that was found is "
            f"{java_version}: install a newer one, or set JAVA_HOME to it."
        )
    unresolved = re.findall(r"unresolved dependency: (\S+?)#(\S+?);(\S+?): not found", log)
    if unresolved or "RuntimeException: [unresolved dependency" in log:
        jars = ", ".join(dict.fromkeys(":".join(coordinates) for coordinates in unresolved))
        return (
            f"Spark could not download these jars from Maven Central: {jars}. Check the network, "
            "install a version of delta-spark that Maven Central has, or name the jars yourself "
            "in the profile's server_side_parameters (spark.jars.packages or spark.jars). Behind a "
            "proxy, set spark.driver.extraJavaOptions there to -Dhttps.proxyHost=HOST "
            "-Dhttps.proxyPort=PORT: Java does not read the variable https_proxy."
        )
    if not_stored := _JARS_NOT_STORED.search(log):
        return (
            f"Spark can't store the jars that it downloads: {not_stored[1] or not_stored[2]}. Set "
            "spark.jars.ivy in the profile's server_side_parameters to a folder that dbt may write "
            "to."
        )
    lines = [line.strip() for line in log.splitlines() if not _SAYS_NOTHING.match(line)]
    telling = [line for line in lines if re.search("exception|error|denied", line, re.IGNORECASE)]
    reason = next(iter(telling or lines[-1:]), "it printed nothing")
    return f"Spark's JVM did not start: {reason}"


def java_major(version: str) -> int | None:
    """Parse Java's major version, if there is one: 17 from ``17.0.15``, 8 from ``1.8.0_402``."""
    match = re.match(r"(?:1\.)?(\d+)", version)
    return int(match.group(1)) if match else None
