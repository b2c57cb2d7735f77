"""Reasons why no formula covers a scenario."""

from __future__ import annotations

from ...scenario.setup import Setup

RECEIVER_DRIVEN = ("chunks", "request", "web")
"""Kinds of traffic that the receiver requests."""


def uncovered_reasons(setup: Setup) -> list[str]:
    """Return the reasons why no formula gives a scenario's goodput; none if one may apply.

    Examples
    --------
    >>> import ropewalk
    >>> uncovered_reasons(ropewalk.Scenario.load("start/two-links").setup)
    []
    """
    reasons = []
    if setup.first.device == "tunnel":
        reasons.append(
            'no formula covers the gateway\'s tunnel (device = "tunnel"), which paces packets'
            " and restores their order"
        )
    reasons += [
        f'no formula covers carries = "{flow.carries}", whose packets are in the gateway\'s tunnel'
        for flow in setup.every_flow
        if flow.carries not in (None, "tcp")
    ]
    several = bool(setup.others) or setup.first.count > 1
    if setup.first.protocol == "udp" and several:
        reasons.append(
            "no formula covers datagrams with other flows, as in the first flow; use ropewalk"
            " simulate"
        )
    kind = setup.first.traffic.kind
    if kind in RECEIVER_DRIVEN:
        reasons.append(
            f"no formula covers traffic that the receiver requests ({kind}); use ropewalk simulate"
        )
    for flow in setup.every_flow:
        if flow.in_turn:
            reasons.append(
                "no formula covers connections that use one path each (in_turn), as in flow"
                f" {flow.name!r}"
            )
    for flow in setup.others:
        if flow.protocol in ("striped-tcp", "udp"):
            reasons.append(
                f"no formula covers {flow.protocol} with other flows, as in flow {flow.name!r}"
            )
        elif flow.traffic.kind != "bulk":
            reasons.append(
                f"no formula covers {flow.traffic.kind} traffic with other flows, as in flow"
                f" {flow.name!r}"
            )
    if setup.flows and setup.first.protocol == "striped-tcp":
        reasons.append("no formula covers striped-tcp with other flows, as in the first flow")
    return reasons


def has_further_flows(setup: Setup) -> bool:
    """Whether there are further flows, competitors aside.

    Examples
    --------
    >>> import ropewalk
    >>> has_further_flows(ropewalk.Scenario.load("start/two-links").setup)
    False
    """
    return bool(setup.flows) or setup.first.count > 1


def is_wireless(setup: Setup) -> bool:
    """Whether a flow has a hop on an 802.11 channel.

    Examples
    --------
    >>> import ropewalk
    >>> is_wireless(ropewalk.Scenario.load("start/two-links").setup)
    False
    """
    used = {path for flow in setup.every_flow for path in flow.paths}
    return any(link.channel is not None for path in used for link in setup.links_of(path))
