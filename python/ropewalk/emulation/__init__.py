"""Run a scenario on the Linux kernel's own TCP and MPTCP, over emulated links."""

from .child import UnavailableError
from .run import Run
from .running import EMULATORS, doctor, testbed

__all__ = [
    "EMULATORS",
    "Run",
    "UnavailableError",
    "doctor",
    "testbed",
]
