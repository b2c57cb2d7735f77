"""The formula for datagrams agrees with the simulator."""

import pytest

import datagrams
import ropewalk

RATE = 0.01  # of the simulated goodput
DELAY = 0.03  # of the mean delay
CHANCE = 0.01  # of all packets: four standard errors of random losses
POISSON = 0.10  # of the mean delay: runs of Poisson messages differ by as much


@pytest.mark.parametrize("case", list(datagrams.cases()), ids=str)
def test_formula_and_simulator_agree(case):
    simulated = datagrams.numbers(ropewalk.simulate(case.scenario, runs=8))
    predicted = datagrams.predicted(case)
    random = "Poisson" in case.name
    assert predicted["goodput_mbps"] == pytest.approx(
        simulated["goodput_mbps"], rel=0.03 if random else RATE
    )
    delay = POISSON if random else DELAY
    assert predicted["delay_ms"] == pytest.approx(simulated["delay_ms"], rel=delay)
    assert predicted["lost"] == pytest.approx(simulated["lost"], abs=CHANCE)
