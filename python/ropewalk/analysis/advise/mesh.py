"""Advice on routes through a mesh: which, how many, and the value of a second channel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..._core import ScenarioError
from ...engines.predict import predict
from ...engines.wireless.from_scenario import radio_layout, routes
from ...model.wifi import conflicts
from ...scenario import Scenario
from ...scenario.setup import Mesh
from ...support.numerals import decimal
from .evaluator import CandidateResult, Changes, Evaluator
from .result import Advice, Evidence
from .significance import Judge, format_gain, relative_gain

ROUTINGS = ("link-disjoint", "node-disjoint", "zone-disjoint")
MAX_ROUTES = 3
CEILING = "wifi-airtime"
NOTE = (
    "hops of each route; * optimal, not greedy; ch. channels. Predicted: the rate of cliques of "
    "hops in conflict that take turns, without collisions and losses to hidden stations. In "
    "conflict: pairs of hops of two routes, with an end of one in range of an end of the other"
)


def advise_mesh(evaluator: Evaluator, judge: Judge) -> Advice | None:
    """Choose the routes through a scenario's mesh; None without a mesh, or for TCP."""
    setup = evaluator.scenario.setup
    if setup.mesh is None or setup.first.protocol == "tcp":
        return None
    found = dict(_candidates(evaluator.scenario))
    measured = dict(
        zip(found, evaluator.measure([changes for changes, _ in found.values()]), strict=True)
    )
    if len(measured) < 2:
        return None
    by_goodness = judge.ordered(list(measured.values()))
    ordered = sorted(measured, key=lambda name: by_goodness.index(measured[name]))
    best = measured[ordered[0]]
    # The first of the equally good ones has the fewest routes and channels.
    advised = next(name for name in measured if judge.as_good(measured[name], best))
    present = _used(evaluator.scenario)
    evidence = {
        name: _evidence(evaluator.scenario, name, each, stream=judge.stream)
        for name, each in measured.items()
    }
    ceilings = sorted(
        (each.numbers.get("predicted_mbps", 0.0) for each in evidence.values()), reverse=True
    )
    rank = 1 + ceilings.index(evidence[advised].numbers.get("predicted_mbps", 0.0))
    remarks: dict[str, tuple[str, ...]] = {
        name: ("advised",) if name == advised else () for name in measured
    }
    for name, (_, used) in found.items():
        if used == present:
            remarks[name] += ("present",)
    return Advice(
        question="mesh",
        title="Which routes, how many, and is another channel worth it?",
        answer=_answer(judge, measured, advised, found),
        settings=_settings(evaluator.scenario, found[advised][0], found[advised][1] == present),
        numbers={
            "goodput_mbps": measured[advised].goodput,
            "candidates": len(measured),
            "rank_by_ceiling": rank,
        },
        evidence=tuple(
            Evidence(name, evidence[name].numbers, evidence[name].settings, remarks[name])
            for name in ordered
        ),
        notes=(NOTE, f"by these ceilings the advised routes are number {rank} of {len(measured)}"),
    )


def _mesh_of(scenario: Scenario) -> Mesh:
    assert scenario.setup.mesh is not None
    return scenario.setup.mesh


def _candidates(scenario: Scenario) -> Iterator[tuple[str, tuple[Changes, object]]]:
    """Yield each set of routes once: a name, the settings, and the links used."""
    names = [channel.name for channel in scenario.setup.channels]
    methods = dict.fromkeys([_mesh_of(scenario).method, "optimal"])
    wanted: list[tuple[str, int, str]] = [("shortest", 1, "greedy")]
    wanted += itertools.product(ROUTINGS, range(2, MAX_ROUTES + 1), methods)
    seen: set[object] = set()
    for count in range(1, len(names) + 1):
        for routing, most, method in wanted:
            changes: Changes = {
                "mesh.routing": routing,
                "mesh.routes": most,
                "mesh.method": method,
                "mesh.channels": names[:count],
            }
            try:
                paths = scenario.with_({**changes, "transport.paths": ["route-1"]}).paths
                made = scenario.with_({**changes, "transport.paths": paths})
            except ScenarioError:
                continue
            used = _used(made)
            if used not in seen:
                seen.add(used)
                yield _name(made), ({**changes, "transport.paths": paths}, used)


def _used(scenario: Scenario) -> object:
    setup = scenario.setup
    return tuple(setup.hops[path] for path in setup.first.paths)


def _name(scenario: Scenario) -> str:
    mesh = _mesh_of(scenario)
    routing = mesh.routing + ("*" if mesh.method == "optimal" else "")
    lengths = "+".join(str(len(route) - 1) for route in mesh.paths)
    channels = len(set(mesh.channels[: len(mesh.paths)]))
    return f"{routing} {lengths}, {channels} ch."


def _evidence(
    scenario: Scenario, name: str, measured: CandidateResult, *, stream: bool
) -> Evidence:
    made = scenario.with_(measured.changes)
    numbers = dict(measured.numbers)
    if not stream:
        numbers.pop("delay_p95_ms", None)
    ceiling = next((each for each in predict(made).models if each.name == CEILING), None)
    if ceiling is not None and ceiling.goodput_mbps is not None:
        numbers["predicted_mbps"] = ceiling.goodput_mbps
        numbers["at_most_mbps"] = ceiling.quantities["at_most_mbps"]
    hears = radio_layout(made.setup).hears()
    ways = routes(made.setup, made.setup.first.paths)
    numbers["conflicts"] = sum(
        conflicts(one, other, hears)
        for first, second in itertools.combinations(ways, 2)
        for one in first.hops
        for other in second.hops
    )
    return Evidence(name, numbers, measured.changes)


def _answer(
    judge: Judge,
    measured: dict[str, CandidateResult],
    advised: str,
    found: dict[str, tuple[Changes, object]],
) -> str:
    text = f"Use {advised}: {decimal(measured[advised].goodput)} Mbit/s."
    by_channels: dict[int, list[CandidateResult]] = {}
    for name, (changes, _) in found.items():
        by_channels.setdefault(len(_listed(changes)), []).append(measured[name])
    if len(by_channels) > 1:
        alone = judge.best(by_channels[1])
        more = judge.best(
            [each for count, all_ in by_channels.items() if count > 1 for each in all_]
        )
        share = relative_gain(more.goodput, alone.goodput)
        if share is not None:
            text += (
                f" With one channel {decimal(alone.goodput)} at best; another is worth"
                f" {format_gain(share)}."
            )
    return text


def _listed(changes: Changes) -> list[str]:
    channels = changes["mesh.channels"]
    assert isinstance(channels, list)
    return channels


def _settings(scenario: Scenario, changes: Changes, is_present: bool) -> Changes:
    """Return the changed settings without those already in force."""
    if is_present:
        return {}
    mesh = _mesh_of(scenario)
    made = scenario.with_(changes)
    present = {
        "mesh.routing": mesh.routing,
        "mesh.method": mesh.method,
        "mesh.channels": list(mesh.channels),
    }
    different = {key: value for key, value in changes.items() if present.get(key) != value}
    if len(made.paths) == len(scenario.paths):
        del different["mesh.routes"]
        if list(scenario.setup.first.paths) == scenario.paths:
            del different["transport.paths"]
    return different
