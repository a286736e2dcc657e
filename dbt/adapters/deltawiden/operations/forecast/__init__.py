"""What the next run does to the tables of a project, and to what reads them. ``apply`` does it."""
