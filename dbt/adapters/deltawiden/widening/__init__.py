"""Decide which type changes a Delta table needs, and which of them are allowed.

Planning changes nothing. A step of a plan acts only in its ``run``. A ``TableSnapshot`` reads from
the table what a function first needs. Values flow in one direction: ``schema_diff`` -> ``planner``
(``rules``, ``common_type``, ``blockers``) -> ``plan``, a list of ``steps`` -> ``report``.
"""
