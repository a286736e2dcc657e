"""Maintenance of existing tables, each operation a module: what ``dbt run-operation`` runs."""
