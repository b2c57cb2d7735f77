"""Main program of the child process: a JSON request on standard input, a JSON report on output."""

from __future__ import annotations

import json
import os
import sys

from ... import _core
from .child import FAILED, UNAVAILABLE, WRONG_INPUT


def main(verb: str, request: str) -> int:
    """Print the report on the request; return the exit status."""
    try:
        print(_core.testbed_world(request) if verb == "run" else _diagnosis(request))
    except ValueError as error:
        print(error, file=sys.stderr)
        return WRONG_INPUT
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return FAILED if verb == "doctor" or _can(request) else UNAVAILABLE
    return 0


def _diagnosis(request: str) -> str:
    """Diagnose the machine alone where the request is null."""
    return _core.testbed_doctor(None if request == "null" else request)


def _can(request: str) -> bool:
    """Whether the machine has what a run needs, so that it was the run that failed."""
    found = json.loads(_diagnosis(request))
    checks = found["machine"]["checks"]
    lacking = [check for check in checks if check["needed"] and not check["works"]]
    return not lacking and "refused" not in found["scenario"]


if __name__ == "__main__":
    asked, parent = sys.argv[1], int(sys.argv[2])
    text = sys.stdin.read()
    # From the world's start on the kernel sees to it that no parent leaves one behind.
    sys.exit(main(asked, text) if os.getppid() == parent else FAILED)
