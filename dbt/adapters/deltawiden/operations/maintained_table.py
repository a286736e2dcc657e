"""One Delta table, with what its maintenance asks of it and does to it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.column_metadata import read_metadata
from dbt.adapters.deltawiden.delta.data_files import DataFiles
from dbt.adapters.deltawiden.delta.reader import Reader
from dbt.adapters.deltawiden.delta.relations import quoted
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.transaction_log import FetchRows, metadata_removed_at
from dbt.adapters.deltawiden.delta.type_change import TypeChange


@dataclass(frozen=True)
class DeltaTable:
    """A table that is being maintained.

    Attributes:
        relation: the table.
        reader: reads its facts.
        fetch_rows: runs a query.
        run: runs a statement.
        files: its data files.
        commit_tag: what the user metadata of every commit made here contains.
    """

    relation: SparkRelation
    reader: Reader
    fetch_rows: FetchRows
    run: Callable[[str], Any]
    files: DataFiles
    commit_tag: str

    @property
    def name(self) -> str:
        """Its name, quoted for a statement."""
        return quoted(self.relation)

    def facts(self, layout: bool = False) -> TableSnapshot:
        """Read its properties and features: ``Reader.facts``."""
        return self.reader.facts(self.relation, layout=layout)

    def schema(self) -> tuple[StructType, tuple[TypeChange, ...]]:
        """Read its schema with Delta's own metadata, and the type changes recorded in that."""
        text = self.files.log_schema()
        return StructType.fromJson(json.loads(text)), read_metadata(text).changes

    def remove_recorded_changes(self) -> None:
        """Take the recorded type changes out of its schema: ``Reader.remove_recorded_changes``."""
        self.reader.remove_recorded_changes(self.relation)

    def count(self, version: int) -> int:
        """Count its rows at a version; from statistics, where Delta has them."""
        query = f"select count(*) from {self.name} version as of {version}"
        return int(self.fetch_rows(query)[0][0])

    def others_since(self, version: int) -> Sequence[str]:
        """Name the operations that others have committed after a version."""
        newer = self.files.version() - version
        if not newer:
            return []
        rows = self.fetch_rows(f"describe history {self.name} limit {newer}")
        return [
            str(row["operation"])
            for row in rows
            if self.commit_tag not in str(row["userMetadata"] or "")
        ]

    def history_expires_at(self, retention: str) -> str:
        """Say when history will no longer have the type changes that were removed last.

        Args:
            retention: how long history is kept, as an SQL interval.

        Returns:
            The time, as in ISO 8601, in the connection's time zone.
        """
        location = str(self.fetch_rows(f"describe detail {self.name}")[0]["location"])
        return metadata_removed_at(location, retention, self.fetch_rows)
