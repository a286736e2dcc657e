"""`docs/readers.md`, from the rows of `known_readers.py`."""

from collections.abc import Sequence
from pathlib import Path

from dbt.adapters.deltawiden.operations.delta_clients import MEASURED, QUOTED, KnownReader, State

PAGE = Path(__file__).parents[2] / "docs" / "readers.md"

HEAD = """# Readers

Which programs can read a Delta table, and append to it, before and after type widening.

Setting `delta.enableTypeWidening` gives the table a table feature, `typeWidening`, and moves it to
reader version 3 and writer version 7. A program that does not know the feature is locked out from
that moment on, before any type has changed. Setting the property back to `false` lets nobody in
again; dropping the feature does, in one of two ways:

- *fast*: at once. It leaves another feature, `checkpointProtection`, which only writers have to
  know.
- *with truncated history*: after the retention of the history, a day by default. It leaves nothing.
"""

MEASURED_HEAD = """## Measured

On a table that Delta {delta} wrote: a column and the elements of an array, widened from `int` to
`bigint`, with files of both types. *Reads* means that every value and type came back exactly,
*appends* that Spark then read the new row. `make readers` measures again.
"""

REFUSALS_HEAD = """What they say when they refuse:
"""

QUOTED_HEAD = """## From documentation

Not measured by us. `?` means that the sources do not say it; *widened* means `int` to `bigint`.
Of every reader, Delta says that `checkpointProtection`
[does not keep it from reading](https://docs.delta.io/delta-drop-feature), and that one that does
not know type widening
[can read and write](https://docs.delta.io/delta-type-widening#removing-the-type-widening-table-feature)
once the feature is gone with all its traces; the last two columns rest on that where a row's own
sources say no more.
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
        QUOTED_HEAD,
        _table(QUOTED),
        "",
    ]
    return "\n".join(parts)


def _table(readers: Sequence[KnownReader]) -> str:
    head = ["reader", "version", *(each.value for each in State), "source", "date"]
    rows = [_row(each) for each in readers]
    return "\n".join(f"| {' | '.join(each)} |" for each in (head, ["---"] * len(head), *rows))


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
        f"- {reader.name}, {state.value}: `{said}`"
        for reader in readers
        for state, said in reader.refusals.items()
    ]
