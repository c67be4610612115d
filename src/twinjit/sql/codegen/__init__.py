"""Typed expressions as machine code: kernels over batches of physical columns."""
