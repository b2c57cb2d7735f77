"""The resolved scenario as data classes with units and types."""

import math
from dataclasses import FrozenInstanceError, asdict

import pytest

import ropewalk
from ropewalk.scenario import bundled


def as_json(value):
    if isinstance(value, (tuple, list)):
        return [as_json(each) for each in value]
    return value


@pytest.mark.parametrize("name", bundled.names())
def test_setup_has_the_values_of_a_ready_scenario(name):
    scenario = ropewalk.Scenario.load(name)
    setup, values = scenario.setup, scenario.values
    flows = [values["transport"] | {"traffic": values["traffic"]}, *values["flow"]]
    flows += values["competitor"]
    pairs = [*zip(setup.every_flow, flows, strict=True)]
    pairs += [(flow.traffic, known["traffic"]) for flow, known in pairs]
    pairs += [*zip(setup.links, values["link"], strict=True)]
    pairs += [
        (getattr(link, way), known[way])
        for link, known in zip(setup.links, values["link"], strict=True)
        for way in ("forward", "reverse")
    ]
    for node, known in zip(setup.nodes, values["node"], strict=True):
        pairs += [*zip(node.radios, known["radios"], strict=True)]
    compared = 0
    for made, known in pairs:
        shared = asdict(made).keys() & known.keys() - {"traffic", "forward", "reverse"}
        for key in shared:
            assert as_json(getattr(made, key)) == known[key], (key, made)
        compared += len(shared)
    assert compared >= 30
    assert {path["name"]: tuple(path["hops"]) for path in values["path"]} == setup.hops


def test_setup_unlimited_is_infinite_and_absent_is_null():
    scenario = ropewalk.Scenario({"link": [{"name": "one", "rate": "unlimited"}]})
    (link,) = scenario.setup.links
    assert (link.forward.rate, link.forward.queue) == (math.inf, math.inf)
    assert (link.channel, link.cost, link.ends, scenario.setup.mesh) == (None,) * 4
    assert scenario.setup.first.traffic.most == math.inf


def test_setup_cannot_be_changed():
    setup = ropewalk.Scenario.load("start/two-links").setup
    with pytest.raises(FrozenInstanceError):
        setup.links[0].forward.rate = 0.0


def test_other_paths_leave_the_rest_as_it_is():
    setup = ropewalk.Scenario.load("start/two-links").setup
    other = setup.with_paths(["cable"])
    assert other.first.paths == ("cable",)
    assert other.with_paths(setup.first.paths) == setup
