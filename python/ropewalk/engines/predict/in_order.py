"""Least in-order delay of a stream that is split over paths."""

from __future__ import annotations

import math

from ...scenario.setup import Setup
from .paths import paths
from .result import Prediction

NAME = "in-order"
SOURCE = (
    "bound of ropewalk.model.striping; earliest-delivery split after Chebrolu and Rao, IEEE"
    " Transactions on Mobile Computing 5(4), 2006"
)
VALIDITY = "messages of one size over several paths of constant rate and delay; no loss"


def predict(setup: Setup) -> Prediction | None:
    """Return a lower bound of the delay of cbr and poisson traffic over several paths."""
    flow, traffic, used = setup.first, setup.first.traffic, paths(setup)
    streamed = traffic.kind in ("cbr", "poisson")
    slow = all(math.isfinite(path.rate) for path in used)
    if len(used) < 2 or not streamed or not slow:
        return None
    message = traffic.message
    wire = 8 * (message + math.ceil(message / flow.segment) * flow.header_bytes)
    rates = [path.rate / wire for path in used]
    demand = traffic.rate / (8 * message)
    warnings = ["packets are lost at random: lost packets are delayed more"] * any(
        p.loss for p in used
    )
    if demand > sum(rates):
        load = demand / sum(rates)
        warnings.append(f"the load is {load:.3g} of the paths' capacity: the delay has no bound")
        return Prediction(NAME, SOURCE, VALIDITY, warnings=tuple(warnings))

    from ...model.striping import least_stream_delay

    delays = [path.delay for path in used]
    least = least_stream_delay(demand, rates, delays)
    needed = [
        path.name
        for path, rate, delay in zip(used, rates, delays, strict=True)
        if delay + 1 / rate <= least
    ]
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        delay_ms={"least": 1e3 * least},
        bottleneck=f"delay of {needed[-1]}" if len(needed) == 1 else None,
        warnings=tuple(warnings),
        quantities={"paths_within": needed},
    )
