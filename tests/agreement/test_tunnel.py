"""The simulated tunnel agrees with the gateway's tunnel on the testbed."""

import pytest

import tunnel


@pytest.mark.parametrize("links", tunnel.CASES)
@pytest.mark.parametrize(
    ("scheduler", "settled"),
    [("earliest-arrival", False), ("weighted", True), ("round-robin", True)],
)
def test_simulator_and_testbed_agree(links, scheduler, settled):
    measured = tunnel.measured_fraction(links, scheduler, settled)
    ours = tunnel.simulated(links, scheduler, settled, runs=1)
    assert abs(ours / measured - 1) < tunnel.BAND / 100, (ours, measured)
