"""Run Spark and connect to it: sessions, settings, errors."""
