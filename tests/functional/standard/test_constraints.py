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


def column(name, *constraints):
    """A column of the query that creates a table with a contract: it checks the constraints."""
    branches = [
        f"when ({condition}) is not true then raise_error('{message}')"
        for condition, message in constraints
    ]
    return f"case {' '.join(branches)} else {name} end as {name}" if branches else name


def not_null(name, quoted=None):
    message = f"the model has a null in {name}, which is not_null in its contract"
    return f"{quoted or name} is not null", message


def check(expression):
    escaped = expression.replace("'", "\\'")
    return expression, f"the model has a row that breaks the check of its contract: {escaped}"


class CreatesTable:
    columns = (column("id", not_null("id"), check("(id > 0)"), check("id >= 1")), "color")
    depends_on = "-- depends_on: <foreign_key_model_identifier>"

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return f"""
            create or replace table <model_identifier> using delta as
            select {", ".join(self.columns)}, date_day from (
                {self.depends_on}
                select 'blue' as {self.columns[-1].split()[-1]}, 1 as id, '2019-01-01' as date_day
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
    columns = (
        column("id", not_null("id"), check("(`from` = 'blue')")),
        column("`from`", not_null("from", "`from`")),
    )
    depends_on = ""
    spark_sql = {'"from"': "`from`"}


class FoundNull:
    @pytest.fixture(scope="class")
    def expected_error_messages(self):
        return ["the model has a null in id, which is not_null in its contract"]


class TestConstraintsRollback(FoundNull, BaseConstraintsRollback):
    pass


class TestIncrementalConstraintsRollback(FoundNull, BaseIncrementalConstraintsRollback):
    pass


@pytest.mark.skip(reason=ONE_STATEMENT)
class TestTableContractSqlHeader(BaseTableContractSqlHeader):
    pass


@pytest.mark.skip(reason=ONE_STATEMENT)
class TestIncrementalContractSqlHeader(BaseIncrementalContractSqlHeader):
    pass


class TestIncrementalForeignKeyConstraint(BaseIncrementalForeignKeyConstraint):
    pass
