"""Entry point of ``python -m ropewalk``, the command ``ropewalk``."""

from .cli import main

main()
