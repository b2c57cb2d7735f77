"""``python -m ropewalk`` is the command ``ropewalk``."""

from .cli import main

main()
