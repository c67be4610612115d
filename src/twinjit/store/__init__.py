"""Where artifacts live; each kind of store has its module."""
