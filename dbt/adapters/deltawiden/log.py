"""dbt's log, in which each line of this adapter has its name."""

from dbt.adapters.events.logging import AdapterLogger

logger = AdapterLogger("DeltaWiden")
