"""Exit statuses of the command, other than 0."""

FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130  # as shells count: 128 and SIGINT's number
