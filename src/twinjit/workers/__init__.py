"""Processes that compile for this one, and what is told of them when one crashes."""
