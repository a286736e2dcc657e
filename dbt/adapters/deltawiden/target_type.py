"""The type of adapter that the Jinja of a project and its packages sees in ``target.type``."""

from functools import wraps
from typing import Any

from dbt_common.exceptions import DbtConfigError

TARGET_TYPES = ("deltawiden", "spark")


def apply_target_type(target_type: str) -> None:
    """Let ``target.type`` be the ``target_type`` of a profile, in every context of dbt.

    Many packages compare ``target.type`` with a list of adapters. dbt takes it from the type of the
    credentials, which also finds the adapter and its macros, and so has to stay as it is.
    """
    if target_type not in TARGET_TYPES:
        raise DbtConfigError(
            f"The profile's target_type is {target_type!r}; accepted are "
            f"{' and '.join(TARGET_TYPES)}. It is what `target.type` says to the Jinja of the "
            "project and its packages"
        )
    # Imported here, because only dbt-core has it loaded already.
    from dbt.config.profile import Profile

    whole_target = Profile.to_target_dict
    if hasattr(whole_target, "__wrapped__"):
        return

    # All of dbt's renderers and contexts make their `target` by this method.
    @wraps(whole_target)
    def to_target_dict(profile: Profile) -> dict[str, Any]:
        target: dict[str, Any] = whole_target(profile)
        return {**target, "type": target.get("target_type") or target["type"]}

    Profile.to_target_dict = to_target_dict  # type: ignore[method-assign, assignment]
