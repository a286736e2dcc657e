"""States of a Delta table that forbid a change, each with a model that needs the change."""

from dataclasses import dataclass
from importlib.metadata import version

from dbt.adapters.deltawiden.sql.versions import read_version


@dataclass(frozen=True)
class State:
    """A model that needs a wider type, and the state of its table that blocks the change.

    Attributes:
        before, after: the model's columns in the first and the second run, as SQL.
        tblproperties: the properties of the table.
        then: statements that run after the first run and make the state.
        said: texts in the refusal.
        mode: on_schema_change.
        since: the first version of Delta that has such a table.
    """

    before: str
    after: str
    said: tuple[str, ...]
    tblproperties: dict[str, str]
    then: tuple[str, ...] = ()
    mode: str = "append_new_columns"
    since: tuple[int, ...] = ()

    def model(self) -> str:
        config = {
            "materialized": "incremental",
            "on_schema_change": self.mode,
            "tblproperties": self.tblproperties,
        }
        return (
            f"{{{{ config(**{config!r}) }}}}\n"
            f"select {{% if var('step', 1) == 1 %}}{self.before}"
            f"{{% else %}}{self.after}{{% endif %}}"
        )


WIDENS = {"delta.enableTypeWidening": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
INT, BIGINT = "1 as id, cast(5 as int) as amount", "2 as id, cast(6 as bigint) as amount"
DAY, MOMENT = "1 as id, date'2024-01-01' as d", "2 as id, timestamp_ntz'2024-01-01 10:11:12' as d"


def iceberg(version: int, **others: str) -> dict[str, str]:
    return {**WIDENS, **MAPPED, f"delta.enableIcebergCompatV{version}": "true", **others}


STATES = {
    "check_constraint": State(
        INT,
        BIGINT,
        ("amount: int -> bigint", "CHECK constraint `positive`", "drop constraint `positive`"),
        WIDENS,
        ("alter table {table} add constraint positive check (abs(AMOUNT) > 0)",),
    ),
    "check_constraint_and_not_enabled": State(
        INT,
        BIGINT,
        ("CHECK constraint `positive`", "type widening is not enabled"),
        {},
        ("alter table {table} add constraint positive check (amount > 0)",),
    ),
    "check_constraint_on_a_nested_field": State(
        "1 as id, named_struct('x', cast(5 as int)) as s",
        "2 as id, named_struct('x', cast(6 as bigint)) as s",
        ("s.x: int -> bigint", "CHECK constraint `positive`"),
        WIDENS,
        ("alter table {table} add constraint positive check (s.x > 0)",),
    ),
    "check_constraint_on_a_column_that_goes": State(
        INT,
        "2 as id",
        ("amount: int", "CHECK constraint `positive`"),
        {**WIDENS, **MAPPED},
        ("alter table {table} add constraint positive check (amount > 0)",),
        "sync_all_columns",
    ),
    "clustered_by_a_column_that_goes": State(
        INT,
        "2 as id",
        ("the table is clustered by it", "cluster by none"),
        {**WIDENS, **MAPPED},
        (
            "create or replace table {table} (id int, amount int) using delta cluster by (amount) "
            "tblproperties ('delta.columnMapping.mode' = 'name')",
        ),
        "sync_all_columns",
    ),
    "iceberg_compat_v1": State(DAY, MOMENT, ("compatible with iceberg_v2",), iceberg(1)),
    "iceberg_compat_v2": State(DAY, MOMENT, ("compatible with iceberg_v2",), iceberg(2)),
    "iceberg_compat_v3": State(
        DAY, MOMENT, ("compatible with iceberg_v2",), iceberg(3), since=(4, 4)
    ),
    "uniform": State(
        DAY,
        MOMENT,
        ("compatible with iceberg_v2",),
        iceberg(2, **{"delta.universalFormat.enabledFormats": "iceberg"}),
        since=(4, 4),  # older versions need their Iceberg jar to create it
    ),
    "iceberg_compat_off_but_supported": State(
        "1 as id, cast(1 as decimal(10,2)) as d",
        "2 as id, cast(1 as decimal(12,4)) as d",
        ("d: decimal(10,2) -> decimal(12,4)", "compatible with iceberg_v2"),
        {**WIDENS, **MAPPED, "delta.feature.icebergCompatV2": "supported"},
    ),
    "iceberg_has_no_map_in_v1": State(
        INT, f"{INT}, map('a', 1) as m", ("icebergCompatV1: map<string, int>",), iceberg(1)
    ),
    "writer_compat_v1_has_no_short": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as smallint) as amount",
        ("amount: tinyint -> smallint", "it does not allow the type smallint"),
        {**WIDENS, "delta.columnMapping.mode": "id", "delta.enableIcebergWriterCompatV1": "true"},
    ),
    "writer_compat_v1_needs_ids": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as int) as amount",
        ("column mapping is name, not id",),
        {**WIDENS, **MAPPED, "delta.enableIcebergWriterCompatV1": "true"},
    ),
    "writer_compat_v1_allows_few_features": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as int) as amount",
        ("it does not allow", "deletionVectors"),
        {
            **WIDENS,
            "delta.columnMapping.mode": "id",
            "delta.enableIcebergWriterCompatV1": "true",
            "delta.feature.deletionVectors": "supported",
        },
    ),
    "writer_compat_v1_and_a_new_column": State(
        INT,
        f"{INT}, 1 as more",
        ("more: int", "Spark can't add a column"),
        {**WIDENS, "delta.columnMapping.mode": "id", "delta.enableIcebergWriterCompatV1": "true"},
    ),
    "writer_compat_v3_and_a_map_key": State(
        "1 as id, map(named_struct('x', 5), 'a') as m",
        "2 as id, map(named_struct('x', 6L), 'a') as m",
        ("m.key.x: int -> bigint", "IcebergWriterCompatV3 is on", "the key of a map never changes"),
        {**WIDENS, "delta.columnMapping.mode": "id", "delta.enableIcebergWriterCompatV3": "true"},
    ),
    "a_type_that_delta_has_not": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as int) as amount, interval '1' day as wait",
        ("wait: interval day", "a Delta column can't be of type interval day"),
        WIDENS,
    ),
    "an_array_of_nothing": State(
        INT, f"{INT}, array() as tags", ("tags: array<void>", "cast(null as"), WIDENS
    ),
    "a_name_that_needs_column_mapping": State(
        "1 as id, cast(5 as tinyint) as amount",
        "2 as id, cast(6 as int) as amount, 1 as `my col`",
        ("`my col`: int", "'delta.columnMapping.mode' = 'name'"),
        WIDENS,
    ),
    "not_delta": State(INT, BIGINT, ("not a Delta table",), {}),
    "preview_only": State(
        INT,
        BIGINT,
        ("amount: int -> bigint", "typeWidening-preview", "'delta.feature.typeWidening'"),
        {**WIDENS, "delta.feature.typeWidening-preview": "supported"},
    ),
}


STATES = {
    name: state
    for name, state in STATES.items()
    if read_version(version("delta-spark")) >= state.since
}
