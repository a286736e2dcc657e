"""Decide which type changes a Delta table needs, and which of them are allowed.

The functions in this package have no side effects and run no statements. Only a ``TableSnapshot``
reads from the table, when a function first needs a value. Values flow in one direction:
``schema_diff`` -> ``planner`` (``rules``, ``common_type``, ``blockers``) -> ``plan`` -> ``report``.
"""
