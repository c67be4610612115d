"""Compiling a program several times, each under other circumstances, and comparing the code."""
