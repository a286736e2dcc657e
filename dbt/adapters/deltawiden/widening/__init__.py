"""Decide which type changes a Delta table needs, and which of them are allowed.

The functions in this package have no side effects and run no statements; the steps of a plan run
when they are told to. Only a ``TableSnapshot`` reads from the table, when a function first needs a
value. Values flow in one direction: ``schema_diff`` -> ``planner`` (``rules``, ``common_type``,
``blockers``) -> ``plan``, a list of ``steps`` -> ``report``.
"""
