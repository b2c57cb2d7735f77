"""Goodput over 802.11 channels: clique airtime, and Bianchi for a saturated cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...model.wifi import Hop, PhyTiming, ceilings, loads, saturated_cell
from ...model.wifi.route import Load
from ...scenario.setup import Flow, Setup
from ...units import BITS_TO_MBPS
from ..wireless.from_scenario import Route, routes
from ..wireless.layout import RadioLayout
from ..wireless.link_budget import error_ratio, radio_on
from .result import NoFormulaError, Prediction

AIRTIME = "wifi-airtime"
AIRTIME_SOURCE = (
    "clique constraints of Jain et al., MobiCom 2003, with the times of IEEE 802.11 and each"
    " radio's back-off"
)
AIRTIME_VALIDITY = (
    "bulk; stations take turns, with sequential backoffs. No collisions, no losses to hidden"
    " stations, no windows"
)
SOME_LOST = 1e-4  # packet loss ratio from which windows shrink
BIANCHI = "bianchi"
BIANCHI_SOURCE = "Bianchi, IEEE JSAC 18(3), 2000, with a retry limit (Wu et al., INFOCOM 2002)"
BIANCHI_VALIDITY = "equal stations that all hear each other, each always with a datagram to send"


def airtime(setup: Setup, layout: RadioLayout) -> Prediction:
    """Predict bulk goodput of one connection over its paths."""
    flow = setup.first
    payload: int = flow.segment
    packet = payload + flow.header_bytes
    used = routes(setup, flow.paths)
    taken = [_loads(setup, layout, route, packet, payload) for route in used]
    most = [
        None if math.isinf(route.wired_bps) else route.wired_bps * BITS_TO_MBPS * payload / packet
        for route in used
    ]
    if any(not load and limit is None for load, limit in zip(taken, most, strict=True)):
        raise NoFormulaError(
            "a path with unlimited wired links and 802.11 channels has no upper bound"
        )
    hears = layout.hears()
    expected = ceilings(taken, hears, most_mbps=most, in_turn=True)
    ceiling = ceilings(taken, hears, most_mbps=most)
    warnings = [
        f"{node} does not hear {hop.sender}, and its frames collide at {hop.receiver}: not"
        " included"
        for hop, node in layout.hidden()
    ]
    if flow.protocol != "udp":
        warnings += _losses(layout, used, packet)
    return Prediction(
        AIRTIME,
        AIRTIME_SOURCE,
        AIRTIME_VALIDITY,
        goodput_mbps=sum(expected.goodput_mbps),
        bottleneck=_bottleneck(expected.bottlenecks),
        warnings=tuple(warnings),
        quantities={
            "at_most_mbps": sum(ceiling.goodput_mbps),
            "paths": [
                {"path": route.name, "goodput_mbps": goodput}
                for route, goodput in zip(used, expected.goodput_mbps, strict=True)
            ],
        },
    )


def cell(setup: Setup, layout: RadioLayout, flows: Sequence[Flow]) -> Prediction:
    """Predict datagram senders in one cell; raise an error for any other set of flows."""
    used = [routes(setup, flow.paths) for flow in flows]
    single = all(len(each) == 1 and len(each[0].hops) == 1 for each in used)
    wired = any(math.isfinite(route.wired_bps) for each in used for route in each)
    if not single or wired or any(flow.protocol != "udp" for flow in flows):
        raise NoFormulaError(
            "no formula covers several flows over 802.11 channels, except single-hop datagrams"
        )
    hops = [each[0].hops[0] for each in used]
    sizes = {(flow.segment, flow.packet) for flow in flows}
    packet = max(size for _, size in sizes)
    radios = {_radio_of(layout, hop, packet) for hop in hops}
    stations = {(hop.sender, hop.channel) for hop in hops}
    heard = layout.hears()[hops[0].channel]
    apart = any(
        one != other and (one, other) not in heard
        for one, _ in stations
        for other in {hop.receiver for hop in hops} | {node for node, _ in stations}
    )
    if len({hop.channel for hop in hops}) > 1 or len(radios) > 1 or len(sizes) > 1 or apart:
        raise NoFormulaError(
            "no formula covers stations that differ or do not all hear each other"
        )
    ((payload, packet),) = sizes
    cell = saturated_cell(radios.pop(), len(stations), packet, payload)
    errors = [error for hop in hops if (error := _error_of(layout, hop, packet)) > 1e-3]
    return Prediction(
        BIANCHI,
        BIANCHI_SOURCE,
        BIANCHI_VALIDITY,
        goodput_mbps=cell.goodput_mbps / len(hops),
        bottleneck=f"channel {hops[0].channel}, shared by {len(stations)} senders",
        warnings=("frame errors (by noise or configured) are not included",) if errors else (),
        quantities={
            "together_mbps": cell.goodput_mbps,
            "collision_ratio": cell.collision,
            "dropped_ratio": cell.dropped,
        },
    )


def _loads(
    setup: Setup, layout: RadioLayout, route: Route, packet: int, payload: int
) -> tuple[Load, ...]:
    flow = setup.first
    datagrams = flow.protocol == "udp"
    try:
        return loads(
            route.hops,
            lambda hop, size: _radio_of(layout, hop, size),
            packet,
            payload,
            ack_bytes=0 if datagrams else flow.ack_bytes,
            ack_every=1 if datagrams else flow.delayed_ack,
            frame_error=lambda hop, size: _error_of(layout, hop, size),
        )
    except ValueError as error:
        raise NoFormulaError(f"path {route.name}: {error}: nothing arrives") from None


def _losses(layout: RadioLayout, used: Sequence[Route], packet: int) -> list[str]:
    """Return warnings about packet loss after all retries, which may limit windows."""
    found = []
    for hop in dict.fromkeys(hop for route in used for hop in route.hops):
        if layout.link(hop).loss_in_bursts:
            found.append(
                f"from {hop.sender} to {hop.receiver} frames are lost in bursts: the formula takes"
                " their mean as independent, and the simulator loses more packets"
            )
            continue
        lost = _error_of(layout, hop, packet) ** _radio_of(layout, hop, packet).tries
        if lost > SOME_LOST:
            found.append(
                f"from {hop.sender} to {hop.receiver} {lost:.2%} of the packets are lost after"
                " the last transmission: the effect on windows is not included"
            )
    return found


def _radio_of(layout: RadioLayout, hop: Hop, packet_bytes: int) -> PhyTiming:
    return radio_on(layout, layout.link(hop), packet_bytes)


def _error_of(layout: RadioLayout, hop: Hop, packet_bytes: int) -> float:
    return error_ratio(layout, layout.link(hop), packet_bytes)


def _bottleneck(cliques: Sequence[Sequence[Hop]]) -> str | None:
    channels = sorted({hop.channel for clique in cliques for hop in clique})
    if not channels:
        return None
    return f"the airtime of channel {' and of '.join(channels)}"
