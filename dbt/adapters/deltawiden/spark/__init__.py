"""Where Spark runs: sessions, settings, errors."""
