"""Find the views over a table that was widened, and explain how to update their types."""
