"""Exit statuses of the command other than 0."""

FAILED = 1
WRONG_INPUT = 2
NOTHING_EXAMINED = 3
"""`ropewalk check` found nothing to examine in a capture."""
INTERRUPTED = 130  # 128 plus SIGINT's number, as in shells
