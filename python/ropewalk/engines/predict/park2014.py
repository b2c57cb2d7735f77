"""The model of Park et al. 2014: a bound on MPTCP's end-to-end delay, and its parts."""

from __future__ import annotations

import math

from ...scenario.setup import Setup
from .paths import paths
from .result import Prediction

NAME = "park-2014"
SOURCE = (
    "Park et al., Impact of traffic splitting on the delay performance of MPTCP, 2014,"
    " equations (4) to (9), at the split with the least bound"
)
VALIDITY = (
    "MPTCP whose subflows keep their paths busy and whose application offers less than these"
    " carry; Poisson arrivals; each loss repaired by one fast retransmission"
)
CLOSE = 0.999  # share of capacity above which the bound is too loose to use


def predict(setup: Setup) -> Prediction | None:
    """Bound the delay of cbr and poisson traffic over mptcp; None for anything else."""
    flow, traffic, used = setup.first, setup.first.traffic, paths(setup)
    streamed = traffic.kind in ("cbr", "poisson")
    slow = all(math.isfinite(path.rate) for path in used)
    if flow.protocol != "mptcp" or not streamed or not slow:
        return None
    message = traffic.message
    wire = 8 * (message + math.ceil(message / flow.segment) * flow.header_bytes)
    capacity = [path.rate / wire for path in used]
    demand = traffic.rate / (8 * message)
    warnings = ["messages are evenly spaced: they wait less"] * (traffic.kind == "cbr")
    if setup.others:
        warnings.append("other flows use the links: the model assumes that they do not")
    if any(path.loss >= 0.02 for path in used):
        warnings.append("2 % or more are lost on a path: the model ignores timeouts")
    if demand >= CLOSE * sum(capacity):
        load = demand / sum(capacity)
        warnings.append(f"the load is {load:.3g} of the paths' capacity: no bound exists")
        return Prediction(NAME, SOURCE, VALIDITY, warnings=tuple(warnings))

    from ...model import park2014
    from ...model.park2014.splitting import least_delay

    rtt = [path.rtt + wire / path.rate for path in used]
    hops = [float(len(path.hops)) for path in used]
    loss = [min(path.loss, 1 - 1e-9) for path in used]
    split = least_delay(demand, capacity, rtt, hops, loss)
    network = park2014.network_delay(split.rates, capacity, rtt, hops)
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        delay_ms={
            "bound": 1e3 * split.delay,
            "send": 1e3 * park2014.send_delay(split.rates, demand),
            "network": 1e3 * float(network.max()),
            "reordering": 1e3 * float(park2014.reordering_delay(network).max()),
            "loss": 1e3 * park2014.loss_delay(2 * network, loss),
        },
        warnings=tuple(warnings),
        quantities={
            "demand_packets_per_s": demand,
            "paths": [path.name for path in used],
            "split_packets_per_s": split.rates.tolist(),
            "network_ms": (1e3 * network).tolist(),
        },
    )
