"""The naive device of Song et al. 2018, simulated and on the testbed."""

from itertools import product

import pytest

import naive

FACTOR = 2.5  # a detail of TCP changes goodput by as much


@pytest.mark.parametrize(("links", "place"), [*product(naive.LINKS, naive.PLACES)])
def test_simulator_and_kernel_collapse_alike(links, place):
    classic, cubic = ((links, place, tcp) for tcp in (naive.CLASSIC, "cubic"))
    measured, adaptive = (naive.stored(case)["goodput_mbps"].median() for case in (classic, cubic))
    ours = naive.simulated(naive.scenario(classic), seed=1)["goodput_mbps"]
    assert measured / FACTOR < ours < measured * FACTOR
    assert max(ours, measured) < adaptive / 5
