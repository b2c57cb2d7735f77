"""Meshes compared with ns-3.44, and routes compared with networkx."""

import csv
import itertools
import json
from pathlib import Path
from statistics import mean

import networkx as nx
import numpy as np
import pytest

import ropewalk
from ropewalk.analysis import mesh

REFERENCE = Path(__file__).parents[1] / "reference/wifi"
RUNS = 8
KINDS = ("tcp1", "ld-2ch", "ld-1ch")


def scenario(deployed, kind):
    """Return the scenario of a row of ns3-wifi.csv."""
    channels = ["one", "two"] if kind == "ld-2ch" else ["one"]
    lines = [
        'duration = "14 s"',
        'warmup = "4 s"',
        "[wifi]",
        'profile = "ns-3"',
        'basic_rates = ["1 Mbit/s"]',
        "tries = 4",
        'queue = "10000 packets"',
        'lifetime = "10 s"',
    ]
    for channel in channels:
        disk = 'propagation = { model = "range", range = "25 m" }'
        lines += ["[[channel]]", f'name = "{channel}"', disk]
    for number, (x, y) in enumerate(deployed["nodes"]):
        place = [f'name = "n{number}"', f'at = ["{x} m", "{y} m"]']
        lines += ["[[node]]", *place, f"radios = {json.dumps(channels)}"]
    routes = deployed["link_disjoint"][: 1 if kind == "tcp1" else 2]
    for number, route in enumerate(routes):
        nodes = json.dumps([f"n{node}" for node in route])
        channel = channels[number % len(channels)]
        lines += ["[[path]]", f'name = "r{number}"', f"nodes = {nodes}", f'channel = "{channel}"']
    for number in range(len(routes)):
        lines += ["[[flow]]", f'name = "f{number}"', f'path = "r{number}"', 'profile = "ns-3"']
        lines += ['protocol = "tcp"', 'segment = "1448 B"']
        lines += ['send_buffer = "1 MiB"', 'receive_buffer = "1 MiB"']
    return ropewalk.Scenario("\n".join(lines))


@pytest.fixture(scope="module")
def goodputs():
    """Return our and ns-3's goodput of each deployment, by kind: means over seeds, Mbit/s."""
    with (REFERENCE / "ns3-wifi.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["tag"].startswith("mesh0")]
    deployments = json.loads((REFERENCE / "mesh-deployments.json").read_text())
    found = {kind: [] for kind in KINDS}
    for deployed, kind in itertools.product(deployments, KINDS):
        tag = f"mesh{deployed['id']:02}-{kind}"
        theirs = mean(float(row["goodput_mbps"]) for row in rows if row["tag"] == tag)
        runs = ropewalk.simulate(scenario(deployed, kind), runs=RUNS).runs
        ours = mean(sum(flow["goodput_mbps"] for flow in run.get("flows", [run])) for run in runs)
        found[kind].append((ours, theirs))
    return found


def test_tcp_over_meshes_agrees_with_ns3(goodputs):
    assert len(goodputs["tcp1"]) == 6
    ours, theirs = (mean(each[which] for each in goodputs["tcp1"]) for which in (0, 1))
    assert ours == pytest.approx(theirs, rel=0.12)
    for kind in KINDS:
        for of_ours, of_theirs in goodputs[kind]:
            assert of_ours == pytest.approx(of_theirs, rel=0.35)


@pytest.mark.parametrize(("kind", "ratio"), [("ld-2ch", 1.78), ("ld-1ch", 0.86)])
def test_gain_of_a_second_route_agrees_with_ns3(goodputs, kind, ratio):
    one = mean(ours for ours, _ in goodputs["tcp1"])
    two = mean(ours for ours, _ in goodputs[kind])
    assert two / one == pytest.approx(ratio, abs=0.15)


def least_pair(graph, source, target, *, apart):
    """Return two disjoint routes with the fewest links in total; None if there are none."""
    flow = nx.DiGraph()
    for node in graph:
        inside, outside = (node, "in"), (node, "out")
        flow.add_edge(inside, outside, capacity=1 if apart else 9, weight=0)
        for other in graph[node]:
            flow.add_edge(outside, (other, "in"), capacity=1, weight=1)
    flow.nodes[source, "out"]["demand"] = -2
    flow.nodes[target, "in"]["demand"] = 2
    try:
        return nx.min_cost_flow_cost(flow)
    except nx.NetworkXUnfeasible:
        return None


@pytest.mark.parametrize("nodes", [16, 24, 32, 40])
def test_routes_agree_with_networkx(nodes):
    graphs = 50
    loose = ropewalk.Scenario(mesh.DEFAULT).with_({"mesh.require": "none", "mesh.range": "28 m"})
    counted = mesh.census(loose, nodes=[nodes], graphs=graphs, keep=graphs).counts[0]
    column = counted.columns
    pairs = 0
    for number, at in enumerate(counted.places):
        ends = [int(np.hypot(*(at - point).T).argmin()) for point in ((20, 50), (80, 50))]
        graph = nx.random_geometric_graph(nodes, 28, pos=dict(enumerate(map(tuple, at))))
        hops = nx.shortest_path_length(graph, *ends) if nx.has_path(graph, *ends) else 0
        assert column["greedy_link_first"][number] == hops
        assert column["optimal_link"][number] == min(2, nx.edge_connectivity(graph, *ends))
        if hops != 1:
            assert column["optimal_node"][number] == min(2, nx.node_connectivity(graph, *ends))
        for routing in ("link", "node"):
            total = least_pair(graph, *ends, apart=routing == "node")
            name = f"optimal_{routing}"
            if total is None:
                assert column[name][number] < 2
            else:
                pairs += 1
                assert total == column[f"{name}_first"][number] + column[f"{name}_second"][number]
    assert pairs > graphs / 10
