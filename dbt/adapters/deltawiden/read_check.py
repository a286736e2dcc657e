"""Find whether a model's query reads the table or view that the model replaces."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from dbt.adapters.deltawiden.config.location import Place
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.relation import DeltaWidenRelation
from dbt.adapters.deltawiden.sql.describe_parser import table_details
from dbt.adapters.deltawiden.views.stale_views import reads_table

# Spark does not show what an RDD reads.
_RDD = re.compile(r"\b(?:LogicalRDD|ExistingRDD)\b")
# What is read without a name of the catalog, and is no table of a database.
_UNNAMED = re.compile(r"\bRelation \[.*\] (?!JDBCRelation\()(.+)$", re.MULTILINE)
# What can have files: also a table of the catalog, but no table of a database.
_WITH_FILES = re.compile(r"\b(?:HiveTable)?Relation(?:V2)?\b(?!.* JDBCRelation\()")
# Of files, Spark shows the format. Other sources show a class.
_FILES = re.compile(r"[a-z]\w*|HadoopFiles")


def reads(
    backend: SqlBackend, query: str, relation: DeltaWidenRelation, model: Mapping[str, Any]
) -> bool:
    """Return whether a model's valid query reads its table or view, perhaps through views."""
    if relation.is_named_in(query):
        return True
    plan = backend.analyse(query).text
    is_python = model.get("language") == "python"  # A seed that is cloned has none.
    if is_python and "dbt.this" in model["raw_code"] and _may_read(backend, plan, query, relation):
        return True
    return reads_table(plan, relation_path(relation), backend.current_catalog)


def _may_read(backend: SqlBackend, plan: str, query: str, relation: DeltaWidenRelation) -> bool:
    """Return whether a data frame can read a relation, or a table's files, without its name."""
    unnamed, is_rdd = _UNNAMED.findall(plan), bool(_RDD.search(plan))
    if is_rdd or relation.is_view or not unnamed:
        return is_rdd
    if not all(map(_FILES.fullmatch, unnamed)):
        return True
    several = len(_WITH_FILES.findall(plan)) > 1
    # Spark shows no files of Iceberg, either.
    if several and ("RelationV2" in plan or backend.hides_files(query)):
        return True
    rows = backend.fetch_rows(f"describe table extended {relation.render()}")
    folder, files = table_details(rows).get("Location"), backend.input_files(query)
    if not (folder and files):
        return True
    # It escapes some locations, and others not.
    own, *read = (Place.of(unquote(unquote(each))) for each in (folder, *files))
    return any(own.may_be(place) for each in read for place in each.and_above())
