"""Settings with which values would be lost are refused, and those of filters are warned of."""

import re

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.spark.settings import ORC_FILTERS, SAFE_READS, SAFE_SETTINGS
from dbt.adapters.deltawiden.spark.unsafe_settings import (
    REFUSED_FOR_FILES,
    REFUSED_SETTINGS,
    RefusedSetting,
    check_reset,
    refuse_settings,
    warn_of_filters,
)

every_setting = pytest.mark.parametrize("setting", REFUSED_SETTINGS, ids=lambda each: each.name)
COMMITTER = "mapreduce.fileoutputcommitter.algorithm.version"


@every_setting
def test_a_refused_value_is_named_with_what_to_do(setting: RefusedSetting):
    for value in setting.values or ("1",):
        for spelled in (value.lower(), value.upper(), f" {value} "):
            with pytest.raises(DbtConfigError) as error:
                refuse_settings({setting.name: spelled}.get)
            assert f"{setting.name} is {spelled}: {setting.why}" in error.value.msg
        assert setting.remedy in error.value.msg


@every_setting
def test_what_the_error_says_to_do_is_accepted(setting: RefusedSetting):
    refuse_settings({setting.name: setting.use}.get)
    refuse_settings({}.get)


def test_all_refused_values_are_in_one_error():
    first, second = REFUSED_SETTINGS[:2]
    with pytest.raises(DbtConfigError) as error:
        refuse_settings({each.name: each.values[0] for each in (first, second)}.get)
    assert first.name in error.value.msg
    assert second.name in error.value.msg


def test_a_setting_of_hadoop_is_refused_under_its_name_in_sparks_configuration():
    for setting in (*REFUSED_SETTINGS, *REFUSED_FOR_FILES):
        for name in setting.other_names:
            value = setting.values[0] if setting.values else "1"
            with pytest.raises(DbtConfigError, match=f"{re.escape(name)} is {value}: ") as error:
                refuse_settings({name: value}.get, [setting])
            # A session of a server passes on only what has Hadoop's own name.
            assert f'Use {name.removeprefix("spark.hadoop.")}: "{setting.use}"' in error.value.msg
            # A session's own value takes precedence.
            refuse_settings({name: value, setting.name: setting.use}.get, [setting])


def test_the_setting_of_tables_of_files_is_not_refused_for_others():
    refuse_settings({COMMITTER: "2", f"spark.hadoop.{COMMITTER}": "2"}.get)


@pytest.mark.parametrize("sql", ["reset", "/* dbt */\nRESET ;", "  reset;\n"])
def test_a_reset_of_all_settings_is_refused(sql: str):
    with pytest.raises(DbtConfigError, match="Reset each setting by its name"):
        check_reset(sql)


def test_a_reset_of_one_setting_is_run():
    check_reset("reset spark.sql.session.timeZone")


def test_the_warning_has_the_setting_its_value_and_what_to_do(warned: list[str]):
    (decimals, lists) = SAFE_READS
    for _ in range(2):
        warn_of_filters({decimals: "true", lists: "0"})
    (text,) = warned
    assert text.startswith(f"{decimals} is true")
    assert lists not in text
    assert "can miss rows" in text
    assert "Remove the setting" in text


def test_the_warning_of_orc_tables_speaks_of_no_widening(warned: list[str]):
    warn_of_filters({ORC_FILTERS: "true"})
    (text,) = warned
    assert "a filter with microseconds on an ORC table can miss rows" in text
    assert f"then uses {ORC_FILTERS}=false" in text


def test_the_safe_values_and_other_settings_give_no_warning(warned: list[str]):
    warn_of_filters({**SAFE_SETTINGS, "spark.x": "y"})
    warn_of_filters({key: value.upper() for key, value in SAFE_READS.items()})
    warn_of_filters({})
    assert warned == []
