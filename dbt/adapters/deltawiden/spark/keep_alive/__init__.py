"""Keep a Spark of this machine alive between dbt commands: ``keep_alive`` in the profile.

The first dbt command starts a process (``server``) that runs Spark with a Spark Connect server on
127.0.0.1. Later commands attach to it (``client``). A folder that only the user can read has its
port, its token and its locks (``state``).
"""
