"""The model of Elahi et al. 2011, a queue with unequal servers, for messages at a rate."""

from __future__ import annotations

import math

from ...scenario.setup import Setup
from ...units import BYTES_TO_MBPS
from .paths import paths
from .result import Prediction

NAME = "elahi-2011"
SOURCE = (
    "Elahi et al., Performance Modeling of Bandwidth Aggregation for TCP Connections, 2011,"
    " equations (1) to (11); delays from the same queue's distribution"
)
VALIDITY = (
    "Poisson arrivals, exponential service, each path a server of its link's rate; no loss, no"
    " congestion window, delivery out of order"
)
MAX_MESSAGES = 5_000  # larger systems take long, with nearly the same result


def predict(setup: Setup) -> Prediction | None:
    """Predict delay and loss of cbr and poisson traffic over tcp, mptcp and an aggregation."""
    flow, traffic, used = setup.first, setup.first.traffic, paths(setup)
    covered = flow.protocol in ("tcp", "mptcp") or flow.aggregates
    slow = all(math.isfinite(path.rate) for path in used)
    streamed = traffic.kind in ("cbr", "poisson")
    if not covered or not streamed or not slow:
        return None
    from ...model import elahi2011
    from ...model.elahi2011.sojourn import SojournTime

    message = traffic.message
    packets = math.ceil(message / flow.segment)
    wire = 8 * (message + packets * flow.header_bytes)
    if flow.aggregates:
        in_buffers: float = len(used) * flow.send_buffer
        room = len(used) * flow.send_buffer + flow.main_buffer
    else:
        # Data of the connection in the network are in the paper's send buffers.
        room = flow.send_buffer
        in_buffers = sum(path.rtt * path.rate / 8 + _queue(setup, path.hops) for path in used)
    capacity = min(max(room // message, len(used)), MAX_MESSAGES)
    queue = elahi2011.Queue(
        arrival_rate=traffic.rate / (8 * message),
        departure_rates=[path.rate / wire for path in used],
        capacity=capacity,
        send_buffers=min(max(int(in_buffers // message), len(used)), capacity),
    )
    load = elahi2011.load(queue)
    true = elahi2011.throughput(queue)
    delay = SojournTime(queue)
    total = sum(path.rate for path in used)
    propagation = 1e3 * sum(path.rate / total * path.delay for path in used)
    p50, p95, p99 = (1e3 * float(time) for time in delay.quantile([0.5, 0.95, 0.99]))
    texts = []
    if traffic.kind == "cbr":
        texts.append(
            "messages are evenly spaced: the model overestimates the queue, with Poisson arrivals"
        )
    if load >= 1:
        texts.append(
            f"the load is {load:.3g} of the links' capacity: the queue is always full, and"
            f" {1 - true / queue.arrival_rate:.1%} of the messages are dropped"
        )
    if load >= 0.5 and 2 * message <= flow.segment:
        texts.append(
            "small queued messages share packets: headers and load are lower than in the model"
        )
    if any(path.loss for path in used):
        texts.append("packets are lost at random: the model ignores retransmissions")
    if setup.others:
        texts.append("other flows use the links: the model assumes that they do not")
    return Prediction(
        name=NAME,
        source=SOURCE,
        validity=VALIDITY,
        goodput_mbps=true * BYTES_TO_MBPS * message,
        delay_ms={
            "mean": 1e3 * delay.mean + propagation,
            "propagation": propagation,
            "queue_mean": 1e3 * delay.mean,
            "queue_p50": p50,
            "queue_p95": p95,
            "queue_p99": p99,
        },
        bottleneck="the links' rates" if load >= 1 else "none: the links carry the offered load",
        warnings=tuple(texts),
        quantities={
            "load": load,
            "messages_offered_per_s": queue.arrival_rate,
            "messages_delivered_per_s": true,
            "paper_goodput_messages_per_s": elahi2011.goodput(queue),
            "messages_lost_per_s": elahi2011.lost_rate(queue),
            "messages_in_system": elahi2011.mean_packets(queue),
        },
    )


def _queue(setup: Setup, hops: tuple[int, ...]) -> float:
    """Return the bytes that the narrowest hop's queue can hold."""
    narrowest = min(hops, key=lambda hop: setup.links[hop].forward.rate)
    return setup.links[narrowest].forward.queue
