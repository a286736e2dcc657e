"""Tests of the part that needs no Spark: neither a JVM nor a session is started here."""

from hypothesis import settings

# A shared machine can be slow at any moment: the time of one example says nothing. Properties of
# two types alone are cheap, and ask for more examples themselves.
settings.register_profile("unit", deadline=None, max_examples=50, print_blob=True)
settings.load_profile("unit")
