"""Decide which type changes a Delta table needs, and which of them are allowed.

To plan changes nothing; the steps of a plan run when they are told to. A ``TableSnapshot`` reads
from the table what a function first needs. Values flow in one direction: ``schema_diff`` ->
``planner`` (``rules``, ``common_type``, ``blockers``) -> ``plan``, a list of ``steps`` ->
``report``.
"""
