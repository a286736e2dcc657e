"""Read the analysed plan of a query in the session's JVM."""

import json
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.query_views import FOLLOWING_MODES, ViewTypes
from dbt.adapters.deltawiden.spark.scala import analysed_plan
from dbt.adapters.deltawiden.spark.session_connection import errors_as_dbt_errors
from dbt.adapters.deltawiden.sql.identifiers import Path, parse_path, path_sql

_SEPARATOR = "\n"


class JvmQuery:
    """An analysed plan in the session's JVM."""

    def __init__(self, session: SparkSession, plan: Any) -> None:
        self._session = session
        self._plan = plan
        self.text = str(plan.numberedTreeString())

    def view_types(self, name: Path, line: int) -> ViewTypes:
        with errors_as_dbt_errors():
            node = self._node(name, line)
            described = node.desc()
            if str(described.viewSchemaMode().toString()) in FOLLOWING_MODES:
                return ViewTypes(follows=True)
            names = str(described.viewQueryColumnNames().mkString(_SEPARATOR))
            query = _read(node.child().child().schema())
            columns = names.split(_SEPARATOR) if names else ()
            return ViewTypes(False, query, _read(node.schema()), columns)

    def _node(self, name: Path, line: int) -> Any:
        node = self._plan.p(line)
        if node is not None and _is_view(node, name):
            return node
        # A text of several lines in the plan makes its line numbers wrong.
        return analysed_plan(self._session.table(path_sql(name))).child()


def _is_view(node: Any, name: Path) -> bool:
    return (
        str(node.nodeName()) == "View"
        and parse_path(str(node.desc().identifier().quotedString())) == name
    )


def _read(schema: Any) -> StructType:
    return StructType.fromJson(json.loads(schema.json()))
