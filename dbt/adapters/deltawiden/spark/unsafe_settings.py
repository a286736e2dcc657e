"""Warn of settings with which the filters of a run can miss rows."""

from collections.abc import Mapping

from dbt.adapters.events.types import AdapterEventWarning
from dbt_common.events.functions import warn_or_error
from dbt_common.invocation import get_invocation_id

from dbt.adapters.deltawiden.spark.settings import SAFE_READS

# The invocations that have had the warning.
_warned: set[str] = set()


def warn_of_filters(given: Mapping[str, str]) -> None:
    """Warn once in an invocation if the user sets what ``SAFE_READS`` sets to something else.

    Raises:
        EventCompilationError: ``--warn-error`` makes errors of warnings.
    """
    unsafe = unsafe_settings(given)
    invocation = get_invocation_id()
    if unsafe and invocation not in _warned:
        warn_or_error(AdapterEventWarning(name="DeltaWiden", base_msg=unsafe_text(unsafe)))
        _warned.add(invocation)


def unsafe_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of the user that ``SAFE_READS`` sets to something else."""
    return {
        key: given[key]
        for key, safe in SAFE_READS.items()
        if key in given and given[key].strip().lower() != safe
    }


def unsafe_text(unsafe: Mapping[str, str]) -> str:
    """Say what such settings do, and what to do about them."""
    found = " and ".join(f"{key} is {value}" for key, value in unsafe.items())
    return (
        f"{found}, set in the profile's server_side_parameters, PYSPARK_SUBMIT_ARGS or "
        "spark-defaults.conf. With this setting, a filter on a column that was widened can miss "
        "rows without an error: in models, tests, snapshots, and in the statements that delete, "
        "update or replace rows. Remove the setting. dbt-deltawiden then uses "
        f"{' and '.join(f'{key}={SAFE_READS[key]}' for key in unsafe)}"
    )
