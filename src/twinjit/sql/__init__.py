"""SQL over partitioned Arrow data, by compiled kernels; PostgreSQL's semantics."""
