"""Inputs of queries: where their batches come from, and which of them cannot matter."""
