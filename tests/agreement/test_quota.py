"""Links with a quota: kernel, gateway and simulator."""

import pytest

import ropewalk

TEXT = """\
duration = "12 s"
[[link]]
name = "wifi"
rate = "6 Mbit/s"
delay = "10 ms"
[[link]]
name = "lte"
rate = "20 Mbit/s"
delay = "20 ms"
quota = "6 MB"
[transport]
"""
FULL_PACKET = 1500
TRANSPORTS = ('protocol = "aggregation"', 'protocol = "striped-tcp"\ndevice = "tunnel"')


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_quota_is_used_up_but_not_exceeded(machine, transport):
    scenario = ropewalk.Scenario(TEXT + transport + "\n", name="quota")
    simulated = ropewalk.simulate(scenario).runs[0]
    run = ropewalk.testbed(scenario).runs[0]
    for results in (simulated, run):
        [quota] = results["quota"]
        assert quota["link"] == "lte"
        [lte] = (link for link in results["links"] if link["name"] == "lte")
        # The gateway counts sent data, a link only data that its queue did not drop.
        dropped = lte["dropped_packets"] * FULL_PACKET
        # Data sent in 50 ms, and data in flight.
        assert 6e6 <= quota["used"] + dropped <= 6.5e6, results["engine"]
        assert quota["left"] <= dropped
    assert run["goodput_mbps"] == pytest.approx(simulated["goodput_mbps"], rel=0.1)
