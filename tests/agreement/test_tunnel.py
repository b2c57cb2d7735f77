"""The simulated tunnel does as the gateway's own did on the testbed."""

import pytest

import tunnel


@pytest.mark.parametrize("links", tunnel.CASES)
@pytest.mark.parametrize("scheduler", tunnel.JUDGED)
def test_simulator_and_testbed_agree(links, scheduler):
    measured = tunnel.measured_fraction(links, scheduler)
    ours = tunnel.simulated(links, scheduler, runs=1)
    assert abs(ours / measured - 1) < tunnel.BAND / 100, (ours, measured)
