"""Functions that are compiled when they are first called."""
