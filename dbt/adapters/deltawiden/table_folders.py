"""Check before a node runs that its name, its folder and the table in it are its own.

Spark's metastore knows the folder of a table, and Delta's log does not know the table's name. So
``create or replace table`` with a folder that another metastore, or another name, uses replaces
that table. The adapter stores whose table it is as properties of a new table with a folder.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.spark.relation import SparkRelation
from dbt.flags import get_flags
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.config.location import Place, has_table
from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.node_folders import RESOURCES, FolderRefused, NodeFolders
from dbt.adapters.deltawiden.config.project_macros import NodeMacros
from dbt.adapters.deltawiden.config.validation import check_location_keys
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import in_session_catalog, relation_path
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.errors import condition
from dbt.adapters.deltawiden.sql.identifiers import name_sql, quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.statements import set_properties

RELATION_PROPERTY, TARGET_PROPERTY = "dbt.relation", "dbt.target"
"""The table properties that say whose table a folder has."""

_CLONE = "clone"
_COMMANDS = frozenset({"build", "retry", "run", "seed", "snapshot"})
_REPLACES = frozenset({"incremental", "seed", "table"})
_NO_TABLE = frozenset({"DELTA_MISSING_DELTA_TABLE", "DELTA_PATH_DOES_NOT_EXIST", "PATH_NOT_FOUND"})
# What a server says of a name that it does not have, or that its user may not use. After any other
# error, such as a timeout, a table can be there all the same.
_REFUSED = re.compile(
    r"\[(FORBIDDEN|INSUFFICIENT_PERMISSIONS|MISSING_CATALOG_ABILITY|NOT_SUPPORTED|PERMISSION_DENIED"
    r"|SCHEMA_NOT_FOUND|TABLE_OR_VIEW_NOT_FOUND|UC_|UNAUTHORIZED|UNSUPPORTED)"
    r"|does not have \[[^]]*\] privilege"  # Ranger, in Kyuubi
)
_LOCATION = re.compile(r"^Location: (.*)$", re.MULTILINE)
# What a statement that has failed can leave in the folder of a table that it would have created.
_LEFT_BY_A_WRITE = r"^part-.*[.]parquet$"


@dataclass(frozen=True)
class FoundTable:
    """A Delta table in the folder of a node's table, which the metastore does not know.

    Attributes:
        name: the name that the node gives to its table.
        owner: the properties that say that it is the node's.
        is_continued: whether the node takes it over. Otherwise, it replaces it.
    """

    name: str
    folder: str
    properties: Mapping[str, str]
    owner: Mapping[str, str]
    is_continued: bool

    @property
    def statements(self) -> Sequence[str]:
        """The statements that take it over."""
        create = f"create table {self.name} using delta location {literal(self.folder)}"
        if all(self.properties.get(key) == text for key, text in self.owner.items()):
            return [create]
        return [create, set_properties(self.name, self.owner)]


class TableFolders(NodeFolders):
    """Checks the folders of the tables of nodes, and takes over the tables that are in them."""

    def __init__(self, adapter: SparkAdapter, backend: SqlBackend) -> None:
        super().__init__(adapter)
        self._backend = backend
        self._schema_folders: dict[str, str | None] = {}

    def owner(self, relation: BaseRelation) -> dict[str, str]:
        """Return the properties that say that a table is this one."""
        name = name_sql(*in_session_catalog(relation_path(relation)))
        return {RELATION_PROPERTY: name, TARGET_PROPERTY: str(self._adapter.config.target_name)}

    def prepare(self, node: Any) -> None:
        """Check the folder of a node's table, before dbt compiles the node.

        The SQL of an incremental model depends on whether its table exists. So a table that the
        folder has, and that the metastore does not know, gets its name now.

        Raises:
            FolderRefused: the folder is another node's, or another table's; or the node's table is
                in another folder.
            DbtConfigError: a configuration value about the folder is not accepted.
            EventCompilationError: ``--warn-error`` makes errors of warnings.
        """
        if getattr(node, "resource_type", None) not in RESOURCES:
            return
        if _command() == _CLONE:
            self._check_clone(node)
        elif _command() in _COMMANDS:
            self._prepare_run(node)

    def _prepare_run(self, node: Any) -> None:
        found = self._find_table(node)
        if isinstance(found, SparkRelation):
            self._adapter.cache_added(found)
        elif found is not None and found.is_continued:
            self._take_over(found, self._relation(node))
        elif found is not None and node.config.get("materialized") in _REPLACES:
            logger.info(
                f"{node.unique_id}: replaces the Delta table in {found.folder}, which the "
                "metastore does not know"
            )

    def _check_clone(self, node: Any) -> None:
        """Check the folder of the table that ``dbt clone`` makes, before it drops a view for it.

        Delta replaces a table in the folder if it has no rows. It can be the one that is cloned:
        production's, with the same ``location_root``.
        """
        original = self._cloned(node) if node.config.get("location_root") else None
        if original is None:
            return
        self._check_config(node, has_folder=True)
        folder = str(self.configured_folder(node.config, self._relation(node)))
        location = _location(original)
        if location is not None and Place.of(folder).may_be(Place.of(location)):
            raise self._refused(node, folder, original.render())
        existing: Any = self._adapter.get_relation(node.database, node.schema, node.alias)
        if existing is not None and existing.is_table:
            _check_location(node, existing, folder)
            return
        found = self._table_in(folder, node, existing)
        if isinstance(found, SparkRelation):
            self._adapter.cache_added(found)
        elif found is not None:
            self._check_has_no_rows(node, folder)

    def _cloned(self, node: Any) -> SparkRelation | None:
        """Return the Delta table that ``dbt clone`` clones for a node; None if it clones none."""
        adapter: Any = self._adapter
        macros = NodeMacros(adapter.get_macro_resolver(), adapter.config, node.package_name)
        deployed = getattr(node, "defer_relation", None)
        if not deployed or macros.writer(_CLONE) or self._is_own(node):
            return None
        wanted = adapter.Relation.create_from(adapter.config, deployed)
        existing = adapter.get_relation(node.database, node.schema, node.alias)
        is_kept = existing is not None and not getattr(get_flags(), "FULL_REFRESH", False)
        if is_kept or (existing is not None and existing.render() == wanted.render()):
            return None
        found = adapter.get_relation(wanted.database, wanted.schema, wanted.identifier)
        return found if found is not None and found.is_delta else None

    def _check_has_no_rows(self, node: Any, folder: str) -> None:
        table = self._in(folder).render()
        if self._backend.fetch_rows(f"select 1 from {table} limit 1"):
            raise FolderRefused(
                f"{node.unique_id}: dbt clone can't make its table in {folder}: Delta clones into "
                "no folder with rows. Nothing was changed. If nobody needs these rows, run: "
                f"truncate table {table}"
            )

    def taken_over(self, unique_id: str) -> tuple[SparkRelation, Sequence[str]] | None:
        """Return the table that the next run of a node will take over, or None.

        It is named by its folder, and has the statements that will take it over. The errors are
        those of ``prepare``.
        """
        manifest: Any = self._adapter.get_macro_resolver()
        node = manifest.nodes[unique_id]
        found = self._find_table(node) if _continues(node) else None
        if not (isinstance(found, FoundTable) and found.is_continued):
            return None
        return self._in(found.folder), found.statements

    def check(self, unique_id: str) -> None:
        """Check the folder of a node's table, as its next run will. The errors are its errors."""
        manifest: Any = self._adapter.get_macro_resolver()
        self._find_table(manifest.nodes[unique_id])

    def _find_table(self, node: Any) -> FoundTable | SparkRelation | None:
        """Check a node's folder, and find the Delta table in it that dbt does not know.

        Returns:
            The table that the metastore does not know either; or the relation of the node's table,
            which something has made since dbt has listed the tables.
        """
        has_folder = has_table(node.config) and not self._is_own(node)
        self._check_config(node, has_folder)
        if not has_folder or file_format_of(node.config) != DELTA:
            return None
        relation = self._relation(node)
        folder = self.configured_folder(node.config, relation)
        existing: Any = self._adapter.get_relation(node.database, node.schema, node.alias)
        if folder is None:
            is_wanted = existing is None and _continues(node)
            default = self._default_folder(relation) if is_wanted else None
            return self._table_in(default, node, existing, is_guessed=True) if default else None
        if isinstance(existing, SparkRelation) and existing.is_table:
            _check_location(node, existing, folder)
            return None
        return self._table_in(folder, node, existing)

    def _check_config(self, node: Any, has_folder: bool) -> None:
        """Check a node's keys about its folder, and that its name and folder are its own."""
        if has_folder:
            check_location_keys(node.config, node.unique_id)
        self._check_is_alone(node)
        if has_folder and (folder := self.configured_folder(node.config, self._relation(node))):
            connections: Any = self._adapter.connections
            connections.check_location(folder)

    def _table_in(
        self, folder: str, node: Any, existing: BaseRelation | None, is_guessed: bool = False
    ) -> FoundTable | SparkRelation | None:
        """Find the Delta table in a folder, or refuse what is there and is not the node's."""
        properties = self._properties(folder, is_guessed)
        if properties is None:
            if not is_guessed:
                self._check_has_no_files(node, folder)
            return None
        relation = self._relation(node)
        made = self._made_since(relation) if existing is None else None
        if made is not None:
            if not is_guessed:
                _check_location(node, made, folder)
            return made
        self._check_owner(node, relation, folder, properties)
        is_continued = existing is None and _continues(node)
        owner = self.owner(relation)
        return FoundTable(relation.render(), folder, properties, owner, is_continued)

    def _default_folder(self, relation: BaseRelation) -> str | None:
        """Return the folder that the session's catalog gives to a new table, if that is known.

        Source:
            ``HiveExternalCatalog.createTable`` and ``SessionCatalog.defaultTablePath`` of Spark.
        """
        *schema, name = in_session_catalog(relation_path(relation))
        if len(schema) > 1:
            return None  # Other catalogs choose folders by rules of their own.
        quoted = name_sql(*schema)
        if quoted not in self._schema_folders:
            self._schema_folders[quoted] = self._schema_folder(quoted)
        folder = self._schema_folders[quoted]
        return f"{folder.rstrip('/')}/{name}" if folder else None

    def _schema_folder(self, schema: str) -> str | None:
        try:
            rows = self._backend.fetch_rows(f"describe schema {schema}")
        except DbtRuntimeError as error:
            if not _REFUSED.search(str(error.msg)):
                raise
            return None  # There is no such schema, or the user may not read its description.
        return next((str(row[1] or "") for row in rows if row[0] == "Location"), None)

    def _in(self, folder: str) -> SparkRelation:
        """Return the Delta table in a folder, named by the folder."""
        table: Any = self._adapter.Relation.create(schema="delta", identifier=folder)
        found: SparkRelation = table.incorporate(type="table").replace(is_delta=True)
        return found

    def _properties(self, folder: str, is_guessed: bool) -> Mapping[str, str] | None:
        """Return the properties of the Delta table in a folder, or None if there is none.

        None also if the server refuses a guessed folder: it can refuse all names that are paths.
        """
        try:
            return self._backend.snapshot(self._in(folder)).all_properties
        except DbtRuntimeError as error:
            text = str(error.msg)
            if condition(text) in _NO_TABLE or (is_guessed and _REFUSED.search(text)):
                return None
            raise

    def _check_has_no_files(self, node: Any, folder: str) -> None:
        """Refuse a folder with other files: VACUUM deletes those that a table's log lacks."""
        try:
            files = self._backend.fetch_rows(
                f"select _metadata.file_name from text.{quote(folder)} "
                f"where _metadata.file_name not rlike '{_LEFT_BY_A_WRITE}' limit 1"
            )
        except DbtRuntimeError:
            return  # There is no such folder, or Spark will say what is wrong with it.
        if files:
            raise FolderRefused(
                f"{node.unique_id}: the folder of its table, {folder}, has files that are no Delta "
                f"table ({files[0][0]}). VACUUM would delete them. Nothing was written. Set "
                "another location_root or alias, or move the files."
            )

    def _check_owner(
        self, node: Any, relation: BaseRelation, folder: str, properties: Mapping[str, str]
    ) -> None:
        other = self._other_name(relation, folder)
        if other is not None:
            raise self._refused(node, folder, other)
        if node.config.get("owns_location") is True:
            return
        owner = self.owner(relation)
        stored = {key: properties.get(key) for key in owner}
        # A clone replaces a table without rows, whoever's it is.
        is_kept = _continues(node) or _command() == _CLONE
        if stored == owner or (not any(stored.values()) and not is_kept):
            return
        whose = (
            f"that of {stored[RELATION_PROPERTY]} of the target {stored[TARGET_PROPERTY]}"
            if any(stored.values())
            else "not known to be this one's"
        )
        others = (
            "give this target another location_root, or set include_full_name_in_path: true"
            if node.config.get("location_root")
            else "give this node another schema or alias"
        )
        raise FolderRefused(
            f"{_found(node, folder)}. The metastore does not know it, and it is {whose}. Nothing "
            "was written. If it is the table of this node, set owns_location: true in its "
            f"configuration. If it is another's, {others}."
        )

    def _refused(self, node: Any, folder: str, other: str) -> FolderRefused:
        """Return the error that a folder has the table of another name in the metastore."""
        remedy = (
            "Set include_full_name_in_path: true, or another location_root or alias."
            if node.config.get("location_root")
            else "Give this node another schema or alias."
        )
        found = _found(node, folder)
        return FolderRefused(f"{found}, which is {other}. Nothing was written. {remedy}")

    def _other_name(self, relation: BaseRelation, folder: str) -> str | None:
        """Find the table of the metastore that has a folder. It lists each schema."""
        place = Place.of(folder)
        for schema in self._adapter.list_schemas(relation.database or ""):
            for table in self._listed(relation.incorporate(path={"schema": schema})):
                location = _location(table)
                if location is not None and place.may_be(Place.of(location)):
                    return str(table.render())
        return None

    def _made_since(self, relation: BaseRelation) -> SparkRelation | None:
        """Find a node's table that a hook, for example, made since dbt has listed the tables."""
        name = in_session_catalog(relation_path(relation))
        tables = (listed for listed in self._listed(relation) if listed.is_table)
        return next((t for t in tables if in_session_catalog(relation_path(t)) == name), None)

    def _listed(self, relation: BaseRelation) -> list[Any]:
        return list(self._adapter.list_relations_without_caching(relation.without_identifier()))

    def _take_over(self, found: FoundTable, relation: BaseRelation) -> None:
        for statement in found.statements:
            self._adapter.execute(statement)
        created = relation.incorporate(type="table").replace(is_delta=True, dbt_created=True)
        self._adapter.cache_added(created)
        logger.info(
            f"{found.name} takes over the Delta table in {found.folder}, which the metastore did "
            "not know"
        )


def _command() -> str:
    return str(getattr(get_flags(), "WHICH", None))


def _found(node: Any, folder: str) -> str:
    return f"{node.unique_id}: {folder} already has a Delta table"


def _continues(node: Any) -> bool:
    """Return whether a node adds to an existing table, and does not replace it."""
    if node.config.get("materialized") != "incremental":
        return str(node.resource_type) == "snapshot"
    refresh = node.config.get("full_refresh")
    return not bool(getattr(get_flags(), "FULL_REFRESH", False) if refresh is None else refresh)


def _location(relation: BaseRelation) -> str | None:
    """Return where the metastore says a table is; None if the relation was not listed by it."""
    # A comment with any lines comes before it.
    found = _LOCATION.findall(getattr(relation, "information", None) or "")
    return str(found[-1]) if found else None


def _check_location(node: Any, existing: SparkRelation, folder: str) -> None:
    location = _location(existing)
    if location is None or Place.of(folder).may_be(Place.of(location)):
        return
    raise FolderRefused(
        f"{node.unique_id}: its table {existing} is in {location}, and its configuration says "
        f"{folder}. Nothing was written. Remove or correct location_root; or move the table: copy "
        f"its folder to {folder} while nothing writes to it, drop the table, set owns_location: "
        "true, and run again. An incremental model or a snapshot then goes on with the copy."
    )
