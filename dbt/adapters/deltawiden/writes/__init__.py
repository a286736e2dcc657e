"""The writes of models, snapshots and seeds, and what happens before and after them."""
