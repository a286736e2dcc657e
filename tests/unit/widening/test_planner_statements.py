"""The statements of a plan."""

from tests.unit.schemas import DELTA_3_3, ENABLED, MAPPED, make_plan, policy, table_snapshot


def test_a_plan_with_every_kind_of_change_has_these_statements():
    plan = make_plan(
        {"id": "int", "s": {"x": "int", "old": "int"}, "d": "date", "gone": "int"},
        {"id": "bigint", "s": {"x": "bigint", "new": "int"}, "d": "timestamp_ntz", "b": ["int"]},
        policy("sync_all_columns", type_widening=True),
        table_snapshot(MAPPED),
    )
    assert plan.statements == [
        "alter table `s`.`t` set tblproperties ('delta.enableTypeWidening' = 'true', "
        "'delta.feature.timestampNtz' = 'supported')",
        "alter table `s`.`t` alter column `id` type bigint, `s`.`x` type bigint, "
        "`d` type timestamp_ntz",
        "alter table `s`.`t` add columns (`s`.`new` int, `b` array<int>)",
        "alter table `s`.`t` drop columns (`s`.`old`, `gone`)",
    ]


def test_on_spark_3_5_a_separate_statement_changes_each_type():
    plan = make_plan(
        {"a": "tinyint", "s": {"x": "smallint"}},
        {"a": "int", "s": {"x": "int"}},
        snapshot=table_snapshot(engine=DELTA_3_3),
    )
    assert plan.statements == [
        "alter table `s`.`t` alter column `a` type int",
        "alter table `s`.`t` alter column `s`.`x` type int",
    ]


def test_every_part_of_a_name_is_quoted_in_a_statement():
    plan = make_plan(
        {"my col": "int", "a.b": {"c`d": [{"x y": "int"}]}},
        {"my col": "bigint", "a.b": {"c`d": [{"x y": "bigint", "new": {"p q": "int"}}]}},
        snapshot=table_snapshot({**ENABLED, **MAPPED}),
    )
    assert plan.statements == [
        "alter table `s`.`t` alter column `my col` type bigint, "
        "`a.b`.`c``d`.`element`.`x y` type bigint",
        "alter table `s`.`t` add columns (`a.b`.`c``d`.`element`.`new` struct<`p q`: int>)",
    ]


def test_statements_use_the_names_of_the_table_in_its_case():
    plan = make_plan(
        {"Amount": "int", "S": {"X": "int"}}, {"AMOUNT": "bigint", "s": {"x": "bigint"}}
    )
    assert plan.statements == [
        "alter table `s`.`t` alter column `Amount` type bigint, `S`.`X` type bigint"
    ]
