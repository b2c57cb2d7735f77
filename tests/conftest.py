"""What tests of several folders use."""

import pytest

from ropewalk.engines import testbed


@pytest.fixture(scope="session")
def machine():
    """Skip what this machine cannot, with the reason."""
    lacking = [
        f"{check['name']}: {check['detail']}"
        for check in testbed.doctor()["machine"]["checks"]
        if not check["works"] and (check["needed"] or check["name"] == "MPTCP")
    ]
    if lacking:
        pytest.skip("; ".join(lacking))
