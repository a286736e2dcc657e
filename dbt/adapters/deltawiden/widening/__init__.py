"""Decide which type changes a Delta table needs, and which it may have.

Everything in this package is pure: no dbt, no Spark session, no I/O. Values go one way,
``types`` -> ``rules`` and ``exactness`` -> ``diff`` -> ``plan`` -> ``report``.
"""
