"""Statements of Alheid et al. 2016, section IV.A: two equal networks, scenarios 1 and 2."""

from __future__ import annotations

from ...analysis.reproduction import ComparedValue
from .curves import FAR_M, KIB, NEAR_M, OUT_OF_ORDER, Curves, G, names, statement
from .network import COUPLINGS, POLICIES, claims
from .reasons import (
    OF_DEAF,
    OF_DOOR,
    OF_EIFEL,
    OF_EQUAL,
    OF_NOISE,
    OF_RANGE,
    UNKNOWN,
    published_kb,
)

STRONG_M = 70  # "for distances of less than 70 m"
SAME_PERCENT = 10.0  # answers or couplings that differ by less are the same
NO_GAIN_PERCENT = 5.0


def scenario_1(of: Curves) -> list[ComparedValue]:
    """Compare with the text about 54 and 54 Mbit/s."""
    stated = claims()
    strong = of.between(0, STRONG_M)
    gains = [
        ComparedValue(
            f"{POLICIES[policy]} above NoPR, {COUPLINGS[coupling]}",
            100 * (of.at(policy, coupling) / of.at("none", coupling) - 1),
            published=stated[key],
            unit="%",
            digits=0,
            reason=reason,
        )
        for policy, key, reason, couplings in (
            ("tcp-door", "s1_tcp_door_gain_percent", OF_DOOR, COUPLINGS),
            ("dsack", "s1_dsack_gain_percent", OF_EQUAL, ("lia", "uncoupled")),
        )
        for coupling in couplings
    ]
    rates = [
        ComparedValue(
            f"TCP-DOOR at {NEAR_M} m, {COUPLINGS[coupling]}",
            of.at("tcp-door", coupling),
            published=stated["s1_tcp_door_mbps"],
            unit="Mbit/s",
            reason=OF_DOOR,
        )
        for coupling in COUPLINGS
    ]
    return [
        *gains,
        *rates,
        ComparedValue(
            f"D-SACK over TCP-DOOR at {NEAR_M} m, FC-CC",
            of.at("dsack", "fully-coupled") / of.at("tcp-door", "fully-coupled"),
            published=stated["s1_dsack_fully_coupled"],
            band=(0.9, None),
            reason=OF_EQUAL,
        ),
        *_memory(of, strong),
        *_out_of_order(of, strong),
        _eifel(of),
        _answer_over_coupling(of),
        ComparedValue(
            f"one TCP over 54 Mbit/s at {NEAR_M} m",
            of.one_tcp(),
            published=stated["one_tcp_mbps"],
            unit="Mbit/s",
            reason=(
                "The module with one subflow. It acknowledges each segment; ns-3's own TCP, which "
                "acknowledges every second, leaves more of the air to data (below)."
            ),
        ),
    ]


def _memory(of: Curves, strong: list[int]) -> list[ComparedValue]:
    stated = claims()
    stored = {policy: of.mean("buffer_packets", policy, strong) for policy in POLICIES}
    others = [policy for policy in POLICIES if policy not in ("none", "dsack")]
    below = all(stored["dsack"] < stored[policy] for policy in others)
    return [
        *(
            ComparedValue(
                f"D-SACK stores less than TCP-DOOR by, {COUPLINGS[coupling]}, below {STRONG_M} m",
                KIB
                * (
                    of.mean("buffer_packets", "tcp-door", strong, [coupling])
                    - of.mean("buffer_packets", "dsack", strong, [coupling])
                ),
                published=kb,
                unit="KB",
                digits=0,
                reason=(
                    "The paper averages over distances that it does not name. Its table IV has "
                    f"{_more_by_door(coupling):.0f} KB at {NEAR_M} m."
                ),
            )
            for coupling, kb in stated["s1_dsack_saves_kb"].items()
        ),
        statement(
            f"D-SACK's memory, below {STRONG_M} m",
            below,
            stated["s1_dsack_memory"],
            ", ".join(
                f"{POLICIES[each]} {KIB * stored[each]:.0f} KB" for each in ["dsack", *others]
            ),
            reason=(
                "Means of the couplings. At 10 m the paper's own table IV has less for F-RTO with "
                f"FC-CC ({published_kb('f-rto', 1, 'fully-coupled'):g} KB) than for D-SACK "
                f"({published_kb('dsack', 1, 'fully-coupled'):g} KB)."
            ),
        ),
    ]


def _more_by_door(coupling: str) -> float:
    """Return how much more TCP-DOOR stores than D-SACK in the paper's table IV, in KB."""
    return published_kb("tcp-door", 1, coupling) - published_kb("dsack", 1, coupling)


def _out_of_order(of: Curves, strong: list[int]) -> list[ComparedValue]:
    stated = claims()
    near, far = of.between(0, 50), of.between(50, FAR_M)
    mean = {policy: of.mean(OUT_OF_ORDER, policy, strong) for policy in POLICIES}
    more = stated["s1_out_of_order_larger"]
    larger = min(mean[each] for each in more) > max(
        value for each, value in mean.items() if each not in more
    )
    return [
        *(
            ComparedValue(
                f"{name}: out of order at {far[0]} to {far[-1]} m minus that at "
                f"{near[0]} to {near[-1]} m",
                of.mean(OUT_OF_ORDER, policy, far) - of.mean(OUT_OF_ORDER, policy, near),
                published=stated["s1_out_of_order_rises"],
                unit="points",
                digits=1,
                band=(0, None),
                reason=OF_NOISE,
            )
            for policy, name in POLICIES.items()
        ),
        statement(
            f"most out of order, below {STRONG_M} m",
            larger,
            names(more),
            names(sorted(mean, key=lambda each: -mean[each])[: len(more)]),
            reason="Means of the distances and couplings.",
        ),
    ]


def _eifel(of: Curves) -> ComparedValue:
    return ComparedValue(
        f"Eifel above NoPR at {NEAR_M} m, mean of the couplings",
        100 * (of.mean(G, "eifel") / of.mean(G, "none") - 1),
        published=claims()["eifel"],
        unit="%",
        digits=0,
        band=(None, NO_GAIN_PERCENT),
        reason=OF_EIFEL,
    )


def _answer_over_coupling(of: Curves) -> ComparedValue:
    """Compare the range of the answers with that of the couplings."""
    answers = [of.mean(G, policy) for policy in POLICIES]
    by_coupling = [[of.at(policy, coupling) for coupling in COUPLINGS] for policy in POLICIES]
    most = max(max(values) - min(values) for values in by_coupling)
    holds = most < max(answers) - min(answers)
    return statement(
        "main factor of gThroughput: the answer or the congestion control",
        holds,
        claims()["s1_answer_over_coupling"],
        "the answer" if holds else "the congestion control",
        reason=(
            f"Answers differ by {max(answers) - min(answers):.1f} Mbit/s, congestion controls by "
            f"{most:.1f} at most."
        ),
    )


def scenario_2(of: Curves) -> list[ComparedValue]:
    """Compare with the text about 2 and 2 Mbit/s."""
    stated = claims()
    gains = [
        ComparedValue(
            f"{POLICIES[policy]} above NoPR, Un-CC",
            100 * (of.at(policy, "uncoupled") / of.at("none", "uncoupled") - 1),
            published=stated["s2_gain_percent"],
            unit="%",
            digits=0,
            reason=f'{reason} The paper has "up to"; the reason of the difference is not known.',
        )
        for policy, reason in (("tcp-door", OF_DOOR), ("dsack", OF_EQUAL), ("f-rto", OF_DEAF))
    ]
    return [
        *gains,
        statement(
            "paths that NoPR uses",
            of.paths("none") != "both",
            "one",
            "both" if of.paths("none") == "both" else "one",
        ),
        *(
            statement(
                f"paths that {POLICIES[policy]} uses",
                of.paths(policy) == "both",
                "both",
                "both" if of.paths(policy) == "both" else "one",
            )
            for policy in stated["s2_both_paths"]
        ),
        _eifel(of),
        _uncoupled(of),
        *_after_70_m(of),
        *_second(of),
    ]


def _uncoupled(of: Curves) -> ComparedValue:
    """Compare the answers with each other at each distance, Un-CC."""
    at_each = [[of.at(policy, "uncoupled", d) for policy in POLICIES] for d in of.distances]
    spread = [100 * (max(values) - min(values)) / max(values) for values in at_each]
    return ComparedValue(
        "Un-CC: largest difference of the answers at a distance",
        max(spread),
        published=claims()["s2_uncoupled"],
        unit="%",
        digits=0,
        band=(0, SAME_PERCENT),
        reason=(
            f"The paper also has a gain of {claims()['s2_gain_percent']} % over NoPR with Un-CC: "
            "both statements cannot hold."
        ),
    )


def _after_70_m(of: Curves) -> list[ComparedValue]:
    """Compare the gThroughput before and after 70 m."""
    before, after = of.between(0, 71), of.between(71, 101)
    change = {
        coupling: 100
        * (
            sum(of.mean(G, policy, after, [coupling]) for policy in POLICIES)
            / sum(of.mean(G, policy, before, [coupling]) for policy in POLICIES)
            - 1
        )
        for coupling in COUPLINGS
    }
    return [
        ComparedValue(
            f"{COUPLINGS[coupling]}: mean of the answers after 70 m, to that before",
            change[coupling],
            published=claims()["s2_coupled_after_70_m"],
            unit="%",
            digits=0,
            band=(None, -SAME_PERCENT),
            reason=OF_RANGE,
        )
        for coupling in ("lia", "fully-coupled")
    ]


def _second(of: Curves) -> list[ComparedValue]:
    """Compare D-SACK and F-RTO, equal second, and their memory."""
    stated = claims()
    second = stated["s2_second"]
    places = {policy: place for place, policy in enumerate(of.ranked(), start=1)}
    least, most = sorted(of.mean(G, policy) for policy in second)
    equal = 100 * (most / least - 1)
    return [
        statement(
            "second and third by gThroughput, mean of the couplings",
            {places[each] for each in second} == {2, 3},
            names(second),
            names(of.ranked()[1:3]),
            reason=UNKNOWN,
        ),
        ComparedValue(
            "difference of D-SACK and F-RTO",
            equal,
            published="equal",
            unit="%",
            digits=0,
            band=(0, SAME_PERCENT),
            reason=UNKNOWN,
        ),
        *(
            ComparedValue(
                f"memory of {POLICIES[policy]} over TCP-DOOR's, {COUPLINGS[coupling]}, {NEAR_M} m",
                of.value("buffer_packets", policy, coupling)
                / of.value("buffer_packets", "tcp-door", coupling),
                published=f"below {stated['s2_second_memory_most']}",
                band=(0, stated["s2_second_memory_most"]),
                reason=f"The paper's table IV has {_of_door(policy, coupling):.2f}.",
            )
            for policy in second
            for coupling in COUPLINGS
        ),
    ]


def _of_door(policy: str, coupling: str) -> float:
    """Return an answer's memory over TCP-DOOR's in the paper's table IV."""
    return published_kb(policy, 2, coupling) / published_kb("tcp-door", 2, coupling)
