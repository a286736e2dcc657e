"""``check_project``: what differs from dbt-spark in a project."""
