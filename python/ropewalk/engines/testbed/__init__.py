"""Runs on the Linux kernel's own TCP and MPTCP, over emulated links."""

from ...support.programs import UnavailableError
from .api import EMULATORS, doctor, testbed
from .result import KernelRun

__all__ = [
    "EMULATORS",
    "KernelRun",
    "UnavailableError",
    "doctor",
    "testbed",
]
