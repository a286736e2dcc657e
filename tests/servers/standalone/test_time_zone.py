"""The workers of a cluster have another time zone than dbt."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests.servers.own_session import FEW_TASKS
from tests.servers.server import LOOPBACK, cluster

DBT = [str(Path(sys.executable).parent / "dbt")]
MOMENT = "timestamp'2024-07-01 12:00:00+00:00'"
FILES = {
    "models/moments.sql": "{{ config(materialized='table', partition_by='at') }} "
    f"select 1 as id, {MOMENT} as at",
    "tests/kept.sql": f"select * from {{{{ ref('moments') }}}} where at <> {MOMENT}",
    "dbt_project.yml": "{name: small, profile: small, flags: {send_anonymous_usage_stats: false}}",
}


def test_a_timestamp_that_partitions_a_table_is_stored_as_it_is(tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "cluster").mkdir()
    with cluster(tmp_path / "cluster", workers=1) as master:
        parameters = {
            **FEW_TASKS,
            "spark.master": master,
            "spark.driver.host": LOOPBACK,
            "spark.ui.enabled": "false",
            "spark.executor.memory": "1g",
            "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
        }
        output = {"type": "deltawiden", "schema": "x", "server_side_parameters": parameters}
        profile = {"small": {"target": "dev", "outputs": {"dev": output}}}
        (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
        done = subprocess.run(
            [*DBT, "--no-use-colors", "build"],
            cwd=tmp_path,
            env={**os.environ, "TZ": "Europe/Amsterdam"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert "PASS=2" in done.stdout, done.stdout + done.stderr
