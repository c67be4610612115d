"""SQL over partitioned Arrow data, by compiled kernels; PostgreSQL's semantics.

In the making: queries are planned (`binder`), partitions pruned (`data`), and kernels made of
conditions and projections of plain values (`codegen`). Nothing executes plans yet, and nothing here
is part of the public interface.
"""
