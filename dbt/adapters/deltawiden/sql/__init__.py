"""Text and values: names, literals, types."""
