"""Render `docs/readers.md` from the readers in `delta_clients.yml`."""

from collections.abc import Sequence
from pathlib import Path

from dbt.adapters.deltawiden.operations.delta_clients import MEASURED, QUOTED, KnownReader, State

PAGE = Path(__file__).parents[2] / "docs" / "readers.md"

HEAD = """# Readers

This page shows which programs can read a Delta table, and append to it, before and after type
widening. Read it before you enable type widening on a table that other programs use.

Setting the table property `delta.enableTypeWidening` adds the table feature `typeWidening` to the
table, and upgrades its protocol to reader version 3 and writer version 7. From then on, a program
that does not support the feature can't access the table, even if no type has changed yet.

Setting the property back to `false` does not change this. Programs can access the table again after
the table feature is dropped. There are two ways to drop it:

- *Dropped fast*: the feature is removed immediately. The table keeps another table feature,
  `checkpointProtection`, which only writers must support.
- *Dropped with truncated history*: the feature is removed after the retention period of the
  history, by default one day. The table keeps neither feature.
"""

MEASURED_HEAD = """## Measured

Our tests run these programs on a table that Delta {delta} wrote. In that table, a column and the
elements of an array were widened from `int` to `bigint`. The table has files with the old type and
files with the new type. `make readers` repeats the measurement. The words in the table mean:

- *reads*: the program returned every value and every type exactly
- *appends*: Spark read the row that the program appended
- *no access*: the program refused to read the table
"""

REFUSALS_HEAD = """Error messages of the programs that refuse to read or to append:
"""

QUOTED_HEAD = """## From documentation

We did not measure these programs. The table shows what their documentation or source code says.
`?` means that the sources do not say it. *Widened* means from `int` to `bigint`.

Some sources do not mention the states in the last two columns. These columns then follow Delta's
documentation, which says for all readers:

- The table feature `checkpointProtection`
  [does not prevent reading](https://docs.delta.io/delta-drop-feature).
- A reader that does not support type widening
  [can read and write the table](https://docs.delta.io/delta-type-widening#removing-the-type-widening-table-feature)
  after the feature and all its traces are removed.
"""

FILTERS = """## Filters on widened columns

After a widening, older files have the older type. A program that converts the value of a filter to
that type can miss rows, without an error. `make readers` tries each program in this table with
filters on values that no file has, such as `amount < 30000000` after `decimal(8,2)` became
`decimal(12,2)`, and `n not in (7, 4294967297)` after `int` became `bigint`.

| reader | filters on a table with older files |
| --- | --- |
| Spark with the [settings of dbt-deltawiden](connections.md#filters-on-widened-columns) | right |
| Spark without them | **can miss rows**, or ends with `FAILED_READ_FILE` |
| delta-rs (`deltalake`) | does not read a widened table |
| DuckDB (extension `delta`) | right |

For a Spark that other people use, there are two ways to right results: set
`spark.sql.parquet.filterPushdown.decimal=false` and
`spark.sql.parquet.pushdown.inFilterThreshold=0` in its `spark-defaults.conf`, or rewrite the files
that have an older type: [`rewrite_widened_files`](maintenance.md#rewrite_widened_files).
"""


def page(delta: str) -> str:
    """Render the page.

    Args:
        delta: the version of Delta that wrote the measured table.
    """
    parts = [
        HEAD,
        MEASURED_HEAD.format(delta=delta),
        _table(MEASURED),
        "",
        REFUSALS_HEAD,
        *_refusals(MEASURED),
        "",
        FILTERS,
        QUOTED_HEAD,
        _table(QUOTED),
        "",
    ]
    return "\n".join(parts)


def _table(readers: Sequence[KnownReader]) -> str:
    head = ["reader", "version", *(state.value for state in State), "source", "date"]
    rows = [head, ["---"] * len(head), *(_row(reader) for reader in readers)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(reader: KnownReader) -> list[str]:
    links = [f"[{number}]({url})" for number, url in enumerate(reader.sources, start=1)]
    source = ", ".join(links) or "measured"
    return [
        reader.name,
        reader.version,
        *(reader.can(state).value for state in State),
        f"{source}. {reader.note}" if reader.note else source,
        reader.date,
    ]


def _refusals(readers: Sequence[KnownReader]) -> list[str]:
    return [
        f"- {reader.name}, {state.value}: `{message}`"
        for reader in readers
        for state, message in reader.refusals.items()
    ]
