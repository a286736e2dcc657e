"""What is said about the changes of a table before a write."""

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import IntegerType, LongType

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.steps import (
    AlterTypes,
    ClusterBy,
    RenameColumn,
    SetProperties,
    Step,
)
from dbt.adapters.deltawiden.writes import incremental
from dbt.adapters.deltawiden.writes.attempts import SchemaChangeFailed

TABLE = "`s`.`t`"
WIDENS = AlterTypes(TABLE, (TypeChange(("n",), IntegerType(), LongType()),))
RENAMES = RenameColumn(TABLE, ("old",), "new")
CLUSTERS = ClusterBy(TABLE, (("n",),))
ENABLES = SetProperties(TABLE, (("delta.enableTypeWidening", "true"),))
ENABLED = (
    "`s`.`t`: set delta.enableTypeWidening to true. Programs without type widening can then no "
    "longer read the table: see docs/readers.md"
)


@pytest.mark.parametrize(
    ("done", "logged", "stale"),
    [
        ([WIDENS], ["`s`.`t`: widened n: int -> bigint"], [TABLE]),
        ([ENABLES, WIDENS], [ENABLED, "`s`.`t`: widened n: int -> bigint"], [TABLE]),
        ([SetProperties(TABLE, (("delta.enableTypeWidening", "false"),))], [], []),
        ([RENAMES], ["`s`.`t`: renamed old -> new"], [TABLE]),
        ([CLUSTERS], [], []),
        ([], [], []),
    ],
)
def test_the_steps_before_one_that_fails_are_logged(
    done: list[Step], logged: list[str], stale: list[str], monkeypatch: pytest.MonkeyPatch
):
    texts: list[str] = []
    tables: list[str] = []

    def change_table(*_: object) -> None:
        raise SchemaChangeFailed("[LOSSY_VALUE] x", done)

    monkeypatch.setattr(incremental, "change_table", change_table)
    views: Any = SimpleNamespace(log_stale=lambda names, *_: tables.extend(names))
    nothing: Any = None
    writes = incremental.TableWrites(nothing, nothing, nothing, views)
    context = {
        "config": {},
        "model": {"unique_id": "model.x.t"},
        "graph": {"nodes": {}},
        "log": lambda text, info: texts.append(text),
    }
    plan = Plan(TABLE, (WIDENS, RENAMES, CLUSTERS))
    with pytest.raises(SchemaChangeFailed):
        writes._change_table(context, ModelSpec("t"), plan, nothing)
    assert (texts, tables) == (logged, stale)
