"""The services of one adapter, connected to each other."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.views.finder import ViewFinder
from dbt.adapters.deltawiden.writes.evolution import TableEvolution
from dbt.adapters.deltawiden.writes.incremental import IncrementalWrites
from dbt.adapters.deltawiden.writes.merge_actions import MergeActions
from dbt.adapters.deltawiden.writes.model_views import ModelViews
from dbt.adapters.deltawiden.writes.new_tables import NewTables
from dbt.adapters.deltawiden.writes.snapshots import SnapshotEvolution

if TYPE_CHECKING:
    from dbt.adapters.deltawiden.operations.operations import Operations


class Services:
    """What the adapter's methods call.

    Attributes:
        views: refuses models that read such views, and names stale views.
    """

    def __init__(self, backend: SqlBackend) -> None:
        self._backend = backend
        self.view_finder = ViewFinder(backend)
        self.views = ModelViews(self.view_finder)
        self.evolution = TableEvolution(backend)
        self.snapshots = SnapshotEvolution(backend, self.evolution)
        self.new_tables = NewTables(backend, self.evolution, self.views)
        merge_actions = MergeActions(backend, self.evolution)
        self.writes = IncrementalWrites(
            backend, self.evolution, self.snapshots, merge_actions, self.views
        )

    def operations(
        self,
        context: Mapping[str, Any],
        find: Callable[[str | None, str, str], BaseRelation | None],
        list_schema: Callable[[str | None, str], Iterable[BaseRelation]],
        schema_exists: Callable[[str | None, str], bool],
        taken_over: Callable[[str], tuple[SparkRelation, Sequence[str]] | None],
        check_folder: Callable[[str], None],
        manifest: Any,
    ) -> "Operations":
        """Return the operations that ``dbt run-operation`` runs. See ``Operations``."""
        # A quarter of the package's modules: other commands start faster without them.
        from dbt.adapters.deltawiden.operations.operations import Operations

        return Operations(
            self._backend,
            self.evolution,
            self.views,
            self.view_finder,
            self.snapshots,
            context,
            find,
            list_schema,
            schema_exists,
            taken_over,
            check_folder,
            manifest,
        )
