"""How the command exits where it did not do what it was asked for."""

FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130  # as shells count: 128 and SIGINT's number
