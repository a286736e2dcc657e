"""List what other programs can do with a Delta table, before and after type widening.

``tests/readers`` checks the measured rows with the real programs. The other rows are from
documentation and source code.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class State(Enum):
    """The states of a table's type widening, in the order in which they follow each other."""

    BEFORE = "before enabling"
    ENABLED = "enabled"
    WIDENED = "widened"
    DROPPED_FAST = "dropped fast"
    DROPPED_TRUNCATED = "dropped with truncated history"


class Access(Enum):
    """The access that a reader has to a table."""

    APPENDS = "reads and appends"
    READS_PERHAPS_APPENDS = "reads; appends: ?"
    READS = "reads"
    NOTHING = "no access"
    UNKNOWN = "?"

    def is_less_than(self, other: "Access") -> bool:
        """Return whether it is known to be less than another access."""
        reads = {Access.APPENDS, Access.READS_PERHAPS_APPENDS, Access.READS}
        if other is Access.APPENDS:
            return self in (Access.READS, Access.NOTHING)
        return other in reads and self is Access.NOTHING


@dataclass(frozen=True)
class KnownReader:
    """A program that reads Delta tables.

    Attributes:
        name: the name of the program.
        version: its version, or a description of several versions.
        access: its access by the state of the table. It is unknown for a state that is not in it.
        date: the date of the measurement, or on which the sources were read.
        sources: the URLs of its documentation, starting with the effect of enabling. Empty for a
            measured reader.
        refusals: the error messages of a measured reader, by the state in which it refuses access.
        note: additional information.
    """

    name: str
    version: str
    access: Mapping[State, Access]
    date: str
    sources: tuple[str, ...] = ()
    refusals: Mapping[State, str] = field(default_factory=dict)
    note: str = ""

    def can(self, state: State) -> Access:
        """Return its access to a table in a state."""
        return self.access.get(state, Access.UNKNOWN)

    @property
    def is_lost(self) -> bool:
        """Whether it is known to lose access, at least in part, when a table gains the feature."""
        return self.can(State.ENABLED).is_less_than(self.can(State.BEFORE))

    @property
    def value(self) -> dict[str, object]:
        """The effect of enabling type widening on it, as values for JSON."""
        return {
            "reader": self.name,
            "version": self.version,
            "before": self.can(State.BEFORE).value,
            "enabled": self.can(State.ENABLED).value,
            "source": list(self.sources) or "measured",
            "date": self.date,
        }


def _access(
    before: Access, enabled: Access, widened: Access, fast: Access, truncated: Access
) -> Mapping[State, Access]:
    return dict(zip(State, (before, enabled, widened, fast, truncated), strict=True))


_APPENDS, _READS, _NOTHING, _UNKNOWN = (
    Access.APPENDS,
    Access.READS,
    Access.NOTHING,
    Access.UNKNOWN,
)
_PERHAPS = Access.READS_PERHAPS_APPENDS
_READ_ONLY_AND_UNDOCUMENTED = _access(_READS, _UNKNOWN, _UNKNOWN, _READS, _READS)
_DATE = "2026-11-21"

# Delta's documentation says what a dropped feature means for all readers, including those below.
# The feature that a fast drop leaves behind does not prevent reading
# (https://docs.delta.io/delta-drop-feature). After the history is truncated, a reader that does not
# support type widening can read and write again.
_TYPE_WIDENING = "https://docs.delta.io/delta-type-widening"
_VERSIONING = "https://docs.delta.io/versioning"
_STANDALONE = "https://github.com/delta-io/delta/issues/2254"
_DELTALAKE = "https://github.com/delta-io/delta-rs/blob/main/python/deltalake/table.py"

MEASURED = (
    KnownReader(
        "delta-rs (`deltalake`)",
        "1.6.6",
        _access(_APPENDS, _NOTHING, _NOTHING, _READS, _APPENDS),
        _DATE,
        refusals={
            State.ENABLED: "Unsupported table features required: [TypeWidening]",
            State.WIDENED: "Unsupported table features required: [TypeWidening]",
            State.DROPPED_FAST: (
                'Unsupported table features required: [Unknown("checkpointProtection")]'
            ),
        },
    ),
    KnownReader(
        "DuckDB (extension `delta`)",
        "1.5.5",
        _access(_APPENDS, _READS, _READS, _READS, _APPENDS),
        _DATE,
        refusals={
            State.ENABLED: "Feature 'typeWidening' is not supported for writes",
            State.WIDENED: "Feature 'typeWidening' is not supported for writes",
            State.DROPPED_FAST: "Feature 'checkpointProtection' is not supported",
        },
    ),
)

QUOTED = (
    KnownReader(
        "Delta Lake on Spark",
        "4.0 and newer",
        _access(_APPENDS, _APPENDS, _APPENDS, _APPENDS, _APPENDS),
        _DATE,
        (_TYPE_WIDENING, _VERSIONING),
    ),
    KnownReader(
        "Delta Lake on Spark",
        "3.3",
        _access(_APPENDS, _APPENDS, _NOTHING, _READS, _APPENDS),
        _DATE,
        (_TYPE_WIDENING, _VERSIONING, "https://github.com/delta-io/delta/pull/3728"),
        note="It reads a table in which only `byte` and `short` became wider, up to `int`.",
    ),
    KnownReader(
        "Delta Lake on Spark",
        "older than 3.3",
        _access(_APPENDS, _NOTHING, _NOTHING, _READS, _APPENDS),
        _DATE,
        (_TYPE_WIDENING, _VERSIONING),
        note="Delta Lake 3.2 supports only the preview of the feature.",
    ),
    KnownReader(
        "Databricks Runtime",
        "15.4 LTS and newer",
        _access(_APPENDS, _APPENDS, _APPENDS, _PERHAPS, _APPENDS),
        _DATE,
        ("https://docs.databricks.com/aws/en/tables/features/type-widening",),
    ),
    KnownReader(
        "Databricks Runtime",
        "older than 15.4 LTS",
        _access(_APPENDS, _NOTHING, _NOTHING, _PERHAPS, _APPENDS),
        _DATE,
        ("https://docs.databricks.com/aws/en/tables/features/type-widening",),
    ),
    KnownReader(
        "Delta Kernel for Java",
        "4.4",
        _access(_APPENDS, _APPENDS, _APPENDS, _APPENDS, _APPENDS),
        _DATE,
        (
            "https://github.com/delta-io/delta/pull/3656",
            "https://github.com/delta-io/delta/blob/v4.4.0/kernel/kernel-api/src/main/java/io/"
            "delta/kernel/internal/tablefeatures/TableFeatures.java",
        ),
    ),
    KnownReader(
        "Delta Kernel for Rust",
        "0.4 and newer",
        _access(_APPENDS, _READS, _UNKNOWN, _PERHAPS, _APPENDS),
        _DATE,
        (
            "https://github.com/delta-io/delta-kernel-rs/blob/main/kernel/src/table_features/mod.rs",
            "https://github.com/delta-io/delta-kernel-rs/pull/335",
        ),
        note="Its own engine reads a widened column. According to its source, a widened array "
        "element was not covered.",
    ),
    KnownReader(
        "Trino",
        "current documentation",
        _access(_APPENDS, _READS, _UNKNOWN, _READS, _APPENDS),
        _DATE,
        (
            "https://trino.io/docs/current/connector/delta-lake.html",
            "https://github.com/trinodb/trino/pull/22458",
        ),
        note="It leaves out a column with a type change that it does not support.",
    ),
    KnownReader(
        "Presto",
        "on Delta Standalone",
        _access(_READS, _NOTHING, _NOTHING, _READS, _READS),
        _DATE,
        (
            "https://github.com/prestodb/presto/issues/22543",
            "https://prestodb.io/docs/current/connector/deltalake.html",
        ),
    ),
    KnownReader(
        "Apache Flink",
        "delta-flink 3.0, on Delta Standalone",
        _access(_APPENDS, _NOTHING, _NOTHING, _READS, _APPENDS),
        _DATE,
        ("https://github.com/delta-io/delta/issues/2874", _STANDALONE),
    ),
    KnownReader(
        "Apache Hive",
        "delta-hive, on Delta Standalone",
        _access(_READS, _NOTHING, _NOTHING, _READS, _READS),
        _DATE,
        (_STANDALONE, "https://docs.delta.io/delta-more-connectors"),
    ),
    KnownReader(
        "Polars",
        "with `deltalake` 1.6.6",
        _access(_APPENDS, _NOTHING, _NOTHING, _READS, _APPENDS),
        _DATE,
        (
            "https://github.com/pola-rs/polars/blob/main/py-polars/src/polars/io/delta/_dataset.py",
            "https://docs.pola.rs/py-polars/html/reference/api/polars.DataFrame.write_delta.html",
            _DELTALAKE,
        ),
        note="It uses `deltalake` to check which table features it can read, and to write.",
    ),
    KnownReader(
        "pandas (`DeltaTable.to_pandas`)",
        "with `deltalake` 1.6.6",
        _access(_READS, _NOTHING, _NOTHING, _READS, _READS),
        _DATE,
        (_DELTALAKE,),
    ),
    KnownReader(
        "Amazon Athena",
        "engine version 3",
        _READ_ONLY_AND_UNDOCUMENTED,
        _DATE,
        ("https://docs.aws.amazon.com/athena/latest/ug/delta-lake-tables.html",),
    ),
    KnownReader(
        "Amazon Redshift Spectrum",
        "by manifest files",
        _READ_ONLY_AND_UNDOCUMENTED,
        _DATE,
        ("https://docs.delta.io/redshift-spectrum-integration",),
    ),
    KnownReader(
        "Snowflake",
        "Delta Direct",
        _READ_ONLY_AND_UNDOCUMENTED,
        _DATE,
        (
            "https://docs.snowflake.com/user-guide/tables-iceberg-delta-direct",
            "https://docs.snowflake.com/en/release-notes/2026/other/"
            "2026-03-02-iceberg-delta-deletion-vectors",
        ),
        note="It reads tables with reader version 3 and deletion vectors. Its documentation does "
        "not mention type widening.",
    ),
    KnownReader(
        "Google BigQuery",
        "BigLake tables",
        _READ_ONLY_AND_UNDOCUMENTED,
        _DATE,
        ("https://docs.delta.io/bigquery-integration",),
        note="It reads tables with reader version 3, deletion vectors and column mapping. Its "
        "documentation does not mention type widening.",
    ),
    KnownReader(
        "Microsoft Fabric (SQL analytics endpoint, Power BI Direct Lake)",
        "cloud service",
        _READ_ONLY_AND_UNDOCUMENTED,
        _DATE,
        ("https://learn.microsoft.com/en-us/fabric/get-started/delta-lake-interoperability",),
    ),
)

DELTA_CLIENTS = MEASURED + QUOTED
