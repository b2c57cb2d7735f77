"""Traffic that the receiver requests: by schedulers, and on the kernel."""

import pytest

import hulls
import ropewalk
from tables import ROOT

CHUNKS = """\
duration = "300 s"
[[link]]
name = "wifi"
{wifi}
delay = "10 ms"
queue = "300 packets"
cost = 1
[[link]]
name = "lte"
{lte}
delay = "20 ms"
queue = "300 packets"
cost = 10
[transport]
protocol = "{protocol}"
scheduler = "{scheduler}"
[traffic]
kind = "chunks"
preset = "film-38"
rate = "3.5 Mbit/s"
"""


def streamed(links, protocol, scheduler):
    text = CHUNKS.format(**links, protocol=protocol, scheduler=scheduler)
    return ropewalk.simulate(ropewalk.Scenario(text, name="chunks")).runs[0]


def of_the_dear(run):
    return run["links"][1]["delivered_bytes"]


@pytest.mark.parametrize("protocol", ["mptcp", "aggregation"])
def test_steady_links_cost_no_more_than_with_mp_dash(protocol):
    links = {"wifi": 'rate = "3 Mbit/s"', "lte": 'rate = "15 Mbit/s"'}
    ours, theirs, fastest = (
        streamed(links, protocol, scheduler)
        for scheduler in ("cheapest-in-time", "mp-dash", "min-rtt")
    )
    for run in (ours, theirs, fastest):
        assert run["chunks"]["stall"]["count"] == 0
    assert of_the_dear(ours) <= 1.1 * of_the_dear(theirs)
    assert of_the_dear(ours) <= 0.6 * of_the_dear(fastest)


@pytest.mark.parametrize("protocol", ["mptcp", "aggregation"])
def test_varying_links_cost_no_more_than_with_mp_dash(protocol, tmp_path, monkeypatch):
    monkeypatch.setattr(hulls, "DURATION", 300.0)
    dear, late = {}, {}
    for scheduler in ("cheapest-in-time", "mp-dash"):
        runs = []
        for seed in range(911, 915):
            paths = hulls.drawn(seed).written(tmp_path)
            links = {name: f'trace = "{paths[name]}"' for name in ("wifi", "lte")}
            runs.append(streamed(links, protocol, scheduler))
        assert all(run["chunks"]["stall"]["count"] == 0 for run in runs)
        dear[scheduler] = sum(of_the_dear(run) for run in runs)
        late[scheduler] = sum(run["chunks"]["late_percent"] for run in runs) / len(runs)
    assert dear["cheapest-in-time"] <= 1.1 * dear["mp-dash"]
    # Late for the player's deadlines, which include a margin: nothing stalls.
    assert late["cheapest-in-time"] <= late["mp-dash"] + 3.0


@pytest.mark.parametrize("protocol", ["tcp", "mptcp", "aggregation"])
@pytest.mark.parametrize(
    ("path", "kind", "key"),
    [
        ("web/pages.toml", "web", "page_load_s"),
        ("web/requests.toml", "requests", "response_s"),
        ("video/chunks.toml", "chunks", "response_s"),
    ],
)
def test_kernel_and_simulator_have_equal_response_times(machine, path, kind, key, protocol):
    scenario = ropewalk.Scenario.load(ROOT / "scenarios" / path).with_(
        {"duration": "8 s", "transport.protocol": protocol}
    )
    if kind == "chunks":
        # Neither the kernel nor this gateway uses prices.
        scheduler = "min-rtt" if protocol == "aggregation" else "linux"
        scenario = scenario.with_({"transport.scheduler": scheduler, "traffic.chunk": "1 s"})
    simulated, measured = (
        run(scenario, seed=3).runs[0][kind] for run in (ropewalk.simulate, ropewalk.testbed)
    )
    assert measured[key]["mean"] == pytest.approx(simulated[key]["mean"], rel=0.35)
    counted = "pages" if kind == "web" else "count"
    assert measured[counted] == pytest.approx(simulated[counted], rel=0.2, abs=1)
