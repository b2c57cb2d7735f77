"""Cardwell et al. 2000 for a transfer of some size over one path."""

from __future__ import annotations

import math

from .loss_limits import timeout
from .paths import Values, paths, payload_share
from .result import Prediction

NAME = "cardwell-2000"
SOURCE = (
    "Cardwell, Savage and Anderson, Modeling TCP latency, INFOCOM 2000, equations (4) and (25)"
)
VALIDITY = (
    "a short transfer over one path that loss and windows limit, not the link's rate; NewReno"
    " after the first loss"
)
MAX_LOSS = 0.5  # from here on the mean time of the handshake is infinite


def predict(values: Values) -> Prediction | None:
    """Predict the time of a finite tcp transfer over one path; None for anything else."""
    transport, traffic, used = values["transport"], values["traffic"], paths(values)
    if transport["protocol"] not in ("tcp", "mptcp") or len(used) > 1 or "size" not in traffic:
        return None
    path = used[0]
    if max(path.loss, path.reverse_loss) >= MAX_LOSS or path.rtt == 0:
        return None
    from ...model.short_transfers import handshake_time, transfer_time

    segment = transport["segment"]
    initial = max(transport["initial_window"] / segment, 1.0)
    received = transport["receive_buffer"] * transport["receive_window_share"]
    window = min(received, transport["send_buffer"]) / segment
    handshake = handshake_time(
        path.rtt,
        forward_loss=path.loss,
        reverse_loss=path.reverse_loss,
        syn_timeout=transport["initial_rto"],
    )
    sending = transfer_time(
        max(math.ceil(traffic["size"] / segment), 1),
        path.rtt,
        loss=path.loss,
        initial=min(initial, max(window, 1.0)),
        b=1 if transport["byte_counting"] else transport["delayed_ack"],
        t0=timeout(values, path),
        window_max=max(window, 1.0),
    )
    goodput = traffic["size"] * 8e-6 / (handshake + sending)
    capacity = path.rate * payload_share(values) * 1e-6
    warnings = []
    if goodput > 0.5 * capacity:
        warnings.append(
            f"it needs {goodput / capacity:.3g} of what the link carries: the link limits the"
            " transfer, which the model does not know"
        )
    if handshake + sending > values["duration"]:
        warnings.append("the transfer is not over by the scenario's duration")
    if path.loss and transport["congestion"] != "newreno":
        warnings.append(f"congestion is {transport['congestion']}: the model is of newreno")
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        goodput_mbps=goodput,
        bottleneck="slow start, loss and the round trip",
        warnings=tuple(warnings),
        quantities={"completion_s": handshake + sending, "handshake_s": handshake},
    )
