"""What is written to which column."""
