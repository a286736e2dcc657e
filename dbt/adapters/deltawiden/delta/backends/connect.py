"""Read tables with a Spark Connect session: exact schemas, and no JVM in this process."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from pyspark.sql.types import StringType, StructField, StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.spark.session_connection import errors_as_dbt_errors
from dbt.adapters.deltawiden.sql.describe_parser import CHAR_VARCHAR_KEY
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.versions import Version, read_version


class ConnectBackend(SqlBackend):
    """Reads schemas with the session, and uses SQL for the rest. See ``SqlBackend``."""

    has_session = True

    def fetch_rows(self, query: str) -> Sequence[Any]:
        # A time in the session's zone can be two moments.
        with self._handle().with_moments():
            return super().fetch_rows(query)

    def setting(self, key: str) -> str | None:
        # A statement SET would make a copy of the session: see ``connections``.
        value: str | None = self._handle().session.conf.get(key, None)
        return value

    def _can_have_declarations(self, schema: StructType) -> bool:
        return any(CHAR_VARCHAR_KEY in field.metadata for field in schema.fields)

    def schema(self, relation: BaseRelation) -> StructType:
        schema: StructType = self._handle().schema(relation.render())
        return schema

    def prefetch_schema(self, table: BaseRelation) -> Callable[[], StructType]:
        """Return a function that reads a table's schema. Only one thread may use a cursor."""
        return lambda: self._with_partition_columns(table, self.schema(table))

    def query_schema(self, query: str) -> StructType:
        schema: StructType = self._handle().query_schema(query)
        return schema

    def query_schema_without_statement(self, query: str) -> StructType | None:
        return self.schema_if_valid(query)

    def create_view(self, name: str, query: str, metadata: Mapping[str, Mapping[str, str]]) -> None:
        with errors_as_dbt_errors():
            frame = self._handle().session.sql(query)
            fields = frame.schema.fields
            # By names of our own, because a column's name can have dots and backticks.
            numbered = frame.toDF(*(f"c{number}" for number in range(len(fields))))
            columns = [
                numbered[f"c{number}"].alias(
                    field.name, metadata={**field.metadata, **metadata.get(field.name.lower(), {})}
                )
                for number, field in enumerate(fields)
            ]
            numbered.select(columns).createOrReplaceTempView(quote(name))

    def create_text_view(
        self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str | None]]
    ) -> None:
        schema = StructType([StructField(column, StringType()) for column in columns])
        with errors_as_dbt_errors():
            frame = self._handle().session.createDataFrame(rows, schema, verifySchema=False)
            frame.createOrReplaceTempView(quote(name))

    def input_files(self, query: str) -> list[str]:
        with errors_as_dbt_errors():
            return list(self._handle().session.sql(query).inputFiles())

    def drop_views(self, names: Iterable[str]) -> None:
        """Drop temporary views that were made from data frames, if they exist."""
        for name in names:
            self._handle().session.catalog.dropTempView(name)

    def commented_schema(self, table: BaseRelation, nested: bool) -> StructType:
        return self.schema(table)

    def comment(self, relation: BaseRelation) -> str | None:
        comment: str | None = self._handle().comment(relation.render())
        return comment

    def instant(self, value: datetime | str) -> datetime:
        # PySpark returns timestamps in the time zone of this machine, without saying so.
        assert isinstance(value, datetime)
        return value.astimezone(timezone.utc)

    def _read_spark_version(self) -> Version:
        return read_version(self._handle().session.version)
