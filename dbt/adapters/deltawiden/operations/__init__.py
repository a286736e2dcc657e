"""Maintain existing tables. Each module is an operation that ``dbt run-operation`` runs."""
