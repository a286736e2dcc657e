"""DuckLake makes the type changes that `type_widening_compatible_with: ducklake` permits."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import duckdb_extension_ducklake
import pytest

from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.widening.rules import find_rule

# The type of the table, the wider type, a value of the table, and one that only the wider type has.
CHANGES = (
    ("tinyint", "smallint", "127", "300"),
    ("tinyint", "int", "127", "70000"),
    ("tinyint", "bigint", "127", "5000000000"),
    ("smallint", "int", "-7", "70000"),
    ("smallint", "bigint", "-7", "5000000000"),
    ("int", "bigint", "-7", "5000000000"),
    ("float", "double", "0.5", "0.1"),
    ("decimal(8,2)", "decimal(12,2)", "-3.25", "9000000000.00"),
    ("decimal(8,2)", "decimal(12,4)", "-3.25", "2.5555"),
    ("decimal(10,2)", "decimal(20,2)", "-3.25", "922337203685477580.00"),
    ("decimal(20,2)", "decimal(38,2)", "-3.25", "123456789012345678901234567890123456.00"),
    ("decimal(20,2)", "decimal(38,10)", "-3.25", "2.5555555555"),
)
# The type of the column, its value, and how the value inside is read.
POSITIONS = {
    "column": ("{}", "{}", "c"),
    "field": ("struct(x {})", "{{'x': {}}}", "c.x"),
    "element": ("{}[]", "[{}]", "c[1]"),
    "key": ("map({}, int)", "map {{{}: 1}}", "map_keys(c)[1]"),
    "value": ("map(int, {})", "map {{1: {}}}", "map_values(c)[1]"),
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    files = tmp_path_factory.mktemp("lake")
    folder = Path(duckdb_extension_ducklake.__file__).parent
    (extension,) = folder.rglob(f"v{duckdb.__version__}/ducklake.duckdb_extension")
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        connection.execute(f"load '{extension}'")
        # In files, and not in the catalog, as larger tables are.
        connection.execute(
            f"attach 'ducklake:{files}/catalog' as lake "
            f"(data_path '{files}/data', data_inlining_row_limit 0)"
        )
        connection.execute("use lake")
        yield connection


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize(("before", "after", "old", "new"), CHANGES)
def test_makes_a_change_that_is_permitted(lake, before, after, old, new, position):
    rule = find_rule(parse_type(before), parse_type(after))
    assert rule is not None
    assert Compatibility.DUCKLAKE in rule.also_in_formats
    declared, value, inside = POSITIONS[position]
    lake.execute(f"create or replace table t (c {declared.format(before)})")
    lake.execute(f"insert into t select {value.format(f'cast({old} as {before})')}")
    lake.execute(f"alter table t alter c set type {declared.format(after)}")
    lake.execute(f"insert into t select {value.format(f'cast({new} as {after})')}")
    for wanted, other in ((old, new), (new, old)):
        is_it = f"{inside} = cast({wanted} as {after})"
        assert lake.execute(f"select count(*) from t where {is_it}").fetchone() == (1,)
        operator = "<" if float(wanted) < float(other) else ">"
        beyond = f"{inside} {operator} cast({other} as {after})"
        assert lake.execute(f"select count(*) from t where {beyond}").fetchone() == (1,)
