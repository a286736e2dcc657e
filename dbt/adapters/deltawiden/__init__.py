"""The plugin that dbt discovers by its name."""

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.deltawiden.connections import DeltaWidenConnectionManager as ConnectionManager
from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
from dbt.adapters.deltawiden.impl import DeltaWidenAdapter
from dbt.include import deltawiden

__all__ = ["ConnectionManager", "DeltaWidenAdapter", "DeltaWidenCredentials", "Plugin"]

Plugin = AdapterPlugin(
    adapter=DeltaWidenAdapter,  # type: ignore[arg-type]  # as in every adapter
    credentials=DeltaWidenCredentials,
    include_path=deltawiden.PACKAGE_PATH,
    dependencies=["spark"],
)
