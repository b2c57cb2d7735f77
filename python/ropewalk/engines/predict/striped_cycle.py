"""The cycle of a striped connection, simulated by segment until a state recurs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...scenario.setup import Setup
from ...units import BITS_TO_MBPS, BYTES_TO_MBPS
from .paths import ConnectionPath, paths
from .result import Prediction

if TYPE_CHECKING:
    from ...model.striped_cycle import Transfer

NAME = "striped-cycle"
SOURCE = "Ropewalk, docs/striped-tcp.md, equations (1) to (10)"
VALIDITY = (
    "NewReno, with or without SACK; no random loss, no queue overflow, no retransmission"
    " timeout; constant rates and delays"
)
MAX_SEGMENTS = (
    50_000  # most segments to simulate without a recurring state: some tenths of a second
)
QUICK_ACKS = 16


def predict(setup: Setup) -> Prediction | None:
    """Predict a bulk transfer of striped-tcp; None for anything else."""
    flow, traffic, used = setup.first, setup.first.traffic, paths(setup)
    fast = any(math.isinf(path.rate) for path in used)
    if flow.device != "naive" or traffic.kind != "bulk" or fast:
        return None
    from ...model.striped_cycle import rule_of_thumb

    whole = _transfer(setup, used, setup.duration)
    before = _transfer(setup, used, setup.warmup) if setup.warmup > 0 else None
    segments = whole.segments - (before.segments if before else 0)
    segment = flow.segment
    asked = min(setup.first.traffic.most, MAX_SEGMENTS * segment)
    ended = whole.time_s if whole.segments * segment >= asked else setup.duration
    seconds = ended - (setup.warmup if before else 0)
    goodput = segments * segment * BYTES_TO_MBPS / seconds if seconds > 0 else 0.0
    quantities = {
        "recoveries": whole.recoveries,
        "retransmissions": whole.retransmissions,
        "queue_bytes": [round(waited) for waited in whole.queue_bytes],
    }
    if whole.cycle is not None:
        quantities["cycle_ms"] = whole.cycle.period_s * 1e3
        quantities["cycle_segments"] = whole.cycle.segments
        quantities["cycle_recoveries"] = whole.cycle.recoveries
    if all(path.rtt > 0 for path in used):
        four = rule_of_thumb([path.rtt for path in used], segment_bytes=segment)
        quantities["four_segments_in_the_largest_delay_mbps"] = four * BYTES_TO_MBPS
    return Prediction(
        name=NAME,
        source=SOURCE,
        validity=VALIDITY,
        goodput_mbps=goodput,
        bottleneck=_bottleneck(setup, used, whole, goodput),
        warnings=_outside(setup, used, whole),
        quantities=quantities,
    )


def _transfer(setup: Setup, used: tuple[ConnectionPath, ...], duration: float) -> Transfer:
    from ...model.striped_cycle import transfer

    flow = setup.first
    segment = flow.segment
    window = flow.window
    return transfer(
        [path.rate / 8 for path in used],
        [path.delay for path in used],
        transfer_bytes=min(setup.first.traffic.most, MAX_SEGMENTS * segment),
        duration_s=duration,
        segment_bytes=segment,
        header_bytes=flow.header_bytes,
        initial_window_bytes=max(flow.initial_window, segment),
        ssthresh_bytes=max(flow.initial_ssthresh, 2 * segment),
        window_bytes=max(min(window, flow.send_buffer), segment),
        ack_every=flow.delayed_ack,
        ack_delay_s=flow.delayed_ack_timeout,
        sack=flow.sack,
        limited_transmit=flow.limited_transmit,
        halve_pipe=flow.halve_pipe,
        byte_counting=flow.byte_counting,
        prr=flow.prr,
        grow_in_disorder=flow.grow_in_disorder,
        quick_acks=QUICK_ACKS if flow.quick_ack else 0,
        return_byte_rate=[path.reverse_rate / 8 for path in used],
        return_delay_s=[path.rtt - path.delay for path in used],
        weighted=flow.scheduler == "weighted",
    )


def _bottleneck(
    setup: Setup, used: tuple[ConnectionPath, ...], whole: Transfer, goodput: float
) -> str:
    if whole.recoveries:
        often = "once" if whole.recoveries == 1 else f"{whole.recoveries} times"
        return (
            f"reordering: {often} in {whole.segments} segments three duplicate acknowledgements"
            " halve the window although nothing is lost"
        )
    slowest = min(used, key=lambda path: path.rate)
    flow = setup.first
    share = flow.segment / flow.packet
    turns = len(used) * slowest.rate * share * BITS_TO_MBPS
    if flow.scheduler == "round-robin" and goodput > 0.9 * turns:
        return (
            f"{slowest.name}: links used in turn carry at most {len(used)} times the slowest"
            " link's rate"
        )
    return "the window, limited by the start-up or by a buffer"


def _outside(setup: Setup, used: tuple[ConnectionPath, ...], whole: Transfer) -> tuple[str, ...]:
    flow = setup.first
    links = [setup.links[hop] for path in used for hop in path.hops]
    full = [
        f"{path.name} has a queue of {room:,.0f} bytes, but {waited:,.0f} bytes would wait:"
        " packets are dropped"
        for path, waited in zip(used, whole.queue_bytes, strict=True)
        if waited > (room := min(setup.links[hop].forward.queue for hop in path.hops))
    ]
    least_rto = min(flow.min_rto, flow.initial_rto)
    finished = whole.segments * flow.segment >= setup.first.traffic.most
    checks = {
        f"congestion is {flow.congestion}: the model assumes newreno": (
            flow.congestion != "newreno"
        ),
        "rack detects losses by time: the model counts duplicate acknowledgements": (
            flow.rack and flow.sack
        ),
        "packets are lost at random: the model assumes no loss": any(
            path.loss or path.reverse_loss for path in used
        ),
        "links have jitter or slots: the model assumes constant delays": any(
            direction.jitter or direction.slot for link in links for direction in link.directions
        ),
        "links follow traces: the model uses their mean rates": any(
            direction.trace is not None for link in links for direction in link.directions
        ),
        "links have outages: the model ignores them": any(link.down for link in links),
        "other flows use the links: the model has a single connection": bool(setup.others),
        "paths have several hops: the model treats each path as one link": any(
            len(path.hops) > 1 for path in used
        ),
        f"no acknowledgement arrives for {whole.longest_silence_s:.2g} s: the model ignores"
        " that a retransmission timeout may expire": whole.longest_silence_s > least_rto,
        f"no state recurred within {MAX_SEGMENTS} segments": (
            whole.cycle is None and whole.segments >= MAX_SEGMENTS and not finished
        ),
    }
    return (*full, *(text for text, holds in checks.items() if holds))
