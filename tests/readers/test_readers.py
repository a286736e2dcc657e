"""Compare the access of delta-rs and DuckDB to a table with the readers in `delta_clients.yml`."""

import shutil
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.operations.delta_clients import MEASURED, Access, KnownReader, State
from tests.functional.support import needs_delta_4
from tests.readers.programs import Program, Refused, Row

pytestmark = [needs_delta_4, pytest.mark.slow]

NEW: Row = (7, [8, 9])


def known(program: Program) -> KnownReader:
    """Return the reader of a program's installed version. Another version must be measured."""
    installed = (program.name, program.version)
    found = [reader for reader in MEASURED if (reader.name, reader.version) == installed]
    assert found, f"no reader {program.name} {program.version} in delta_clients.yml"
    return found[0]


def test_the_tables_are_in_their_states(tables):
    protocols = {state: table.protocol for state, table in tables.items()}
    assert protocols == {
        State.BEFORE: (1, 2),
        State.ENABLED: (3, 7),
        State.WIDENED: (3, 7),
        State.DROPPED_FAST: (1, 7),
        State.DROPPED_TRUNCATED: (1, 2),
    }
    wanted = {
        State.BEFORE: frozenset(),
        State.ENABLED: {"typeWidening"},
        State.WIDENED: {"typeWidening"},
        State.DROPPED_FAST: {"checkpointProtection"},
        State.DROPPED_TRUNCATED: frozenset(),
    }
    every_table_has = {"appendOnly", "invariants"}
    assert {state: table.features - every_table_has for state, table in tables.items()} == wanted


@pytest.mark.parametrize("state", State)
def test_a_table_is_read_exactly_or_refused(program, tables, state):
    if known(program).can(state) is Access.NOTHING:
        with pytest.raises(Refused) as refused:
            program.read(tables[state].path)
        assert known(program).refusals[state] in str(refused.value)
    else:
        assert program.read(tables[state].path) == tables[state].content


@pytest.mark.parametrize("state", State)
def test_a_row_is_appended_that_spark_reads_or_refused(program, tables, state, session, tmp_path):
    table = tables[state]
    copy = Path(shutil.copytree(table.path, tmp_path / "table"))
    if known(program).can(state) is Access.APPENDS:
        program.append(copy, NEW, table.content.bits[0])
        wanted = sorted([*table.content.rows, NEW])
    else:
        with pytest.raises(Refused) as refused:
            program.append(copy, NEW, table.content.bits[0])
        assert known(program).refusals[state] in str(refused.value)
        wanted = table.content.rows
    assert sorted(map(tuple, session.read.format("delta").load(str(copy)).collect())) == wanted


@pytest.mark.parametrize("reader", MEASURED, ids=lambda reader: reader.name)
def test_each_measured_row_says_all_of_it(reader):
    refusing = {state for state in State if reader.can(state) is not Access.APPENDS}
    assert set(reader.refusals) == refusing
    assert not any(access is Access.UNKNOWN for access in reader.access.values())
    assert reader.date
    assert not reader.sources
