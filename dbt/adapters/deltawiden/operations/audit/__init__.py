"""Compare what models produce with what their tables store."""
