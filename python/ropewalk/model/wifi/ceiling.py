r"""Upper bound of the goodput of flows over shared channels: clique airtime.

Two exchanges on a channel conflict if an end of one hears an end of the other: they are
sequential, or destroy each other. In a clique, a set of hops that conflict pairwise, only one
exchange is on the air at a time:

.. math:: \sum_{h \in K} x_h b_h \le 1,

where :math:`x_h` is a hop's rate and :math:`b_h` its airtime per bit. A radio counts its own
backoffs down while it hears none of them, so with the backoff per bit :math:`w_h`

.. math:: \sum_{h \in K_r} x_h b_h + \sum_{h\;\text{of}\;r} x_h w_h \le 1,

for each radio r and the part of the clique that it hears, :math:`K_r`. The largest rates of flows
are a linear program under all of these. Collisions and losses to hidden stations reduce them
further.

References
----------
.. [1] K. Jain, J. Padhye, V. Padmanabhan, L. Qiu, "Impact of interference on multi-hop
   wireless network performance", MobiCom 2003, section 4 (clique constraints).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, TypeAlias

import numpy as np

from ...support.optional_deps import require
from .route import Hop, Load

Hearing: TypeAlias = Mapping[str, Set[tuple[str, str]]]
"""For each channel the pairs of a listener and a sender that it hears."""


class Ceiling(NamedTuple):
    """Largest goodput of flows that share channels.

    Attributes
    ----------
    goodput_mbps : tuple of float
        Goodput of each flow, where the sum is largest.
    bottlenecks : tuple of tuple of Hop
        Cliques of hops without spare airtime then, smallest first.
    """

    goodput_mbps: tuple[float, ...]
    bottlenecks: tuple[tuple[Hop, ...], ...]


def ceilings(
    flows: Sequence[Sequence[Load]],
    hears: Hearing,
    *,
    most_mbps: Sequence[float | None] | None = None,
    in_turn: bool = False,
) -> Ceiling:
    """Return the largest goodput of flows by clique airtime.

    Parameters
    ----------
    flows : sequence of sequence of Load
        Loads of each flow, from `ropewalk.model.wifi.route.loads`.
    hears : mapping of str to set of (str, str)
        For each channel pairs of a listener and a sender that it hears.
    most_mbps : sequence of float or None, optional
        Other bounds of each flow, such as a wired hop.
    in_turn : bool
        Whether stations count their backoffs down one after the other. This is no bound, but the
        expected value for a flow whose hops wait for each other.

    Raises
    ------
    ValueError
        A flow takes no airtime and has no other bound.

    Examples
    --------
    A TCP over two hops of 802.11b at 11 Mbit/s, where all hear each other:

    >>> from ropewalk.model.wifi import Hop, loads, radio
    >>> route = [Hop("one", "S", "R"), Hop("one", "R", "D")]
    >>> sent = lambda hop, packet_bytes: radio(basic_rates_mbps=[1])
    >>> tcp = loads(route, sent, 1500, 1460, ack_bytes=40)
    >>> all_pairs = {"one": {(a, b) for a in "SRD" for b in "SRD" if a != b}}
    >>> round(ceilings([tcp], all_pairs).goodput_mbps[0], 2)
    2.64
    >>> round(ceilings([tcp], all_pairs, in_turn=True).goodput_mbps[0], 2)
    2.39
    """
    require("the bound by clique airtime", "scipy")
    from scipy.optimize import linprog

    bounds = [(0, most) for most in (most_mbps or [None] * len(flows))]
    for number, (flow, (_, most)) in enumerate(zip(flows, bounds, strict=True)):
        if not flow and most is None:
            raise ValueError(f"flows[{number}] uses no airtime and has no bound in most_mbps")
    constraints = list(_constraints(flows, hears, in_turn=in_turn))
    rows = np.array([row for row, _ in constraints]).reshape(-1, len(flows))
    found = linprog(-np.ones(len(flows)), rows, np.full(len(rows), 1e6), bounds=bounds)
    if found.x is None or found.slack is None:
        raise RuntimeError(f"no solution for {len(flows)} flows: {found.message}")
    used_up = {
        clique: None
        for (_, clique), slack in zip(constraints, found.slack, strict=True)
        if slack < 1e-3
    }
    return Ceiling(tuple(map(float, found.x)), tuple(sorted(used_up, key=len)))


def conflicts(one: Hop, other: Hop, hears: Hearing) -> bool:
    """Whether exchanges on two hops are sequential or destroy each other.

    Examples
    --------
    >>> hears = {"one": {("B", "A"), ("A", "B"), ("C", "D"), ("D", "C")}}
    >>> conflicts(Hop("one", "A", "B"), Hop("one", "D", "C"), hears)
    False
    """
    if one.channel != other.channel:
        return False
    heard = hears[one.channel]
    return any(a == b or (a, b) in heard or (b, a) in heard for a in one[1:] for b in other[1:])


def cliques(hops: Iterable[Hop], hears: Hearing) -> Iterator[frozenset[Hop]]:
    """Yield the maximal sets of pairwise conflicting hops.

    References
    ----------
    C. Bron, J. Kerbosch, "Algorithm 457: finding all cliques of an undirected graph", CACM 16(9),
    1973, with the pivot of Tomita et al., 2006.

    Examples
    --------
    >>> hears = {"one": {("A", "B"), ("B", "A")}, "two": {("A", "B"), ("B", "A")}}
    >>> hops = [Hop("one", "A", "B"), Hop("one", "B", "A"), Hop("two", "A", "B")]
    >>> [len(clique) for clique in cliques(hops, hears)]
    [2, 1]
    """
    every = list(dict.fromkeys(hops))
    beside = {
        hop: {other for other in every if other != hop and conflicts(hop, other, hears)}
        for hop in every
    }

    def extend(
        clique: frozenset[Hop], candidates: list[Hop], done: set[Hop]
    ) -> Iterator[frozenset[Hop]]:
        if not candidates and not done:
            yield clique
            return
        pivot = max(
            [*candidates, *done], key=lambda hop: len(beside[hop].intersection(candidates))
        )
        left = list(candidates)
        for hop in [hop for hop in candidates if hop not in beside[pivot]]:
            near = beside[hop]
            yield from extend(clique | {hop}, [each for each in left if each in near], done & near)
            left.remove(hop)
            done = done | {hop}

    if every:
        yield from extend(frozenset(), every, set())


def _constraints(
    flows: Sequence[Sequence[Load]], hears: Hearing, *, in_turn: bool
) -> Iterator[tuple[list[float], tuple[Hop, ...]]]:
    """Yield microseconds per second for a megabit of each flow, and the constraint's hops."""
    hops = dict.fromkeys(load.hop for flow in flows for load in flow)
    for clique in cliques(hops, hears):
        members = tuple(hop for hop in hops if hop in clique)
        if in_turn:
            yield _row(flows, clique, clique), members
            continue
        yield _row(flows, clique, ()), members
        for channel, sender in dict.fromkeys((hop.channel, hop.sender) for hop in members):
            heard = hears[channel]
            near = [
                hop for hop in members if hop.sender == sender or (sender, hop.sender) in heard
            ]
            own = [hop for hop in near if hop.sender == sender]
            yield _row(flows, near, own), tuple(near)


def _row(
    flows: Sequence[Sequence[Load]], busy: Iterable[Hop], backing_off: Iterable[Hop]
) -> list[float]:
    counted, waiting = set(busy), set(backing_off)
    return [
        sum(
            (load.hop in counted) * load.busy_us + (load.hop in waiting) * load.backoff_us
            for load in flow
        )
        for flow in flows
    ]
