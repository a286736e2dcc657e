"""The types of tables over time, and pages for browsers."""
