"""``python -m twinjit``."""

from twinjit.cli import main

main()
