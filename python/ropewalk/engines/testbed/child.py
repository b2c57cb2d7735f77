"""The testbed's child process, which ends with its parent.

Only a single-threaded process may change its namespaces; the kernel removes them with the process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..._core import ScenarioError
from ...support import programs
from ...support.programs import UnavailableError

# Exit statuses of the testbed; any other than 0 is a failed run.
WRONG_INPUT = 2  # the scenario is wrong, or needs a feature that the kernel lacks
UNAVAILABLE = 3  # a feature of the machine or a permission is missing
PARTIAL = ".ropewalk-{}-*.partial"  # name of an incomplete file of crates/capture
GRACE_S = 30.0  # time for everything besides the scenario's duration
LOOK_S = 0.2
LAST_WORDS_S = 5.0


def run_child(
    verb: str,
    request: Mapping[str, Any] | None,
    *,
    seconds: float = 0.0,
    progress: Callable[[float], object] | None = None,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Start the child process, send it a request, and return its report.

    `verb` is ``"world"`` for a run, or ``"examine"``. The time limit is half a minute longer than
    `seconds`. `progress` is called regularly with the seconds since the start. If the child is
    killed, partial files of the capture in `folder` are removed.

    Raises ScenarioError for a scenario that is wrong or needs a feature that the kernel lacks,
    UnavailableError if the machine lacks a feature or the user a permission, and RuntimeError with
    the child's message if the run failed.
    """
    # In its own session, so that a terminal's interrupt reaches only the parent.
    with subprocess.Popen(
        [programs.find(programs.TESTBED), verb, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            printed, message = _wait(child, json.dumps(request), seconds, progress)
        finally:
            _end(child)
            for begun in [] if folder is None else folder.glob(PARTIAL.format(child.pid)):
                begun.unlink(missing_ok=True)
    if child.returncode == WRONG_INPUT:
        raise ScenarioError(message.strip())
    if child.returncode == UNAVAILABLE:
        raise UnavailableError(message.strip())
    if child.returncode != 0:
        raise RuntimeError(_reason(child.returncode, message))
    report: dict[str, Any] = json.loads(printed)
    return report


def _wait(
    child: subprocess.Popen[str],
    text: str,
    seconds: float,
    progress: Callable[[float], object] | None,
) -> tuple[str, str]:
    """Wait for the child's output, at most for the duration of the scenario and a grace period."""
    start = time.monotonic()
    given: str | None = text
    while True:
        elapsed = time.monotonic() - start
        left = seconds + GRACE_S - elapsed
        if left <= 0:
            raise RuntimeError(
                f"the testbed exceeded its limit of {seconds + GRACE_S:,.0f} s and was killed"
            )
        try:
            return child.communicate(given, timeout=min(LOOK_S, left) if progress else left)
        except subprocess.TimeoutExpired:
            given = None
        if progress is not None:
            progress(time.monotonic() - start)


def _end(child: subprocess.Popen[str]) -> None:
    """Kill the child if it still runs; the kernel then removes its namespaces."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(LAST_WORDS_S)
    except subprocess.TimeoutExpired:
        child.kill()


def _reason(status: int, message: str) -> str:
    if message.strip():
        return message.strip()
    if status < 0:
        return f"the testbed was killed by {signal.Signals(-status).name}"
    return f"the testbed ended with status {status} without a message"
