"""The model of Song et al. 2018, as printed, for a TCP connection striped over links."""

from __future__ import annotations

import math

from ...scenario.setup import Setup
from ...units import BITS_TO_MBPS, BYTES_TO_MBPS
from .paths import paths
from .result import Prediction

NAME = "song-2018"
SOURCE = (
    "Song et al., A Performance Analysis Model of TCP over Multiple Heterogeneous Paths for"
    " 5G Mobile Services, Sustainability 10(5), 2018, equations (1) to (18)"
)
VALIDITY = (
    "NewReno over links in turn; no loss, no retransmission due to reordering, unlimited"
    " queues, constant delays"
)
MAX_SEGMENTS = 20_000  # rounds are counted one by one, and converge well before


def predict(setup: Setup) -> Prediction | None:
    """Predict the goodput of striped-tcp; None for anything else."""
    flow, traffic, used = setup.first, setup.first.traffic, paths(setup)
    fast = any(math.isinf(path.rate) for path in used)
    if flow.device != "naive" or traffic.kind != "bulk" or fast:
        return None
    from ...model.song2018 import throughput

    # All in bytes on the link, as in the links' rates.
    segment = flow.segment
    packet = flow.packet
    most = float(MAX_SEGMENTS * packet)
    threshold = flow.initial_ssthresh if math.isfinite(flow.initial_ssthresh) else most
    transfer = most
    for _ in range(4 if traffic.size is None else 1):
        if traffic.size is not None:
            transfer = min(math.ceil(traffic.size / segment) * packet, most)
        wire = float(
            throughput(
                [path.rate / 8 for path in used],
                [path.rtt for path in used],
                transfer_bytes=transfer,
                segment_bytes=packet,
                initial_window_bytes=max(flow.initial_window / segment, 1) * packet,
                ssthresh_bytes=threshold / segment * packet,
                ack_every=flow.delayed_ack,
            )
        )
        transfer = min(max(wire * setup.duration, packet), most)
    goodput = wire * segment / packet * BYTES_TO_MBPS
    capacity = math.fsum(path.rate for path in used) * segment / packet * BITS_TO_MBPS
    return Prediction(
        name=NAME,
        source=SOURCE,
        validity=VALIDITY,
        goodput_mbps=goodput,
        bottleneck=(
            "sequential rounds: each sends as much as the previous round acknowledged"
            if goodput < capacity
            else "none: the model lets links carry more than their rates"
        ),
        warnings=_outside(setup, goodput, capacity),
    )


def _outside(setup: Setup, goodput: float, capacity: float) -> tuple[str, ...]:
    flow, used = setup.first, paths(setup)
    links = [setup.links[hop] for path in used for hop in path.hops]
    checks = {
        f"congestion is {flow.congestion}: the model assumes newreno": flow.congestion
        != "newreno",
        f"scheduler is {flow.scheduler}: the model uses links in turn": flow.scheduler
        != "round-robin",
        "packets are lost at random: the model assumes no loss": any(path.loss for path in used),
        "links have jitter or slots: the model assumes constant delays": any(
            way.jitter or way.slot for link in links for way in link.directions
        ),
        "links have outages: the model ignores them": any(link.down for link in links),
        "other flows use the links: the model has a single connection": bool(setup.others),
        "delays differ by more than three transmission times: a real stack takes the"
        " reordering for loss, and the goodput is far lower": _disorder(setup),
        f"it exceeds the {capacity:.4g} Mbit/s of the links": goodput > capacity,
    }
    return tuple(text for text, holds in checks.items() if holds)


def _disorder(setup: Setup) -> bool:
    """Whether a packet can be overtaken by three later ones."""
    used = paths(setup)
    flow = setup.first
    packet: float = 8 * flow.packet
    arrivals = [path.delay + packet / path.rate for path in used]
    return max(arrivals) - min(arrivals) > 3 * packet / sum(path.rate for path in used)
