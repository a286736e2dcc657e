"""Render and parse SQL text: names, literals, types, statements."""
