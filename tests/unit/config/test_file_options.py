"""The options of a table with which the check of its file format does not know what is stored."""

import pytest

from dbt.adapters.deltawiden.config.file_options import (
    option_problems,
    stored_options,
    unsafe_options,
)

DATED = {"dateFormat": "dd.MM.yy"}


@pytest.mark.parametrize(
    ("file_format", "options"),
    [
        ("csv", {"HEADER": "true", "sep": ";", "Delimiter": "#", "compression": "gzip"}),
        ("csv", {"encoding": "utf-8", "charset": "UTF8"}),
        ("csv", {"inferSchema": True, "enforceSchema": "true", "nullValue": ""}),
        ("json", {"samplingRatio": 0.5, "mode": "PERMISSIVE", "multiLine": False}),
        ("json", {"compression": "gzip"}),
        ("orc", {"orc.compress": "snappy", "mergeSchema": True}),
        ("orc", {"orc.bloom.filter.columns": "id", "orc.stripe.size": 1024}),
        ("parquet", DATED),
        ("xml", {"rowTag": "row"}),
    ],
)
def test_an_option_that_changes_no_value_is_accepted(file_format, options):
    assert list(unsafe_options(file_format, options, "Remove it")) == []


@pytest.mark.parametrize("separator", ["\t", " ", "||", '"', "\\", ""])
def test_a_separator_that_rows_are_not_read_back_with_is_refused(separator):
    (problem,) = unsafe_options("csv", {"sep": separator}, "Remove it")
    assert problem.startswith("options: the check of the values of csv does not know what sep")


@pytest.mark.parametrize(
    "options", [{"mode": "DROPMALFORMED"}, {"nullValue": "-"}, {"enforceSchema": False}]
)
def test_another_value_than_the_default_is_refused(options):
    assert list(unsafe_options("csv", options, "Remove it"))


def test_another_encoding_than_that_of_the_check_is_refused():
    assert list(unsafe_options("csv", {"encoding": "ISO-8859-1"}, "Remove it"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ignoreCorruptFiles", True),
        ("ignoreMissingFiles", "true "),
        ("pathGlobFilter", "*.x"),
        ("modifiedBefore", "2024-01-01"),
        ("mapreduce.fileoutputcommitter.algorithm.version", 2),
    ],
)
def test_an_option_with_which_rows_are_lost_is_refused(name, value):
    config = {"materialized": "table", "file_format": "parquet", "options": {name: value}}
    (problem,) = option_problems(config)
    assert problem == (
        f"options: with {name}, rows of the table can be missing, or be there twice. Remove the "
        "option, or set on_lossy_write: ignore to write such values all the same."
    )
    for accepted in ({name: "false"}, {name: "1"}) if name.startswith("i") else ():
        assert list(unsafe_options("parquet", accepted, "Remove it")) == []


@pytest.mark.parametrize("file_format", ["CSV", "json", "orc", "text"])
def test_another_option_is_refused_unless_a_loss_is_accepted(file_format):
    config = {"materialized": "table", "file_format": file_format, "options": DATED}
    (problem,) = option_problems(config)
    assert "does not know what dateFormat does" in problem
    assert "Remove the option, use another file_format" in problem
    assert "dd.MM" not in problem
    for action in ("warn", "ignore"):
        assert list(option_problems({**config, "on_lossy_write": action})) == []
    assert list(option_problems({**config, "materialized": "seed"})) == []


def test_the_options_of_a_table_are_in_its_description():
    lines = ["Provider: csv", "Storage Properties: [no=1]", "Table Properties: [a=b]"]
    stored = "serialization.format=1, sep=,, dateFormat=dd, MM, header=true"
    description = "\n".join([*lines, f"Storage Properties: [{stored}]", "Schema: root", ""])
    assert stored_options(description) == {"sep": ",", "dateFormat": "dd, MM", "header": "true"}
    assert stored_options("Provider: csv\n") == {}
