"""Equilibrium of LIA and OLIA with random loss on each path."""

from __future__ import annotations

import math

from ...scenario.setup import Setup
from ...units import BITS_TO_MBPS, BYTES_TO_MBPS
from .paths import paths, payload_share
from .result import Prediction

SOURCES = {
    "lia": (
        "Wischik et al., NSDI 2011; RFC 6356; fixed point of Khalili et al., CoNEXT 2012,"
        " equation (2)"
    ),
    "olia": "Khalili et al., CoNEXT 2012, theorem 1",
}
VALIDITY = (
    "equilibrium windows under small random losses on every path as the only limit; round trips"
    " without queues, no timeouts; long transfers"
)


def predict(setup: Setup) -> Prediction | None:
    """Predict bulk goodput of mptcp with lia or olia, if all its paths have loss."""
    flow, used = setup.first, paths(setup)
    scheme = flow.congestion
    lossy = all(0 < path.loss < 1 and path.rtt > 0 for path in used)
    if flow.protocol != "mptcp" or setup.first.traffic.kind != "bulk":
        return None
    if scheme not in SOURCES or not lossy:
        return None
    from ...model import classics

    fixed = classics.lia_windows if scheme == "lia" else classics.olia_windows
    windows = fixed([path.loss for path in used], [path.rtt for path in used])
    warnings = []
    carried = []
    for path, window in zip(used, windows, strict=True):
        rate = BYTES_TO_MBPS * flow.segment * float(window) / path.rtt
        most = path.rate * payload_share(setup) * BITS_TO_MBPS
        if rate > most:
            warnings.append(f"{path.name}: the link's rate is the limit, not loss")
        if path.loss > 0.02:
            warnings.append(f"{path.name}: a loss of {path.loss:.1%} is not small: timeouts occur")
        carried.append(min(rate, most))
    return Prediction(
        f"{scheme}-at-rest",
        SOURCES[scheme],
        VALIDITY,
        goodput_mbps=math.fsum(carried),
        bottleneck="random loss on all paths, or the links' rates where they are lower",
        warnings=tuple(warnings),
        quantities={
            "paths": [
                {"path": path.name, "window_segments": float(window), "goodput_mbps": goodput}
                for path, window, goodput in zip(used, windows, carried, strict=True)
            ]
        },
    )
