"""The unit tests need no Spark. They start neither a JVM nor a session."""

from hypothesis import settings

# A shared machine can be slow at any moment, so examples have no deadline. Properties of two types
# are cheap. They set a larger number of examples.
settings.register_profile("unit", deadline=None, max_examples=50, print_blob=True)
settings.load_profile("unit")
