"""The dbt project of a bicycle rental, in `bicycle_rental/`, and random rows for its seeds."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from benchmarks.spark import Contents, check
from benchmarks.workspace import SCHEMA, Program, Workspace

FOLDER = Path(__file__).with_name("bicycle_rental")
"""The project. Its seeds of stations and plans are files in it."""

PLANS, STATIONS = ("daily", "monthly", "student", "yearly"), 12
STATES = ("finished",) * 8 + ("cancelled", "disputed")
FIRST_DAY, DAYS = datetime(2026, 1, 1), 120


def files(rides: int) -> dict[str, str]:
    """Return the project's files.

    Args:
        rides: the number of rides. The same number always makes the same rows.

    Returns:
        The text of each file by its path in the project.
    """
    written = [path for path in FOLDER.rglob("*") if path.is_file()]
    return {
        **{path.relative_to(FOLDER).as_posix(): path.read_text() for path in written},
        **{f"seeds/{name}.csv": text for name, text in random_seeds(rides).items()},
    }


def random_seeds(rides: int) -> dict[str, str]:
    """Return the CSV text of the other seeds by name. Their rows are in proportion to the rides."""
    random = Random(rides)
    bikes, members, repairs = rides // 40, rides // 8, rides // 12

    def one_of(number: int) -> int:
        return random.randint(1, number)

    def time() -> datetime:
        return FIRST_DAY + timedelta(minutes=random.randrange(DAYS * 24 * 60))

    def bike(id: int) -> tuple[object, ...]:
        is_electric = id % 4 == 0
        price = 189_900 if is_electric else 64_950
        return id, f"Model {id % 7}", is_electric, one_of(STATIONS), f"{time():%F}", price

    def member(id: int) -> tuple[object, ...]:
        return id, f"Member {id}", random.choice(PLANS), f"{time():%F}"

    def ride(id: int) -> tuple[object, ...]:
        stations = one_of(STATIONS), one_of(STATIONS)
        state = random.choice(STATES)
        return id, one_of(bikes), one_of(members), *stations, time(), one_of(90), state

    def repair(id: int) -> tuple[object, ...]:
        kind = random.choice(("brake", "chain", "light", "tyre"))
        return id, one_of(bikes), f"{time():%F}", kind, one_of(9_000)

    return {
        "raw_bikes": _csv("id,model,is_electric,station_id,bought_on,price_cents", bikes, bike),
        "raw_members": _csv("id,name,plan_id,joined_on", members, member),
        "raw_rides": _csv(
            "id,bike_id,member_id,from_station_id,to_station_id,started_at,minutes,state",
            rides,
            ride,
        ),
        "raw_repairs": _csv("id,bike_id,reported_on,kind,cost_cents", repairs, repair),
    }


def _csv(columns: str, rows: int, row: Callable[[int], tuple[object, ...]]) -> str:
    lines = [",".join(map(str, row(id))) for id in range(1, rows + 1)]
    return "\n".join([columns, *lines, ""])


class Rental:
    """A project in a workspace, with no tables at first.

    Args:
        folder: the folder of the workspace.
        texts: the text of the project's files by path.
        tables: the names of the tables to check.
    """

    def __init__(self, folder: Path, texts: Mapping[str, str], tables: Iterable[str] = ()) -> None:
        self._workspace = Workspace(folder, {}, texts)
        self._rows = {
            f"{SCHEMA}.{Path(path).stem}": text.count("\n") - 1
            for path, text in texts.items()
            if path.startswith("seeds/")
        }
        self._tables = [*self._rows, *(f"{SCHEMA}.{name}" for name in tables)]
        self._first: Mapping[str, Contents] = {}

    def run(self, program: Program, command: str, after_last: bool = False) -> float:
        """Run a command of dbt, and compare its tables with those of the first run.

        Args:
            program: the adapter.
            command: the command.
            after_last: whether it starts with the tables that the last run left.

        Returns:
            The seconds from the start of the process to the end of the command.

        Raises:
            RunFailed: dbt failed.
            WrongResult: a seed has another number of rows than its file, or a table has other rows
                or types than after the first run.
        """
        found = self._workspace.run(program, command, tables=self._tables, after_last=after_last)
        for table, rows in self._rows.items():
            check(f"the number of rows of {table}", found.contents[table].rows, rows)
        self._first = self._first or found.contents
        check(f"the tables of {program.name}", found.contents, self._first)
        return found.whole
