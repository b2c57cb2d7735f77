"""Replacement of this process by a program, which takes over status, signals and terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..support import programs
from .statuses import FAILED

STREAMS = range(3)  # standard input, output and error


def exec_program(name: str, arguments: Sequence[str]) -> NoReturn:
    """Replace this process by one of our programs, or exit with an error if it is missing."""
    try:
        program = programs.find(name)
    except programs.UnavailableError as error:
        print(error, file=sys.stderr)
        sys.exit(FAILED)
    sys.stdout.flush()
    if sys.platform != "win32":  # for mypy: Windows has no such program
        # Python ignores these signals, and the new program would inherit that.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
    for stream in STREAMS:
        os.set_inheritable(stream, True)
    os.execv(program, ["ropewalk", *arguments])
