"""The values of seeds are stored exactly."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

from tests.functional.support import dbt
from tests.small import settings_of

CSV = r"""id,big,name,at,empty
1,9007199254740993,O'Brien,2024-01-01 10:11:12.123456,
2,-9223372036854775808,back\slash,2024-01-02 00:00:00,
3,0,${env:HOME} %s 100%,2024-01-03 00:00:00.000001,x
"""


class TestSeeds:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"values.csv": CSV}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        types = {"at": "timestamp_ntz", "big": "bigint", "empty": "string"}
        return {"seeds": {"test": {"values": {"+column_types": types}}}}

    def test_every_value_is_stored_exactly(self, project, table):
        run = dbt("seed")
        assert run.status("values") == "success", run.message("values")
        assert table("values").rows("big", "name", "at", "empty") == sorted(
            [
                (9007199254740993, "O'Brien", datetime(2024, 1, 1, 10, 11, 12, 123456), None),
                (-9223372036854775808, "back\\slash", datetime(2024, 1, 2), None),
                (0, "${env:HOME} %s 100%", datetime(2024, 1, 3, 0, 0, 0, 1), "x"),
            ],
            key=repr,
        )
        # Since dbt-core 1.12, seeds have no rows then.
        run = dbt("build", "--empty")
        assert run.status("values") == "success", run.message("values")


REFUSED = {
    "id": "12345678901234567890",
    "amount": "12.345",
    "whole": "7.9",
    "text_as_int": "abc",
    "day": "2024-13-45",
    "second": "2024-01-01 10:11:12.1234567",
    "local": "2024-01-01 10:11:12Z",
    "fraction": "0.12345678901234567",
    "short": "toolong",
    "share": "50%",
    "moment": "2024-03-10 02:30:00",
    "no_break": "7\u00a0",
    "full_width": "\uff17",
}
FITTING = {
    "id": "1234567890123456789",
    "amount": "12.340",
    "whole": "7.0",
    "text_as_int": "007",
    "day": "2024-1-2",
    "second": "2024-01-01 10:11:12.1234560",
    "local": "2024-01-01 10:11:12.5",
    "fraction": "0.1234567890123456",
    "short": "fits",
    "share": "50",
    "moment": "2024-03-10 03:30:00",
    "no_break": " 7 ",
    "full_width": "7",
}
TYPES = {
    "amount": "decimal(10,2)",
    "whole": "int",
    "text_as_int": "smallint",
    "day": "date",
    "second": "timestamp",
    "local": "timestamp_ntz",
    "short": "varchar(5)",
    "no_break": "int",
    # The headers of these are in upper case.
    "active": "string",
    "at": "string",
    "held": "date",
    "score": "int",
}
EMPTY = "," * (len(FITTING) - 1)


class TestValuesThatAreNotStoredExactly:
    @pytest.fixture(scope="class")
    def seeds(self):
        names, fitting = ",".join(FITTING), ",".join(FITTING.values())
        seeds = {"fitting.csv": f"{names}\n{fitting}\n"}
        for name, text in REFUSED.items():
            unfit = ",".join({**FITTING, name: text}.values())
            seeds[f"unfit_{name}.csv"] = f"{names}\n{fitting}\n{EMPTY}\n{unfit}\n"
        seeds["upper.csv"] = "ACTIVE,AT,HELD\nTRUE,2024-01-05T00:00:00Z,2024-01-05\n"
        seeds["unfit_upper.csv"] = "HELD,SCORE\n2024-01-05 10:30:00,2024-01-05 10:30:00\n"
        return seeds

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"test": {"+column_types": TYPES}}}

    def test_values_that_fit_are_stored(self, project, table):
        run = dbt("seed", "--select", "fitting")
        assert run.status("fitting") == "success", run.message("fitting")
        ((row,),) = table("fitting").rows("to_json(struct(*))")
        assert json.loads(row) == {
            "id": 1234567890123456789,
            "amount": 12.34,
            "whole": 7,
            "text_as_int": 7,
            "day": "2024-01-02",
            "second": "2024-01-01T10:11:12.123-05:00",
            "local": "2024-01-01T10:11:12.500",
            "fraction": 0.1234567890123456,
            "short": "fits",
            "share": 50,
            "moment": "2024-03-10T03:30:00.000-04:00",
            "no_break": 7,
            "full_width": 7,
        }
        assert table("fitting").rows("string(second)") == [("2024-01-01 10:11:12.123456",)]

    def test_a_type_counts_for_a_header_in_another_case(self, refused, table):
        assert refused.status("upper") == "success", refused.message("upper")
        (row,) = table("upper").rows("active", "at", "string(held)")
        assert row == ("TRUE", "2024-01-05T00:00:00Z", "2024-01-05")
        for column, type_ in (("HELD", "date"), ("SCORE", "int")):
            said = f"column {column}: '2024-01-05 10:30:00' is not stored exactly as {type_}"
            assert said in refused.message("unfit_upper")

    @pytest.fixture(scope="class")
    def refused(self, project):
        return dbt("seed", "--exclude", "fitting")

    @pytest.mark.parametrize("name", REFUSED)
    def test_other_values_stop_the_seed_with_the_line_and_the_column(self, refused, project, name):
        message = refused.message(f"unfit_{name}")
        assert f"seeds/unfit_{name}.csv has values" in message
        assert f"line 4, column {name}: {REFUSED[name]!r} is not stored exactly as" in message
        assert not project.run_sql(f"show tables in {{schema}} like 'unfit_{name}'", fetch="all")


class TestASeedThatWasLoadedBefore:
    @pytest.fixture(scope="class")
    def seeds(self):
        seeds = {"numbers": "n,s\n1,x\n", "parts": "% of %s,n\nx,1\n", "renamed": "old%,n\nx,1\n"}
        seeds["short"] = seeds["files"] = "id,growth%\n1,x\n"
        return {f"{name}.csv": text for name, text in seeds.items()}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        files = {"+file_format": "parquet"}
        parts = {**files, "+partition_by": "`% of %s`"}
        short = {"+column_types": {"growth%": "char(1)"}}
        seeds = {"parts": parts, "files": files, "renamed": files, "short": short}
        return {"seeds": {"test": seeds}}

    @pytest.fixture(scope="class")
    def macros(self):
        """The table of one seed has other names of columns than its file."""
        own = "{% do run_query('create table ' ~ this ~ ' (v string, n int) using parquet') %}"
        other = "{% do return(_deltawiden_create_seed(model, agate_table, {})) %}"
        return {
            "create.sql": "{% macro deltawiden__create_csv_table(model, agate_table) %}"
            f"{{% if model.name != 'renamed' %}}{other}{{% endif %}}{own}{{% endmacro %}}"
        }

    def test_a_failed_seed_stays_as_it_was(self, project, table):
        run = dbt("seed")
        for name in ("short", "files", "renamed", "parts"):
            assert run.status(name) == "success", run.message(name)
        assert table("short").rows() == table("files").rows() == [(1, "x")]
        assert table("renamed").rows("v", "n") == [("x", 1)]
        file = Path(project.project_root, "seeds", "numbers.csv")
        # The text has two lines.
        file.write_text('n,s\n2,"a\nb"\n99999999999999999999,c\n', encoding="utf-8")
        run = dbt("seed", "--select", "numbers")
        assert "line 4, column n: '99999999999999999999' is not stored" in run.message("numbers")
        assert table("numbers").rows() == [(1, "x")]
        file.write_text('n,s\n3,"a\nb"\n', encoding="utf-8")
        assert dbt("seed", "--select", "numbers").status("numbers") == "success"
        assert table("numbers").rows() == [(3, "a\nb")]
        # Rows are inserted into this one after the old rows are gone.
        file.with_name("parts.csv").write_text("% of %s,n\n__HIVE_DEFAULT_PARTITION__,2\n")
        run = dbt("seed", "--select", "parts")
        assert "[LOSSY_PARTITION_VALUE] The model parts has" in run.message("parts")
        assert table("parts").rows() == [(1, "x")]


class TestCodes:
    """Texts that dbt takes for numbers, although a number loses a zero or a sign of them."""

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "codes.csv": "id,zip,phone\n1,02134,+4930123\n2,10001,+4940123\n",
            "typed.csv": "id,zip,number\n1,02134,02134\n2,10001,+10001\n",
            "plain.csv": "id,n,m\n0,-0.5,0\n-10,1e05,0.05\n2e1,1.5e-3,-1E+2\n",
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        types = {"zip": "string", "Number": "int"}
        return {"seeds": {"test": {"typed": {"+column_types": types}}}}

    def test_need_a_type(self, project, table):
        run = dbt("seed")
        for column, text in (("zip", "02134"), ("phone", "+4930123")):
            said = f"line 2, column {column}: '{text}' is not stored exactly as bigint"
            assert said in run.message("codes")
            assert f'column_types: {{"{column}": "string"}}' in run.message("codes")
        for name in ("typed", "plain"):
            assert run.status(name) == "success", run.message(name)
        expected = [(1, "02134", 2134), (2, "10001", 10001)]
        assert table("typed").rows("id", "zip", "number") == expected
        expected = [(-10, 100000.0, 0.05), (0, -0.5, 0.0), (20, 0.0015, -100.0)]
        assert table("plain").rows("id", "n", "m") == expected


class TestLossThatASeedAccepts:
    @pytest.fixture(scope="class")
    def seeds(self):
        formatted = 'thousands,percent,power,dollars\n"1,000",50%,1e3,$5.00\n-2,3,4,0.1\n'
        shares = "id,share\n1,62.3888186\n2,\n3,0.5\n"
        return {"shares.csv": shares, "formatted.csv": formatted}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        types = {"share": "float"}
        action = "{{ var('action', 'error') }}"
        return {"seeds": {"test": {"+column_types": types, "+on_lossy_write": action}}}

    def test_is_refused_warned_of_or_ignored(self, project, table):
        run = dbt("seed")
        assert "line 2, column share: '62.3888186' is not stored" in run.message("shares")
        assert "double stores all of column share" in run.message("shares")
        rounded = [(1, 62.388816833496094), (2, None), (3, 0.5)]
        for action, warned in (("warn", True), ("ignore", False)):
            run = dbt("seed", "--full-refresh", action=action)
            assert run.status("shares") == "success", run.message("shares")
            assert ("'62.3888186' is not stored exactly as float" in run.output) == warned
            assert table("shares").rows("id", "double(share)") == rounded
            assert table("formatted").rows() == [(-2, 3, 4, 0.1), (1000, 50, 1000, 5.0)]
        run = dbt("seed", action="warm")
        assert "on_lossy_write: got 'warm'; accepted: error, warn, ignore" in run.message("shares")


class TestTimestampThatMeansTimestampNtz:
    """By a setting of Spark, the type ``timestamp`` of a seed's column is timestamp_ntz."""

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "local.csv": "id,at\n1,2024-03-10 02:30:00\n",
            "moments.csv": "id,at\n1,2024-01-01T12:00:00+02:00\n",
            "typed.csv": "id,at\n1,2024-01-01 12:00:00 Europe/Paris\n",
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"test": {"typed": {"+column_types": {"at": "Timestamp"}}}}}

    def test_a_time_with_a_zone_is_refused(self, project, spark, table):
        with settings_of(spark, {"spark.sql.timestampType": "TIMESTAMP_NTZ"}):
            dbt("seed")
            run = dbt("seed")
        assert run.status("local") == "success", run.message("local")
        assert table("local").rows("at") == [(datetime(2024, 3, 10, 2, 30),)]
        for seed in ("moments", "typed"):
            assert "is not stored exactly as timestamp_ntz" in run.message(seed)


class TestTablePropertiesOfSeeds:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"odd.csv": "a;--b\n1\n", "plain.csv": "n\n1\n", "files.csv": "n\n1\n"}

    @pytest.fixture(scope="class")
    def project_config_update(self, tmp_path_factory):
        mapped = {"delta.columnMapping.mode": "name", "team": "it's"}
        root = str(tmp_path_factory.mktemp("a b%20 #ü"))
        files = {"+location_root": root, "+file_format": "parquet"}
        seeds = {"odd": {"+tblproperties": mapped}, "plain": {"+location_root": root}}
        seeds["files"] = files
        return {"seeds": {"test": seeds}}

    def test_a_name_that_column_mapping_allows_is_a_column(self, project, table):
        for rows in ([(1,)], [(2,)]):
            Path(project.project_root, "seeds", "odd.csv").write_text(f"a;--b\n{rows[0][0]}\n")
            run = dbt("seed", "--select", "odd")
            assert run.status("odd") == "success", run.message("odd")
            assert table("odd").rows("`a;--b`") == rows
        assert table("odd").properties["team"] == "it's"

    def test_a_seed_in_a_folder_of_its_own_has_its_rows_once(self, project, table):
        for _ in range(2):
            run = dbt("seed", "--select", "plain", "files")
            assert run.status("plain") == run.status("files") == "success", run.output
        assert table("plain").rows() == table("files").rows() == [(1,)]


MIXED = """id,flag,at,day,note,only_nulls
1,true,2024-01-01 10:11:12.5,2024-01-01,a,
2,false,2024-01-02 00:00:00,2024-01-02,,
3,,,,"${x} 'c'",
"""


class TestASeedIsOneCommit:
    """Readers find the old rows or the new ones: no version of the table has a part of them."""

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "mixed.csv": MIXED,
            "short.csv": "id,code\n1,abc\n",
            "nothing.csv": "id,code\n",
            # The second row has no second value, and the last has none at all.
            "ragged.csv": "id,code,n\n1,x,1\n2\n\n",
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"size.sql": "{% macro default__get_batch_size() %}{% do return(2) %}{% endmacro %}"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        types = {"note": "string", "code": "varchar(3)"}
        return {"seeds": {"test": {"+column_types": types}}}

    def check(self, project, table, spark, rows):
        file = Path(project.project_root, "seeds", "mixed.csv")
        for number, text in enumerate([MIXED, MIXED.replace("3,,", "4,true,")]):
            file.write_text(text, encoding="utf-8")
            run = dbt("seed")
            for name in ("mixed", "ragged"):
                assert run.status(name) == "success", run.message(name)
            names = [row[0] for row in spark.sql("show tables in " + project.test_schema).collect()]
            assert not [name for name in names if "dbt" in name]
            history = table("mixed").history
            assert len(history) == rows + number
            assert {each.operation for each in history} == {"CREATE OR REPLACE TABLE AS SELECT"}
            assert len(table("mixed").rows("id")) == 3
        first = table("mixed").rows("id", "flag", "string(at)", "string(day)", "note")[0]
        assert first == (1, True, "2024-01-01 10:11:12.5", "2024-01-01", "a")
        last = table("mixed").rows("id", "flag", "at", "note", "only_nulls")[-1]
        assert last == (4, True, None, "${x} 'c'", None)

    def test_with_a_session(self, project, table, spark):
        self.check(project, table, spark, 1)
        with pytest.raises(Py4JJavaError, match="CHAR_VARCHAR_LIMIT"):
            spark.sql(f"insert into {table('short').name} values (2, 'abcd')")
        assert table("nothing").rows() == []
        assert table("ragged").rows() == [(1, "x", 1), (2, None, None), (None, None, None)]

    @pytest.mark.slow
    def test_by_sql_alone(self, project, table, spark, by_sql_alone):
        self.check(project, table, spark, 3)


class TestASeedThatTheProjectLoads:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"codes.csv": "id,code\n1,a\n"}

    @pytest.fixture(scope="class")
    def macros(self):
        own = "insert into {{ this }} values (7, 'mine')"
        return {
            "load.sql": "{% macro spark__load_csv_rows(model, agate_table) %}"
            f"{{% set sql %}}{own}{{% endset %}}{{% do run_query(sql) %}}"
            "{% do return(sql) %}{% endmacro %}"
        }

    def test_has_the_table_before(self, project, table):
        assert dbt("seed").status("codes") == "success"
        assert table("codes").rows() == [(7, "mine")]
