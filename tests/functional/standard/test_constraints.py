import pytest
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseIncrementalContractSqlHeader,
    BaseIncrementalForeignKeyConstraint,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseTableContractSqlHeader,
    BaseViewConstraintsColumnsEqual,
)

from tests.functional.standard.limits import ONE_STATEMENT


class SparkTypes:
    @pytest.fixture
    def string_type(self):
        return "string"

    @pytest.fixture
    def int_type(self):
        return "int"

    @pytest.fixture
    def data_types(self):
        types = {
            "1": "int",
            "'1'": "string",
            "true": "boolean",
            "1.5": "decimal(2,1)",
            "date '2013-11-03'": "date",
            "timestamp '2013-11-03 00:00:00-07'": "timestamp",
            "array('a', 'b')": "array<string>",
            "map('a', 1)": "map<string,int>",
            "named_struct('a', 1)": "struct<a:int>",
        }
        return [[value, name, name] for value, name in types.items()]


class TestTableConstraintsColumnsEqual(SparkTypes, BaseTableConstraintsColumnsEqual):
    pass


class TestViewConstraintsColumnsEqual(SparkTypes, BaseViewConstraintsColumnsEqual):
    pass


class TestIncrementalConstraintsColumnsEqual(SparkTypes, BaseIncrementalConstraintsColumnsEqual):
    pass


class CreatesTable:
    """Delta takes constraints in statements of their own, after the one that makes the table."""

    color = "color"
    depends_on = "-- depends_on: <foreign_key_model_identifier>"

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return f"""
            create or replace table <model_identifier> using delta as
            select id, {self.color}, date_day from (
                {self.depends_on}
                select 'blue' as {self.color}, 1 as id, '2019-01-01' as date_day
            ) as model_subq
        """


class TestConstraintsRuntimeDdlEnforcement(CreatesTable, BaseConstraintsRuntimeDdlEnforcement):
    pass


class TestIncrementalConstraintsRuntimeDdlEnforcement(
    CreatesTable, BaseIncrementalConstraintsRuntimeDdlEnforcement
):
    pass


class TestModelConstraintsRuntimeEnforcement(CreatesTable, BaseModelConstraintsRuntimeEnforcement):
    pass


class TestConstraintQuotedColumn(CreatesTable, BaseConstraintQuotedColumn):
    color = "`from`"
    depends_on = ""
    spark_sql = {'"from"': "`from`"}


class ViolatedCheck:
    @pytest.fixture(scope="class")
    def expected_error_messages(self):
        return ["CHECK constraint"]


class TestConstraintsRollback(ViolatedCheck, BaseConstraintsRollback):
    pass


class TestIncrementalConstraintsRollback(ViolatedCheck, BaseIncrementalConstraintsRollback):
    pass


@pytest.mark.skip(reason=ONE_STATEMENT)
class TestTableContractSqlHeader(BaseTableContractSqlHeader):
    pass


@pytest.mark.skip(reason=ONE_STATEMENT)
class TestIncrementalContractSqlHeader(BaseIncrementalContractSqlHeader):
    pass


class TestIncrementalForeignKeyConstraint(BaseIncrementalForeignKeyConstraint):
    pass
