"""The services of one adapter, connected to each other."""

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.views.finder import ViewFinder
from dbt.adapters.deltawiden.writes.incremental import TableWrites
from dbt.adapters.deltawiden.writes.model_views import ModelViews
from dbt.adapters.deltawiden.writes.new_tables import NewTables
from dbt.adapters.deltawiden.writes.snapshots import SnapshotPlanner
from dbt.adapters.deltawiden.writes.write_planner import WritePlanner


class Services:
    """What the methods of the adapter, and its operations, call."""

    def __init__(self, backend: SqlBackend) -> None:
        self.backend = backend
        self.view_finder = ViewFinder(backend)
        self.views = ModelViews(self.view_finder)
        self.write_planner = WritePlanner(backend)
        self.snapshots = SnapshotPlanner(backend, self.write_planner)
        self.new_tables = NewTables(backend, self.views)
        self.writes = TableWrites(backend, self.write_planner, self.snapshots, self.views)
