"""Tests import the scripts beside them, which also run alone."""

import sys
from pathlib import Path

import pytest

from ropewalk import emulation

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def machine():
    """Skip what this machine cannot, with the reason."""
    lacking = [
        f"{check['name']}: {check['detail']}"
        for check in emulation.doctor()["machine"]["checks"]
        if not check["works"] and (check["needed"] or check["name"] == "MPTCP")
    ]
    if lacking:
        pytest.skip("; ".join(lacking))
