"""The model of Cardwell et al. 2000 for a finite transfer over one path."""

from __future__ import annotations

import math

from ...scenario.setup import Setup
from ...units import BITS_TO_MBPS, BYTES_TO_MBPS
from .loss_limits import timeout
from .paths import paths, payload_share
from .result import Prediction

NAME = "cardwell-2000"
SOURCE = (
    "Cardwell, Savage and Anderson, Modeling TCP latency, INFOCOM 2000, equations (4) and (25)"
)
VALIDITY = (
    "a short transfer over one path, limited by loss and windows, not by the link's rate;"
    " NewReno after the first loss"
)
MAX_LOSS = 0.5  # from here the mean handshake time is infinite


def predict(setup: Setup) -> Prediction | None:
    """Predict the time of a finite tcp transfer over one path; None for anything else."""
    flow, traffic, used = setup.first, setup.first.traffic, paths(setup)
    if flow.protocol not in ("tcp", "mptcp") or len(used) > 1 or traffic.size is None:
        return None
    path = used[0]
    if max(path.loss, path.reverse_loss) >= MAX_LOSS or path.rtt == 0:
        return None
    from ...model.short_transfers import handshake_time, transfer_time

    segment = flow.segment
    initial = max(flow.initial_window / segment, 1.0)
    received = flow.window
    window = min(received, flow.send_buffer) / segment
    handshake = handshake_time(
        path.rtt,
        forward_loss=path.loss,
        reverse_loss=path.reverse_loss,
        syn_timeout=flow.initial_rto,
    )
    sending = transfer_time(
        max(math.ceil(traffic.size / segment), 1),
        path.rtt,
        loss=path.loss,
        initial=min(initial, max(window, 1.0)),
        b=1 if flow.byte_counting else flow.delayed_ack,
        t0=timeout(setup, path),
        window_max=max(window, 1.0),
    )
    goodput = traffic.size * BYTES_TO_MBPS / (handshake + sending)
    capacity = path.rate * payload_share(setup) * BITS_TO_MBPS
    warnings = []
    if goodput > 0.5 * capacity:
        warnings.append(
            f"it needs {goodput / capacity:.3g} of the link's rate, a limit that the model ignores"
        )
    if handshake + sending > setup.duration:
        warnings.append("the transfer exceeds the scenario's duration")
    if path.loss and flow.congestion != "newreno":
        warnings.append(f"congestion is {flow.congestion}: the model assumes newreno")
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        goodput_mbps=goodput,
        bottleneck="slow start, loss and the round trip",
        warnings=tuple(warnings),
        quantities={"completion_s": handshake + sending, "handshake_s": handshake},
    )
