"""The operations that ``dbt run-operation`` runs. Most of them have a module in a folder here."""
