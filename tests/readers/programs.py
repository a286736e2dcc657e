"""The measured programs: delta-rs, and DuckDB with its extension for Delta."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import deltalake
import duckdb
import duckdb_extension_delta

Row = tuple[int, list[int]]


class Refused(Exception):
    """The program refused the operation, with this message."""


@dataclass(frozen=True)
class Content:
    """The rows that a program reads, in order, and whether the numbers have 32 or 64 bits."""

    bits: tuple[int, ...]
    rows: list[Row]


class Program(ABC):
    """A program that reads Delta tables and can also append to them."""

    name: str
    version: str

    @abstractmethod
    def read(self, table: Path) -> Content:
        """Read a table whose columns are a number `n` and an array of numbers `a`."""

    @abstractmethod
    def count(self, table: Path, condition: str) -> int:
        """Count the rows of any table that meet a condition."""

    @abstractmethod
    def append(self, table: Path, row: Row, bits: int) -> None:
        """Append a row of numbers with as many bits as the table has."""


class DeltaRs(Program):
    name = "delta-rs (`deltalake`)"
    version = version("deltalake")

    _BITS = {"Int32": 32, "List(Int32)": 32, "Int64": 64, "List(Int64)": 64}

    def read(self, table: Path) -> Content:
        types = self._query(
            "select arrow_typeof(n) as n, arrow_typeof(a) as a from t limit 1", table
        )
        rows = self._query("select n, a from t order by n", table)
        return Content(
            tuple(
                self._BITS[types[0][column].replace(", field: 'element'", "")] for column in "na"
            ),
            [(row["n"], row["a"]) for row in rows],
        )

    def count(self, table: Path, condition: str) -> int:
        (row,) = self._query(f"select count(*) as found from t where {condition}", table)
        return int(row["found"])

    def append(self, table: Path, row: Row, bits: int) -> None:
        sql_type = {32: "int", 64: "bigint"}[bits]
        numbers = ", ".join(f"cast({number} as {sql_type})" for number in row[1])
        query = f"select cast({row[0]} as {sql_type}) as n, make_array({numbers}) as a"
        new = deltalake.QueryBuilder().execute(query)
        try:
            deltalake.write_deltalake(str(table), new, mode="append")
        except deltalake.exceptions.DeltaError as error:
            raise Refused(str(error)) from error

    def _query(self, query: str, table: Path) -> list[dict[str, Any]]:
        try:
            opened = deltalake.DeltaTable(str(table))
            answer = deltalake.QueryBuilder().register("t", opened).execute(query).read_all()
        except deltalake.exceptions.DeltaError as error:
            raise Refused(str(error)) from error
        return answer.to_struct_array().to_pylist()


class DuckDb(Program):
    name = "DuckDB (extension `delta`)"
    version = version("duckdb")

    _BITS = {"INTEGER": 32, "INTEGER[]": 32, "BIGINT": 64, "BIGINT[]": 64}

    def __init__(self) -> None:
        # Nothing is downloaded: the extension is in a package. DuckDB checks its signature.
        self._connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
        folder = Path(duckdb_extension_delta.__file__).parent
        (extension,) = folder.rglob(f"v{duckdb.__version__}/delta.duckdb_extension")
        self._connection.execute(f"load '{extension}'")

    def read(self, table: Path) -> Content:
        try:
            answer = self._connection.sql(f"select n, a from delta_scan('{table}') order by n")
            rows = answer.fetchall()
        except duckdb.Error as error:
            raise Refused(str(error)) from error
        return Content(tuple(self._BITS[str(duckdb_type)] for duckdb_type in answer.types), rows)

    def count(self, table: Path, condition: str) -> int:
        query = f"select count(*) from delta_scan('{table}') where {condition}"
        try:
            ((found,),) = self._connection.sql(query).fetchall()
        except duckdb.Error as error:
            raise Refused(str(error)) from error
        return int(found)

    def append(self, table: Path, row: Row, bits: int) -> None:
        self._connection.execute(f"attach '{table}' as appended (type delta)")
        try:
            self._connection.execute("insert into appended values (?, ?)", row)
        except duckdb.Error as error:
            raise Refused(str(error)) from error
        finally:
            self._connection.execute("detach appended")


PROGRAMS = (DeltaRs, DuckDb)
