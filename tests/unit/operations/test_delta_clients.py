"""The access of other Delta clients, and the warning before a table loses clients."""

from dataclasses import replace
from datetime import date

import pytest

from dbt.adapters.deltawiden.operations.delta_clients import (
    DELTA_CLIENTS,
    LOSSES,
    MEASURED,
    QUOTED,
    Access,
    KnownReader,
    State,
)
from dbt.adapters.deltawiden.operations.maintenance.enable_type_widening import (
    Switch,
    readers_lost,
    readers_text,
)
from dbt.adapters.deltawiden.operations.result import OperationResult

GAINS = Switch("`s`.`gains`", enables=True, is_enabled=False, new_feature="typeWidening")
HAS = Switch("`s`.`has`", enables=True, is_enabled=False, feature="typeWidening")


@pytest.mark.parametrize(
    ("now", "before", "less"),
    [
        (Access.NOTHING, Access.APPENDS, True),
        (Access.READS, Access.APPENDS, True),
        (Access.NOTHING, Access.READS, True),
        (Access.NOTHING, Access.READS_PERHAPS_APPENDS, True),
        (Access.READS_PERHAPS_APPENDS, Access.APPENDS, False),
        (Access.UNKNOWN, Access.APPENDS, False),
        (Access.NOTHING, Access.UNKNOWN, False),
        (Access.NOTHING, Access.NOTHING, False),
        (Access.APPENDS, Access.APPENDS, False),
    ],
)
def test_access_is_less_only_if_it_is_known_to_be_less(now, before, less):
    reader = KnownReader("reader", "1", {State.BEFORE: before, State.ENABLED: now}, "2026-01-31")
    assert reader.is_lost == less


@pytest.mark.parametrize(
    "reader", DELTA_CLIENTS, ids=lambda reader: f"{reader.name} {reader.version}"
)
def test_every_row_has_a_date_and_no_reader_gains_access_by_enabling(reader):
    date.fromisoformat(reader.date)
    assert (reader.can(State.ENABLED), reader.can(State.BEFORE)) not in LOSSES


@pytest.mark.parametrize("reader", QUOTED, ids=lambda reader: f"{reader.name} {reader.version}")
def test_every_quoted_row_has_its_sources(reader):
    assert reader.sources
    assert all(source.startswith("https://") for source in reader.sources)
    assert not reader.refusals


def test_every_measured_reader_loses_access():
    assert all(reader.is_lost for reader in MEASURED)


def test_no_reader_is_lost_if_no_table_gains_the_feature():
    failed = OperationResult("`s`.`view`", error="This is a view.")
    assert readers_text([HAS, failed]) == ""
    assert readers_lost([HAS, failed]) == []


def test_the_text_names_only_the_tables_that_gain_the_feature():
    text = readers_text([HAS, GAINS])
    assert "`s`.`gains`" in text
    assert "`s`.`has`" not in text
    assert "preview" not in text
    assert len(readers_lost([HAS, GAINS])) == sum(reader.is_lost for reader in DELTA_CLIENTS)


def test_many_tables_are_counted():
    several = [
        Switch(f"t{n}", True, False, new_feature="typeWidening", moves_protocol=True)
        for n in range(5)
    ]
    assert "is new to t0, t1, t2 and 2 more, and moves the protocol to" in readers_text(several)
    several[4] = replace(several[4], moves_protocol=False)
    assert "moves the protocol of t0, t1, t2 and 1 more to" in readers_text(several)


def test_the_text_says_that_the_preview_was_not_measured():
    preview = Switch("t", enables=True, is_enabled=False, new_feature="typeWidening-preview")
    assert "This is known of typeWidening, not of its preview." in readers_text([preview])
