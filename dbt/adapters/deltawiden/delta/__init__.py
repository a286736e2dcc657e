"""Read and change Delta tables: protocol, transaction log, column metadata, data files."""
