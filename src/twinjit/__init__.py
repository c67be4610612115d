"""Twinjit: compile each distinct MLIR program once."""
