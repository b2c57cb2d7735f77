"""Subsets of the paths, and their predicted goodput."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..._core import ScenarioError
from ...engines.predict import predict
from ...scenario import Scenario
from ...scenario.toml_syntax import Value
from .evaluator import Tally

if TYPE_CHECKING:
    from ...engines.predict.models import Model

Paths = tuple[str, ...]

MAX_PREDICTED = 12  # largest number of paths with all subsets predicted: 4095
MAX_BY_SLOW = {"striped-cycle": 9}  # the same for models of each round trip: 511


def candidate_paths(scenario: Scenario) -> Paths:
    """Return the candidate paths in the scenario's order.

    These are the paths of the connection. TCP uses one path, so its candidates are all of the
    scenario.

    Examples
    --------
    >>> candidate_paths(Scenario.load("start/two-links"))
    ('dsl', 'cable')
    """
    flow = scenario.setup.first
    if flow.protocol == "tcp":
        return tuple(scenario.paths)
    return flow.paths


def check_short_form(scenario: Scenario) -> None:
    """Require a stream defined by ``[transport]`` and ``[traffic]``, or raise ScenarioError.

    Examples
    --------
    >>> check_short_form(Scenario.load("start/three-flows"))
    Traceback (most recent call last):
    ropewalk._core.ScenarioError: advice is for the flow of [transport] and [traffic], and this \
scenario has [[flow]] alone: give the first one, 'backup', its place there
    """
    if scenario.transport_key != "transport":
        raise ScenarioError(
            "advice is for the flow of [transport] and [traffic], and this scenario has [[flow]]"
            f" alone: give the first one, {scenario.flows[0]!r}, its place there"
        )
    if scenario.setup.first.protocol == "udp":
        raise ScenarioError(
            'transport.protocol = "udp": advice is for streams; allowed here: tcp, mptcp, '
            "aggregation, striped-tcp"
        )


def use_paths(scenario: Scenario, paths: Sequence[str]) -> dict[str, Value]:
    """Return the settings for a connection over these paths, all else unchanged.

    Examples
    --------
    >>> use_paths(Scenario.load("start/two-links"), ["dsl"])
    {'transport.paths': ['dsl'], 'transport.protocol': 'mptcp'}
    """
    protocol = scenario.setup.first.protocol
    return {"transport.paths": list(paths), "transport.protocol": protocol}


def settings_for(scenario: Scenario, paths: Paths) -> dict[str, Value]:
    """Return the settings to use these paths; empty if they are in use.

    The protocol is included only if it depends on the number of paths.

    Examples
    --------
    >>> settings_for(Scenario.load("start/two-links"), ("dsl",))
    {'transport.paths': ['dsl']}
    """
    flow = scenario.setup.first
    if tuple(paths) == flow.paths:
        return {}
    alone: dict[str, Value] = {"transport.paths": list(paths)}
    try:
        kept = scenario.with_(alone).setup.first.protocol == flow.protocol
    except ScenarioError:
        kept = False
    return alone if kept else use_paths(scenario, paths)


def all_subsets(paths: Paths, *, single: bool = False) -> list[Paths]:
    """Return all non-empty subsets, small ones first; with `single`, only single paths.

    Examples
    --------
    >>> all_subsets(("a", "b"))
    [('a',), ('b',), ('a', 'b')]
    """
    most = 1 if single else len(paths)
    return [
        chosen for count in range(1, most + 1) for chosen in itertools.combinations(paths, count)
    ]


def prefixes(order: Sequence[str], paths: Paths) -> list[Paths]:
    """Return the prefixes of an order, each sorted as in `paths`.

    Above 12 paths only prefixes of 1, 2, 4, 8, ... paths are returned.

    Examples
    --------
    >>> prefixes(["c", "a", "b"], ("a", "b", "c"))
    [('c',), ('a', 'c'), ('a', 'b', 'c')]
    """
    counts = list(range(1, len(order) + 1))
    if len(order) > MAX_PREDICTED:
        counts = [count for count in counts if count & (count - 1) == 0]
    return [tuple(path for path in paths if path in order[:count]) for count in counts]


@dataclass
class Predictor:
    """Predicts the goodput of a connection over subsets of its paths, by one model.

    The model is the first choice of `ropewalk.predict` for the scenario with all paths; `name` is
    None if none gives a goodput. Subsets change only the list of paths, without a new parse.
    `known` has the predicted goodputs in 10^6 bit/s, `ranking` the subsets in the order of `rank`,
    and `all` is true if it has all subsets.
    """

    scenario: Scenario
    name: str | None = field(init=False)
    known: dict[Paths, float] = field(init=False, default_factory=dict)
    ranking: list[Paths] = field(init=False, default_factory=list)
    all: bool = field(init=False, default=False)
    _model: Model | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        from ...engines.predict.models import MODELS

        setup = self.scenario.setup
        best = predict(self.scenario).best
        self.name = None if best is None else best.name
        for model in MODELS if best is not None else ():
            made = model(setup)
            if made is not None and made.name == self.name:
                self._model = model
                break

    def goodput(self, paths: Paths) -> float | None:
        """Predict the goodput over some paths, 10^6 bit/s; None if the model has no answer."""
        if self._model is None:
            return None
        if paths not in self.known:
            made = self._model(self.scenario.setup.with_paths(paths))
            if made is None or made.goodput_mbps is None:
                return None
            self.known[paths] = made.goodput_mbps
        return self.known[paths]

    def rank(self, paths: Paths, tally: Tally) -> None:
        """Rank subsets by predicted goodput, the best first; of equal ones the smaller.

        Ranks all subsets of at most 12 paths (9 for slow models). Above that, two greedy searches
        select the subsets: one adds paths to the best single path, one removes paths from the full
        set, each until the goodput stops growing.
        """
        if self._model is None:
            return

        def ask(chosen: Paths) -> float:
            new = chosen not in self.known
            value = self.goodput(chosen)
            if new:
                tally.finish()
            return -1.0 if value is None else value

        single = self.scenario.setup.first.protocol == "tcp"
        self.all = single or len(paths) <= MAX_BY_SLOW.get(self.name or "", MAX_PREDICTED)
        if self.all:
            subsets = all_subsets(paths, single=single)
            tally.expect(len(subsets))
            for chosen in subsets:
                ask(chosen)
        else:
            before, most = len(self.known), len(paths) * (len(paths) + 1)
            tally.expect(most)
            _greedy(paths, ask)
            tally.expect(len(self.known) - before - most)
        self.ranking = sorted(self.known, key=lambda chosen: (-self.known[chosen], len(chosen)))


def _greedy(paths: Paths, ask: Callable[[Paths], float]) -> None:
    """Climb from the best single path by adding, and from all paths by removing."""
    singles = all_subsets(paths, single=True)
    best = max(singles, key=ask)
    while larger := [
        tuple(path for path in paths if path in best or path == added)
        for added in paths
        if added not in best
    ]:
        found = max(larger, key=ask)
        if ask(found) <= ask(best):
            break
        best = found
    best = paths
    while len(best) > 1:
        found = max(leave_one_out(best), key=ask)
        if ask(found) <= ask(best):
            break
        best = found


def name_subset(chosen: Paths, paths: Paths) -> str:
    """Name a set of paths; by the omitted ones if these are fewer.

    Examples
    --------
    >>> name_subset(("a",), ("a", "b", "c")), name_subset(("a", "c"), ("a", "b", "c"))
    ('a', 'all but b')
    >>> name_subset(("a", "b", "c"), ("a", "b", "c"))
    'all 3'
    """
    if chosen == paths and len(paths) > 2:
        return f"all {len(paths)}"
    out = [path for path in paths if path not in chosen]
    if 0 < len(out) < len(chosen):
        return f"all but {', '.join(out)}"
    return ", ".join(chosen)


def leave_one_out(paths: Paths) -> list[Paths]:
    """Return the sets with one path omitted, for each path.

    Examples
    --------
    >>> leave_one_out(("a", "b", "c"))
    [('b', 'c'), ('a', 'c'), ('a', 'b')]
    """
    return [paths[:left_out] + paths[left_out + 1 :] for left_out in range(len(paths))]
