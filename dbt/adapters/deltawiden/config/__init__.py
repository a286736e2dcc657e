"""Read and check a model's configuration."""
