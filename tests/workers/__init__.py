"""Tests of processes that compile for this one."""
