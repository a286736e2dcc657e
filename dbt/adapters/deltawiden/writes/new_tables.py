"""What a query that creates or replaces a table needs: the check of partitions, table features."""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.config.clustering import bucket_problems, read_clustering
from dbt.adapters.deltawiden.config.declared_columns import (
    DEFAULTS_PROPERTY,
    Declaration,
    declaration_problems,
    is_contract_enforced,
    metadata,
    read_declarations,
)
from dbt.adapters.deltawiden.config.model import DELTA
from dbt.adapters.deltawiden.config.model_spec import ModelSpec, spec_of_run
from dbt.adapters.deltawiden.config.policy import invalid_configuration
from dbt.adapters.deltawiden.config.project_macros import CREATE_MACROS, is_replaced
from dbt.adapters.deltawiden.config.strategies import MICROBATCH
from dbt.adapters.deltawiden.delta.backends.explain import may_read_char, padding_shown
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.column_metadata import CURRENT_DEFAULT
from dbt.adapters.deltawiden.delta.protocol import SUPPORTED, TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.spark.errors import NOT_BUILT
from dbt.adapters.deltawiden.spark.temporary_views import DECLARED, temporary_view
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import columns_named, path_sql, path_text, quote
from dbt.adapters.deltawiden.sql.queries import select_from
from dbt.adapters.deltawiden.sql.types import contains
from dbt.adapters.deltawiden.widening.clustering import find_columns
from dbt.adapters.deltawiden.widening.rules import feature_properties
from dbt.adapters.deltawiden.writes.batches import batch_checked_sql, require_partitions
from dbt.adapters.deltawiden.writes.comments import warn_of_missing_in_query
from dbt.adapters.deltawiden.writes.model_views import ModelViews
from dbt.adapters.deltawiden.writes.table_checks import (
    check_without_version,
    refuse_for_files,
    value_check,
)
from dbt.adapters.deltawiden.writing.columns import (
    chars_unchanged_sql,
    partitions_checked_sql,
    strings_sql,
)
from dbt.adapters.deltawiden.writing.contract_checks import check_constraints
from dbt.adapters.deltawiden.writing.file_formats import checked_format_query
from dbt.adapters.deltawiden.writing.partition_values import keeps_partitions_as_text
from dbt.adapters.deltawiden.writing.value_check import warn_unchecked_columns


class NewTables:
    """Prepares the queries that create or replace tables."""

    def __init__(self, backend: SqlBackend, views: ModelViews) -> None:
        self._backend = backend
        self._views = views
        self._declared: dict[str, dict[str, dict[str, str]]] = {}

    def checked_query(self, context: Mapping[str, Any], query: str, table: SparkRelation) -> str:
        """Check the query that creates or replaces a table, before anything is dropped.

        Returns:
            A query with the same rows, which ends with an error if a partition, a char or a text
            format would not store a value exactly, or if a row is not in the batch of a microbatch
            model; ``query`` itself if nothing has to be checked.

        Raises:
            SchemaChangeRefused: the query reads through a view that changes values.
            DbtConfigError: ``liquid_clustered_by`` has a name that is not a column of the query, or
                the table would have buckets, which Delta does not have; or the contract declares a
                column that the table can't have; or a setting of the session can lose rows of it.
            CompilationError: it can't be known which rows are in the batch, or the next batches
                would replace all rows of the table; or two checks have one name.
            EventCompilationError: ``--warn-error`` makes an error of a warning: the contract has
                constraints that Delta lacks, or documented columns do not exist.
            DbtDatabaseError: the query is not valid. Without its schema, nothing can be checked.
        """
        self._views.check_model(context, query)
        check_constraints(context)
        warn_of_missing_in_query(self._backend, context, query, table)
        config = context["config"]
        clustering = self._clustering(query, config)
        declarations = self._declarations(context["model"], config)
        for key, value in (clustering | _properties(declarations, config)).items():
            config.model.config[key] = value
        self._declared[config.model.unique_id] = metadata(declarations)
        spec = spec_of_run(context)
        is_format = {f"is_{name}": spec.file_format == name for name in (DELTA, "iceberg", "hudi")}
        refuse_for_files(self._backend, table.incorporate(**is_format))
        query = self._with_batch_checked(query, context, spec)
        query = checked_format_query(self._backend, query, spec)
        query = self._with_partitions_checked(query, table, spec)
        return self._with_chars_checked(query, table, spec)

    def _clustering(self, query: str, config: Any) -> dict[str, list[str]]:
        """Return ``liquid_clustered_by`` in the case of the query, as CREATE TABLE requires it."""
        name = config.model.unique_id
        if buckets := bucket_problems(config):
            raise invalid_configuration(name, buckets)
        wanted = read_clustering(config)
        if not wanted:
            return {}
        paths, problems = find_columns(wanted, self._backend.schema_to_check(query))
        if problems:
            texts = (f"liquid_clustered_by: {path_text(path)}: {why}" for path, why in problems)
            raise invalid_configuration(name, texts)
        return {"liquid_clustered_by": [path_sql(path) for path in paths]}

    def declared_query(self, model: Mapping[str, Any], query: str) -> str:
        """Add what a contract declares of the columns of a new table to the query for its rows.

        A CREATE TABLE AS SELECT can't declare columns. Delta takes generation expressions and
        default values from the metadata of the query's columns, as a data frame has it.

        Returns:
            A query of a temporary view that has the metadata. ``query`` itself if the contract
            declares nothing, or if ``checked_query`` has not checked it: then no table is created.
        """
        declared = self._declared.pop(str(model["unique_id"]), None)
        if not declared:
            return query
        view = temporary_view(model, DECLARED)
        self._backend.create_view(view, query, declared)
        return f"select * from {quote(view)}"

    def _declarations(self, model: Mapping[str, Any], config: Any) -> list[Declaration]:
        """Read what an enforced contract declares, and refuse what the table can't have."""
        declarations = read_declarations(model.get("columns") or {})
        if not declarations or not is_contract_enforced(config):
            return []
        file_format = str(config.get("file_format"))
        problems = declaration_problems(declarations, file_format, self._backend.has_session)
        if problems:
            raise invalid_configuration(config.model.unique_id, problems)
        return declarations

    def _with_batch_checked(self, query: str, context: Mapping[str, Any], spec: ModelSpec) -> str:
        # With a microbatch macro of its own, a project can turn batches off.
        if spec.strategy != MICROBATCH or not context["model"].get("batch"):
            return query
        if spec.file_format not in (DELTA, "iceberg") and not spec.is_written_by_project:
            require_partitions(spec)
        schema = self._backend.schema_to_check(query)
        predicates = () if spec.is_written_by_project else spec.predicates
        checked = batch_checked_sql(schema, context["config"], context["model"], predicates)
        return select_from(checked, query)

    def _with_partitions_checked(self, query: str, table: SparkRelation, spec: ModelSpec) -> str:
        columns = columns_named(spec.partition_by)
        is_text = keeps_partitions_as_text(spec.file_format)
        if not columns or not is_text or spec.ignores_values:
            return query
        schema = self._backend.schema_to_check(query)
        written = table.incorporate(is_delta=spec.file_format == DELTA)
        if not spec.checks_values:
            check = check_without_version(spec.name, written, schema, columns)
            fields = (f for f in schema.fields if check.has_to_check_partition(f.name, f.dataType))
            warn_unchecked_columns(relation_sql(table), [field.name for field in fields])
            return query
        check = value_check(self._backend, spec.name, written, schema, columns)
        selected = partitions_checked_sql(schema, check)
        return select_from(selected, query) if selected else query

    def _with_chars_checked(self, query: str, table: SparkRelation, spec: ModelSpec) -> str:
        """Check the texts of the columns that a new table will declare as char or varchar.

        A union declares what its first query declares, whatever the texts of the others are. With
        SQL alone, the table will declare strings instead.
        """
        if spec.ignores_values:
            return query
        schema = self._backend.query_schema_without_statement(query)
        if schema is None:
            return self._without_chars(query) if spec.checks_values else query
        is_delta, is_iceberg = (spec.file_format == name for name in (DELTA, "iceberg"))
        written = table.incorporate(is_delta=is_delta, is_iceberg=is_iceberg)
        check = value_check(self._backend, spec.name, written, schema, frozenset())
        if not spec.checks_values:
            declared = with_char_types(schema, check.texts).fields
            chars = [field.name for field in declared if contains(field.dataType, check.texts)]
            warn_unchecked_columns(relation_sql(table), chars)
            return query
        condition = chars_unchanged_sql(schema, check)
        return f"{select_from('*', query)} where {condition}" if condition else query

    def _without_chars(self, query: str) -> str:
        """Let a new table declare strings, if the query reads a char.

        It is for connections that have SQL alone, where no statement shows which columns the table
        would declare as char.
        """
        try:
            with padding_shown(self._backend):
                plan = self._backend.analyse(query).text
            if not may_read_char(plan):
                return query
        except DbtRuntimeError:
            pass  # If the query is not valid, its schema can't be read, either.
        return select_from(strings_sql(self._backend.schema_to_check(query)), query)

    def feature_properties(self, query: str) -> dict[str, str]:
        """Return the table properties without which a query can't replace an existing Delta table.

        Returns:
            Properties that support table features; none if the schema would take a statement.
        """
        schema = self._backend.query_schema_without_statement(query)
        return feature_properties([schema]) if schema is not None else {}

    def loses_type_widening(
        self, context: Mapping[str, Any], table: SparkRelation | None, file_format: str
    ) -> bool:
        """Return whether a macro of the project may replace a table without its type widening."""
        is_own = any(is_replaced(context, name) for name in CREATE_MACROS)
        if not (is_own and table and table.is_delta and file_format == DELTA):
            return False
        config = context["config"]
        configured = map(str.lower, config.get("tblproperties") or {})
        if (
            isinstance(config.get("type_widening"), bool)
            or TYPE_WIDENING_PROPERTY.lower() in configured
        ):
            return False
        return self.has_type_widening(table)

    def has_type_widening(self, table: SparkRelation) -> bool:
        """Return whether a table's property enables type widening."""
        try:
            return self._backend.snapshot(table).has(TYPE_WIDENING_PROPERTY)
        except DbtRuntimeError as error:
            if NOT_BUILT in str(error):
                return False  # A hook has dropped or renamed it.
            raise


def _properties(declarations: list[Declaration], config: Any) -> dict[str, dict[str, Any]]:
    """Return ``tblproperties`` with the one that default values need."""
    if all(declaration.key != CURRENT_DEFAULT for declaration in declarations):
        return {}
    given = config.get("tblproperties") or {}
    return {"tblproperties": {DEFAULTS_PROPERTY: SUPPORTED, **given}}
