"""The ways to reach tables: by a JVM, by Spark Connect, by SQL alone."""
