"""Fixtures of several test folders."""

import pytest

from ropewalk.engines import testbed


@pytest.fixture(scope="session")
def machine():
    """Skip on machines without support, with the reason."""
    lacking = [
        f"{check['name']}: {check['detail']}"
        for check in testbed.doctor()["machine"]["checks"]
        if not check["works"] and (check["needed"] or check["name"] == "MPTCP")
    ]
    if lacking:
        pytest.skip("; ".join(lacking))
