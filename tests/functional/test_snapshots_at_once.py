"""Two `dbt snapshot` processes at once lose no version, and store none twice."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.functional.test_keep_alive import kept, project  # noqa: F401
from tests.functional.test_start import dbt

# Both processes find the same change of row 1, and each finds another one of row 2. The query takes
# some seconds, so that both have read the table before one of them writes it.
SNAPSHOT = """
{% snapshot versions %}
{{ config(unique_key='id', strategy='check', check_cols='all', target_schema='x') }}
select id, cast(case id when 2 then {{ var('own') }} else {{ var('same') }} end as int) as n
from range({{ var('rows') }}) as v (id)
where coalesce(java_method('java.lang.Thread', 'sleep', {{ var('wait') }}L), '') <> 'x'
{% endsnapshot %}
"""
CHECK = """
{% macro check() %}
  {% set found %}
    select id, count(*) as versions, count_if(dbt_valid_to is null) as current,
      count(distinct dbt_valid_from) as starts,
      count_if(dbt_valid_to is not null and not exists_later) as gaps
    from (select v.*, exists (select 1 from x.versions w
      where w.id = v.id and w.dbt_valid_from = v.dbt_valid_to) as exists_later from x.versions v)
    group by id order by id
  {% endset %}
  {% do log('FOUND ' ~ tojson(run_query(found).rows | map('list') | list), info=True) %}
{% endmacro %}
"""
CLEAR = ("Nothing was written", "DELTA_CONCURRENT", "another writer")


def snapshot(own: int, same: int, rows: int, wait: int) -> list[str]:
    variables = json.dumps({"own": own, "same": same, "rows": rows, "wait": wait})
    return ["snapshot", "--target-path", f"target-{own}", "--vars", variables]


@pytest.mark.slow
def test_two_processes_lose_no_version_and_store_none_twice(
    project: Path,  # noqa: F811
    kept: dict[str, str],  # noqa: F811
):
    (project / "snapshots").mkdir()
    (project / "snapshots" / "versions.sql").write_text(SNAPSHOT)
    (project / "macros" / "check.sql").write_text(CHECK)
    first = dbt(project, *snapshot(0, 0, 3, 0), **kept)
    assert first.returncode == 0, first.stdout
    with ThreadPoolExecutor(2) as pool:
        commands = [snapshot(own, 1, 4, 3000) for own in (1, 2)]
        ended = [*pool.map(lambda command: dbt(project, *command, **kept), commands)]
    failed = [run.stdout for run in ended if run.returncode != 0]
    for output in failed:
        assert any(text in output for text in CLEAR), output
    assert len(failed) < 2

    checked = dbt(project, "run-operation", "check", **kept).stdout
    (line,) = [line for line in checked.splitlines() if "FOUND " in line]
    found = {row[0]: tuple(row[1:]) for row in json.loads(line.split("FOUND ")[1])}
    # Each row has one current version, and each older version ends where another one starts.
    assert found == {
        0: (2, 1, 2, 0),
        1: (2, 1, 2, 0),
        2: (3 - len(failed), 1, 3 - len(failed), 0),
        3: (1, 1, 1, 0),
    }
