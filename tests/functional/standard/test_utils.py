import pytest
from dbt.tests.adapter.utils.data_types.test_type_bigint import BaseTypeBigInt
from dbt.tests.adapter.utils.data_types.test_type_boolean import BaseTypeBoolean
from dbt.tests.adapter.utils.data_types.test_type_float import BaseTypeFloat
from dbt.tests.adapter.utils.data_types.test_type_int import BaseTypeInt
from dbt.tests.adapter.utils.data_types.test_type_numeric import BaseTypeNumeric
from dbt.tests.adapter.utils.data_types.test_type_string import BaseTypeString
from dbt.tests.adapter.utils.data_types.test_type_timestamp import BaseTypeTimestamp
from dbt.tests.adapter.utils.test_any_value import BaseAnyValue
from dbt.tests.adapter.utils.test_array_append import BaseArrayAppend
from dbt.tests.adapter.utils.test_array_concat import BaseArrayConcat
from dbt.tests.adapter.utils.test_array_construct import BaseArrayConstruct
from dbt.tests.adapter.utils.test_bool_or import BaseBoolOr
from dbt.tests.adapter.utils.test_cast import BaseCast
from dbt.tests.adapter.utils.test_cast_bool_to_text import BaseCastBoolToText
from dbt.tests.adapter.utils.test_concat import BaseConcat
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampNaive
from dbt.tests.adapter.utils.test_date import BaseDate
from dbt.tests.adapter.utils.test_date_spine import BaseDateSpine
from dbt.tests.adapter.utils.test_date_trunc import BaseDateTrunc
from dbt.tests.adapter.utils.test_dateadd import BaseDateAdd
from dbt.tests.adapter.utils.test_datediff import BaseDateDiff
from dbt.tests.adapter.utils.test_equals import BaseEquals
from dbt.tests.adapter.utils.test_escape_single_quotes import (
    BaseEscapeSingleQuotesBackslash,
    BaseEscapeSingleQuotesQuote,
)
from dbt.tests.adapter.utils.test_except import BaseExcept
from dbt.tests.adapter.utils.test_generate_series import BaseGenerateSeries
from dbt.tests.adapter.utils.test_get_intervals_between import BaseGetIntervalsBetween
from dbt.tests.adapter.utils.test_get_powers_of_two import BaseGetPowersOfTwo
from dbt.tests.adapter.utils.test_hash import BaseHash
from dbt.tests.adapter.utils.test_intersect import BaseIntersect
from dbt.tests.adapter.utils.test_last_day import BaseLastDay
from dbt.tests.adapter.utils.test_length import BaseLength
from dbt.tests.adapter.utils.test_listagg import BaseListagg
from dbt.tests.adapter.utils.test_null_compare import BaseMixedNullCompare, BaseNullCompare
from dbt.tests.adapter.utils.test_position import BasePosition
from dbt.tests.adapter.utils.test_replace import BaseReplace
from dbt.tests.adapter.utils.test_right import BaseRight
from dbt.tests.adapter.utils.test_safe_cast import BaseSafeCast
from dbt.tests.adapter.utils.test_source_freshness_custom_info import BaseCalculateFreshnessMethod
from dbt.tests.adapter.utils.test_split_part import BaseSplitPart
from dbt.tests.adapter.utils.test_string_literal import BaseStringLiteral
from dbt.tests.adapter.utils.test_timestamps import BaseCurrentTimestamps
from dbt.tests.adapter.utils.test_validate_sql import BaseValidateSqlMethod
from dbt.tests.util import run_dbt

from tests.functional.standard.zones import process_zone

CURRENT_TIMESTAMPS = {
    "current_timestamp": "current_timestamp()",
    "current_timestamp_in_utc_backcompat": "current_timestamp::timestamp",
    "current_timestamp_backcompat": "current_timestamp::timestamp",
}


def seed_type(column, spark_type):
    """The configuration of a type for a number of the suite's seed: dbt's type would be wider."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"test": {"expected": {"+column_types": {column: spark_type}}}}}

    return project_config_update


class TestTypeBigInt(BaseTypeBigInt):
    pass


class TestTypeBoolean(BaseTypeBoolean):
    pass


class TestTypeFloat(BaseTypeFloat):
    project_config_update = seed_type("float_col", "float")


class TestTypeInt(BaseTypeInt):
    project_config_update = seed_type("int_col", "int")


class TestTypeNumeric(BaseTypeNumeric):
    pass


class TestTypeString(BaseTypeString):
    pass


class TestTypeTimestamp(BaseTypeTimestamp):
    pass


class TestAnyValue(BaseAnyValue):
    pass


class TestArrayAppend(BaseArrayAppend):
    pass


class TestArrayConcat(BaseArrayConcat):
    pass


class TestArrayConstruct(BaseArrayConstruct):
    pass


class TestBoolOr(BaseBoolOr):
    pass


class TestCast(BaseCast):
    pass


class TestCastBoolToText(BaseCastBoolToText):
    pass


class TestConcat(BaseConcat):
    pass


class TestCurrentTimestampNaive(BaseCurrentTimestampNaive):
    @pytest.fixture(scope="class")
    def spark_target(self, spark_target):
        if spark_target["type"] == "spark":
            return spark_target
        given = {**spark_target["server_side_parameters"], "spark.sql.session.timeZone": "UTC"}
        return {**spark_target, "server_side_parameters": given}

    @pytest.fixture(scope="class", autouse=True)
    def in_utc(self):
        with process_zone("UTC"):
            yield


class TestDate(BaseDate):
    pass


class TestDateSpine(BaseDateSpine):
    pass


class TestDateTrunc(BaseDateTrunc):
    pass


class TestDateAdd(BaseDateAdd):
    pass


class TestDateDiff(BaseDateDiff):
    # The text of a view is too long for Derby, the metastore of the tests.
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+materialized": "table"}}


class TestEquals(BaseEquals):
    pass


class TestEscapeSingleQuotesQuote(BaseEscapeSingleQuotesQuote):
    pass


class TestEscapeSingleQuotesBackslash(BaseEscapeSingleQuotesBackslash):
    pass


class TestExcept(BaseExcept):
    pass


class TestGenerateSeries(BaseGenerateSeries):
    pass


class TestGetIntervalsBetween(BaseGetIntervalsBetween):
    spark_sql = {r"'(\d\d)/(\d\d)/(\d{4})'": r"'\3-\1-\2'"}


class TestGetPowersOfTwo(BaseGetPowersOfTwo):
    pass


class TestHash(BaseHash):
    pass


class TestIntersect(BaseIntersect):
    pass


class TestLastDay(BaseLastDay):
    pass


class TestLength(BaseLength):
    pass


class TestListagg(BaseListagg):
    pass


LISTAGG = """
select {{ dbt.listagg('v', "','", 'order by v') }} as texts,
  {{ dbt.listagg('v', "','", 'order by v', 2) }} as first
from values (cast(null as string)) as t(v)
"""


DISTINCT = """
select {{ dbt.listagg('distinct n', "','", 'order by n desc') }} as down,
  {{ dbt.listagg('DISTINCT n', "','", 'order by  N', 2) }} as first,
  {{ dbt.listagg('distinct v', "','", 'order by v') }} as texts,
  length({{ dbt.listagg('distinct v', "','", 'order by n', 2) }}) as by_another,
  length({{ dbt.listagg('distinct upper(v)', "','", 'order by v') }}) as another,
  {{ dbt.listagg('distinct t.n', "','", 'order by (n) desc') }} as qualified
from values (10, 'b'), (9, 'a'), (10, 'b'), (11, 'c'), (null, null) as t(n, v)
"""


class TestListaggOfNulls:
    @pytest.fixture(scope="class")
    def models(self):
        return {"texts.sql": LISTAGG, "distinct.sql": DISTINCT}

    def test_distinct_values_have_an_order(self, project):
        run_dbt(["run", "--select", "distinct"])
        row = project.run_sql("select * from {schema}.distinct", fetch="one")
        assert tuple(row) == ("11,10,9", "9,10", "a,b,c", 3, 5, "11,10,9")

    def test_is_an_empty_text(self, project):
        run_dbt(["run"])
        assert project.run_sql("select * from {schema}.texts", fetch="one") == ("", "")


class TestMixedNullCompare(BaseMixedNullCompare):
    pass


class TestNullCompare(BaseNullCompare):
    pass


class TestPosition(BasePosition):
    pass


class TestReplace(BaseReplace):
    pass


class TestRight(BaseRight):
    pass


class TestSafeCast(BaseSafeCast):
    pass


class TestCalculateFreshnessMethod(BaseCalculateFreshnessMethod):
    pass


class TestSplitPart(BaseSplitPart):
    pass


class TestStringLiteral(BaseStringLiteral):
    pass


class TestCurrentTimestamps(BaseCurrentTimestamps):
    @pytest.fixture(scope="class")
    def expected_schema(self):
        return dict.fromkeys(CURRENT_TIMESTAMPS, "timestamp")

    @pytest.fixture(scope="class")
    def expected_sql(self):
        asked = [f"{sql} as {name}" for name, sql in CURRENT_TIMESTAMPS.items()]
        return f"select {', '.join(asked)}"


class TestValidateSqlMethod(BaseValidateSqlMethod):
    pass
