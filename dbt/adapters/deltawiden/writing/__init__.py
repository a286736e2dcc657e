"""Render the values that are written to each column of a table, and check that they are exact."""
