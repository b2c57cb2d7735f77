"""Why no formula covers a scenario, in words."""

from __future__ import annotations

from .paths import Values, others

ASKED = ("chunks", "request", "web")
"""Kinds of traffic that the receiver requests."""


def uncovered(values: Values) -> list[str]:
    """Say why no formula gives the goodput of a scenario; return nothing where one may.

    Parameters
    ----------
    values : mapping
        Of `ropewalk.Scenario.values`.

    Returns
    -------
    list of str
        A sentence for each reason.

    Examples
    --------
    >>> import ropewalk
    >>> uncovered(ropewalk.Scenario.load("start/two-links").values)
    []
    """
    reasons = []
    if values["transport"].get("device") == "tunnel":
        reasons.append(
            "no formula has the gateway's tunnel, which keeps to the links' rates and puts packets"
            ' in order (device = "tunnel")'
        )
    several = bool(others(values)) or values["transport"]["count"] > 1
    if values["transport"]["protocol"] == "udp" and several:
        reasons.append(
            "no formula has datagrams beside other flows, as the first one is; ropewalk simulate"
            " has them"
        )
    kind = values["traffic"]["kind"]
    if kind in ASKED:
        reasons.append(
            f"no formula has traffic that the other end asks for ({kind}); ropewalk simulate"
            " has it"
        )
    for flow in (values["transport"], *others(values)):
        if flow.get("in_turn"):
            reasons.append(
                f"no formula has flows that take their paths in turn, as those of"
                f" {flow['name']!r} do"
            )
    for flow in others(values):
        if flow["protocol"] in ("striped-tcp", "udp"):
            reasons.append(
                f"no formula has {flow['protocol']} beside other flows, as {flow['name']!r} is"
            )
        elif flow["traffic"]["kind"] != "bulk":
            reasons.append(
                f"no formula has {flow['traffic']['kind']} traffic beside other flows, as"
                f" {flow['name']!r} has it"
            )
    if values["flow"] and values["transport"]["protocol"] == "striped-tcp":
        reasons.append("no formula has striped-tcp beside other flows, as the first one is")
    return reasons


def is_one_of_several(values: Values) -> bool:
    """Whether there are further flows besides the first one and competitors.

    Examples
    --------
    >>> import ropewalk
    >>> is_one_of_several(ropewalk.Scenario.load("start/two-links").values)
    False
    """
    return bool(values["flow"]) or values["transport"]["count"] > 1


def is_wireless(values: Values) -> bool:
    """Whether a flow has a hop on an 802.11 channel.

    Examples
    --------
    >>> import ropewalk
    >>> is_wireless(ropewalk.Scenario.load("start/two-links").values)
    False
    """
    on_air = {link["name"] for link in values["link"] if "channel" in link}
    hops = {path["name"]: path["hops"] for path in values["path"]}
    used = [name for flow in (values["transport"], *others(values)) for name in flow["paths"]]
    return any(hop in on_air for name in used for hop in hops.get(name, [name]))
