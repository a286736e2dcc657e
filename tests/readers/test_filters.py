"""What a program finds in a widened table with filters on values that no file has."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.sql.types import parse_type
from tests.conformance.far_values import far_conditions
from tests.functional.support import needs_delta_4
from tests.literals import literal
from tests.readers.programs import DeltaRs, Program, Refused

pytestmark = [needs_delta_4, pytest.mark.slow]

AMOUNTS = [Decimal("1.25"), Decimal(2), Decimal(-4)]
COLUMNS: Mapping[str, tuple[str, str, list[Any]]] = {
    "d8": ("decimal(8,2)", "decimal(12,2)", AMOUNTS),
    "d10": ("decimal(10,2)", "decimal(20,2)", AMOUNTS),
    "d20": ("decimal(20,2)", "decimal(38,2)", AMOUNTS),
    "n": ("int", "bigint", [1, 2, -4]),
}


@pytest.fixture(scope="module")
def widened(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filters") / "table"
    declared = ", ".join(f"{name} {before}" for name, (before, _, _) in COLUMNS.items())
    enabled = "tblproperties ('delta.enableTypeWidening' = 'true')"
    session.sql(f"create table delta.`{path}` ({declared}) using delta {enabled}")
    for row in range(3):
        values = (literal(v[row], parse_type(before)) for before, _, v in COLUMNS.values())
        session.sql(f"insert into delta.`{path}` values ({', '.join(values)})")
    changes = ", ".join(f"{name} type {after}" for name, (_, after, _) in COLUMNS.items())
    session.sql(f"alter table delta.`{path}` alter column {changes}")
    return path


@pytest.mark.parametrize("name", COLUMNS)
def test_filters_find_the_rows_or_the_table_is_refused(program: Program, widened: Path, name: str):
    if isinstance(program, DeltaRs):
        with pytest.raises(Refused, match="TypeWidening"):
            program.count(widened, "true")
        return
    _, after, values = COLUMNS[name]
    data_type, wrong = parse_type(after), []
    for row, value in enumerate(values):
        own = f"{name} = {literal(value, data_type)}"
        for text, holds in far_conditions(value, values[row - 1], data_type, row):
            condition = f"{text.format(on=name)} and {own}"
            # DuckDB has no operator <=>.
            if "<=>" not in text and program.count(widened, condition) != holds:
                wrong.append(condition)
    assert wrong == []
