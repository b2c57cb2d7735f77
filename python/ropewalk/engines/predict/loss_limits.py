"""Throughput of TCP under random loss on each path: Mathis et al., Padhye et al."""

from __future__ import annotations

import math

from ...scenario.setup import Setup
from ...units import BITS_TO_MBPS, BYTES_TO_MBPS
from .paths import ConnectionPath, paths, payload_share
from .result import Prediction

NAME = "loss-limits"
SOURCE = (
    "Mathis et al., CCR 27(3), 1997, equation (3); Padhye et al., SIGCOMM 1998, before the"
    " approximation. The goodput is Padhye's, or the links' rate if lower"
)
VALIDITY = (
    "an independent NewReno on each path; losses up to about 2 % (Mathis); links fast enough"
    " that only loss limits it; long transfers"
)


def predict(setup: Setup) -> Prediction | None:
    """Predict bulk goodput under random loss; None without loss or for other traffic."""
    flow, used = setup.first, paths(setup)
    lossy = any(0 < path.loss < 1 and path.rtt > 0 for path in used)
    if flow.protocol == "striped-tcp" or setup.first.traffic.kind != "bulk" or not lossy:
        return None
    from ...model.classics import mathis, pftk_full

    entries = []
    total = 0.0
    warnings = []
    for path in used:
        carried = path.rate * payload_share(setup) * BITS_TO_MBPS
        entry: dict[str, object] = {"path": path.name}
        if 0 < path.loss < 1 and path.rtt > 0:
            rate = BYTES_TO_MBPS * flow.segment / path.rtt
            b = 1 if flow.byte_counting else flow.delayed_ack
            limit = pftk_full(path.loss, b=b, t0_rtts=timeout(setup, path) / path.rtt) * rate
            entry |= {"mathis_mbps": mathis(path.loss, b=b) * rate, "padhye_mbps": limit}
            if limit > carried:
                warnings.append(f"{path.name}: the link's rate is the limit, not loss")
            carried = min(carried, limit)
            if path.loss > 0.02:
                warnings.append(
                    f"{path.name}: a loss of {path.loss:.1%}; Mathis is valid up to 2 %"
                )
        entries.append(entry)
        total += carried
    scheme = flow.congestion
    if scheme == "uncoupled":
        scheme = flow.subflow
    if scheme != "newreno":
        warnings.append(f"congestion is {scheme}: the formulas assume newreno")
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        goodput_mbps=total if math.isfinite(total) else None,
        bottleneck="random loss, or the links' rates where they are lower",
        warnings=tuple(warnings),
        quantities={"paths": entries},
    )


def timeout(setup: Setup, path: ConnectionPath) -> float:
    """Return the first retransmission timeout of a path without queueing, in seconds."""
    flow = setup.first
    least: float = flow.min_rto
    return path.rtt + least if flow.min_rto_on_variance else max(path.rtt, least)
