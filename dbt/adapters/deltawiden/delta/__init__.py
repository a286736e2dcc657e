"""What a Delta table is."""
