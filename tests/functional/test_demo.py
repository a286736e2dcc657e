"""`make demo`, as users run it."""

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "examples" / "flights" / "demo.py"


def test_it_compares_the_stored_values_with_the_csv():
    run = subprocess.run([sys.executable, DEMO], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "336776                          336776                          336776" in run.stdout
    assert "deltawiden: every sum is the CSV's" in run.stdout
    assert "dbt-spark:  speed, fuel_cost, departure lost, without a word" in run.stdout
    assert "dbt run-operation widen_columns --args" in run.stdout
    # The commit that widened rewrote no data file.
    assert "CHANGE COLUMNS                             0        0  model.nycflights" in run.stdout
