"""A program takes the place of this process: status, signals and terminal are its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..support import programs
from .statuses import FAILED

STREAMS = range(3)  # standard input, output and error


def become(name: str, arguments: Sequence[str]) -> NoReturn:
    """Replace this process by a program of ours; without it, say so and exit."""
    try:
        program = programs.find(name)
    except programs.UnavailableError as error:
        print(error, file=sys.stderr)
        sys.exit(FAILED)
    sys.stdout.flush()
    if sys.platform != "win32":  # for mypy: no program is found there
        # Python ignores them, and a program that it becomes would, too.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
    for stream in STREAMS:
        os.set_inheritable(stream, True)
    os.execv(program, ["ropewalk", *arguments])
