"""A model's configuration: what it says, and whether it is valid."""
