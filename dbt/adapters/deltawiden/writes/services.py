"""The services of one adapter, connected to each other."""

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.views.finder import ViewFinder
from dbt.adapters.deltawiden.writes.evolution import TableEvolution
from dbt.adapters.deltawiden.writes.incremental import IncrementalWrites
from dbt.adapters.deltawiden.writes.model_views import ModelViews
from dbt.adapters.deltawiden.writes.new_tables import NewTables
from dbt.adapters.deltawiden.writes.snapshots import SnapshotEvolution


class Services:
    """What the methods of the adapter, and its operations, call."""

    def __init__(self, backend: SqlBackend) -> None:
        self.backend = backend
        self.view_finder = ViewFinder(backend)
        self.views = ModelViews(self.view_finder)
        self.evolution = TableEvolution(backend)
        self.snapshots = SnapshotEvolution(backend, self.evolution)
        self.new_tables = NewTables(backend, self.views)
        self.writes = IncrementalWrites(backend, self.evolution, self.snapshots, self.views)
