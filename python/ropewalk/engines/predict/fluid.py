"""The fluid model, for bulk traffic and streams over tcp, mptcp and bas."""

from __future__ import annotations

import math

from ...model import fluid
from ...model.fluid.coupling import INCREASES
from ...scenario.registry import is_coupled
from ...scenario.setup import Flow, Setup
from ...units import BITS_TO_MBPS, BYTES_TO_MBPS
from .paths import ConnectionPath, paths, payload_share
from .result import NoFormulaError, Prediction

NAME = "fluid"
SOURCE = (
    "ropewalk.model.fluid: windows as a fluid, after Misra, Gong and Towsley, SIGCOMM 2000;"
    " congestion control by RFC 5681, 6356, 9438 and the papers of olia and balia"
)
VALIDITY = (
    "windows of many packets; links with constant rate, delay and loss. For its errors against"
    " simulations see docs/agreement/formulas.md"
)
FEW_ROUND_TRIPS = 20
HELD_UP = 0.3  # share of time at which the shared window counts as the bottleneck
FULL = 0.85  # share of capacity at which links count as full
MUCH_LOSS = 0.05
SENT_HEADERS = 576  # memory of a segment besides its payload in Linux, sk_buff included, bytes
SK_BUFF = 256
SENT_MEMORY = 416  # memory besides the payload of a sent segment, bytes
WIDEST = 1.3  # largest over mean window; fitted to simulations
FILLED = 5 / 6  # mean fill of a send buffer: a blocked writer wakes when a third is free
MAX_LOSS = 0.999  # loss ratio above which no transfer completes in a reasonable time


def predict(setup: Setup) -> Prediction | None:
    """Predict the goodput of bulk transfers and streams; None for striped-tcp."""
    flow, traffic = setup.first, setup.first.traffic
    used = paths(setup)
    endless = any(math.isinf(path.rate) and path.loss == 0 for path in used)
    if flow.protocol == "striped-tcp":
        return None
    outcome = run(setup)[0]
    carried = outcome.goodput * BYTES_TO_MBPS
    if not math.isfinite(carried):
        return None
    streamed = traffic.kind != "bulk"
    goodput = min(carried, traffic.rate * BITS_TO_MBPS) if streamed else carried
    share = goodput / carried if carried > 0 else 0.0
    subflows = [
        {
            "path": path.name,
            "goodput_mbps": each * share * BYTES_TO_MBPS,
            "rtt_ms": 1e3 * rtt,
        }
        for path, each, rtt in zip(
            _subflow_paths(setup, used), outcome.subflows, outcome.rtts, strict=True
        )
    ]
    quantities: dict[str, object] = {"subflows": subflows}
    if math.isfinite(outcome.completion):
        quantities["completion_s"] = outcome.completion
    if streamed:
        quantities["bulk_goodput_mbps"] = carried
    else:
        quantities["window_limited_share"] = outcome.limited
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        goodput_mbps=goodput,
        delay_ms={} if streamed else _delay(setup, outcome),
        bottleneck=(
            "none: the links carry the offered load"
            if streamed and share < 1
            else _bottleneck(setup, outcome)
        ),
        warnings=_outside(setup, endless, outcome),
        quantities=quantities,
        cost=_cost(setup, subflows),
    )


def _subflow_paths(setup: Setup, used: tuple[ConnectionPath, ...]) -> list[ConnectionPath]:
    """Return the path of each subflow."""
    flow = setup.first
    many = flow.subflows_per_path if flow.protocol == "mptcp" else 1
    return [path for path in used for _ in range(many)]


def _delay(setup: Setup, outcome: fluid.Outcome) -> dict[str, float]:
    """Return the mean delay of bytes through a full send buffer; unknown for bas under loss.

    The first writes fill the buffer at once, so their delay grows with their position. Each later
    byte waits for a full buffer, less the reverse delay of the ACK that admitted it.
    """
    if outcome.goodput <= 0:
        return {}
    flow = setup.first
    room: float = flow.send_buffer
    if flow.aggregates:
        if any(path.loss for path in paths(setup)):
            return {}
        room = flow.main_buffer + len(outcome.rtts) * room
    if not flow.aggregates and flow.send_buffer_autotuning:
        carried = zip(outcome.subflows, outcome.rtts, strict=True)
        windows = sum(rate * rtt for rate, rtt in carried)
        room = min(len(outcome.rtts) * room, FILLED * _buffered_windows(flow) * windows)
    held = min(room, outcome.delivered)
    first = held / outcome.goodput / 2
    later = max(held / outcome.goodput - min(outcome.rtts) / 2, 0.0)
    share = held / outcome.delivered if setup.warmup == 0 else 0.0
    return {"mean": 1e3 * (share * first + (1 - share) * later)}


def _cost(setup: Setup, subflows: list[dict[str, object]]) -> float | None:
    links = setup.links
    if not any(link.cost is not None for link in links):
        return None
    wire = 1 / payload_share(setup)
    price = {
        path.name: math.fsum(links[hop].cost or 0.0 for hop in path.hops) for path in paths(setup)
    }
    return math.fsum(
        price[str(each["path"])] * float(str(each["goodput_mbps"])) * wire for each in subflows
    )


def _capacity(setup: Setup) -> float:
    """Return the capacity of the paths, payload bytes/s, with each link counted once."""
    left = [link.forward.rate / 8 for link in setup.links]
    total = 0.0
    for path in sorted(paths(setup), key=lambda path: path.rtt):
        carried = min((left[hop] for hop in path.hops), default=math.inf)
        for hop in path.hops:
            left[hop] = max(left[hop] - carried, 0.0) if math.isfinite(carried) else left[hop]
        total += carried
    return total * payload_share(setup)


def _bottleneck(setup: Setup, outcome: fluid.Outcome) -> str:
    used = paths(setup)
    if outcome.goodput >= FULL * _capacity(setup):
        names = ", ".join(path.name for path in used)
        return f"the rate of {names}" if len(used) == 1 else "the links' rates"
    if outcome.limited > HELD_UP:
        flow = setup.first
        window = flow.window
        what = "send_buffer" if flow.send_buffer < window else "receive_buffer"
        if len(used) == 1:
            return f"the {what}: smaller than the path's bandwidth-delay product"
        rates = zip(_subflow_paths(setup, used), outcome.subflows, outcome.rtts, strict=True)
        # In-order data wait for the segments with the longest round trip, queue included.
        rtt, name = max((rtt, path.name) for path, rate, rtt in rates if rate > 0.0)
        least = 1e3 * min(outcome.rtts)
        return (
            f"the {what}: it is full while data wait on {name}, with a round trip of"
            f" {1e3 * rtt:.0f} ms (shortest: {least:.0f} ms)"
        )
    if setup.others:
        return "the links' rates, shared with others"
    round_trips = setup.duration / max(outcome.rtts)
    if math.isfinite(outcome.completion):
        round_trips = outcome.completion / max(outcome.rtts)
    if round_trips < FEW_ROUND_TRIPS:
        return "the start-up: the run has only a few round trips"
    lossy = [path.name for path in used if path.loss]
    if lossy:
        return f"random loss on {', '.join(lossy)}"
    return "congestion control: its windows do not fill the paths all the time"


def _outside(setup: Setup, endless: bool, outcome: fluid.Outcome) -> tuple[str, ...]:
    flow, used = setup.first, paths(setup)
    links = [setup.links[hop] for path in used for hop in path.hops]
    jitter = any(
        direction.jitter or direction.slot for link in links for direction in link.directions
    )
    checks = {
        "a small window over several paths: bursts matter, and simulations may give half or"
        " twice the goodput; run `simulate`": len(used) > 1
        and flow.protocol == "mptcp"
        and outcome.limited > HELD_UP,
        f"{flow.congestion} couples the windows of several paths: simulations mostly give a"
        " lower goodput": len(used) > 1 and is_coupled(flow.congestion),
        "the congestion control has parameters: the model uses the defaults": bool(
            flow.congestion_parameters or flow.subflow_parameters
        ),
        "links have jitter or slots: the model assumes constant delays": jitter,
        "a link's rate follows a trace: the model uses its mean": any(
            link.forward.trace is not None for link in links
        ),
        "more than 5 % of the packets are lost: the model of timeouts is rough": any(
            path.loss > MUCH_LOSS for path in used
        ),
        "unlimited rate and no loss: the goodput is a window over a round trip": endless,
        "schedulers other than linux and min-rtt are modelled roughly": len(used) > 1
        and flow.protocol == "mptcp"
        and flow.scheduler not in ("linux", "min-rtt"),
    }
    return tuple(text for text, holds in checks.items() if holds)


def run(setup: Setup) -> list[fluid.Outcome]:
    """Run the model on a scenario.

    Returns
    -------
    list of ropewalk.model.fluid.Outcome
        Outcome of the first flow, then of the others.

    Examples
    --------
    >>> import ropewalk
    >>> setup = ropewalk.Scenario.load("trains/eight-links").setup
    >>> round(run(setup)[0].goodput * 8e-6) > 100
    True
    """
    links = [
        fluid.FluidLink(
            link.forward.rate / 8,
            link.forward.queue,
            tuple((begin, end) for begin, end in link.down),
        )
        for link in setup.links
    ]
    connections = [_connection(setup, flow) for flow in setup.every_flow]
    return fluid.run(links, connections, setup.duration, setup.warmup)


def _connection(setup: Setup, flow: Flow) -> fluid.FluidConnection:
    segment = flow.segment
    packet = segment + flow.header_bytes
    scheme = flow.congestion
    scheme = flow.subflow if scheme == "uncoupled" else scheme
    if scheme not in INCREASES:
        raise NoFormulaError(f'{NAME} is left out: it has no formula for congestion = "{scheme}"')
    used = paths(setup, flow)
    subflow_paths = [_path(setup, path, packet, flow.ack_bytes) for path in used]
    if flow.protocol == "mptcp":
        subflow_paths = [each for each in subflow_paths for _ in range(flow.subflows_per_path)]
    return fluid.FluidConnection(
        paths=tuple(subflow_paths),
        congestion=scheme,
        segment=segment,
        packet=packet,
        receive_window=flow.window,
        send_buffer=flow.send_buffer,
        buffered_windows=_buffered_windows(flow),
        size=flow.traffic.most,
        start=flow.start,
        count=flow.count,
        scheduler=flow.scheduler,
        charge_reordered=flow.charge_reordered,
        hystart=flow.hystart,
        byte_counting=flow.byte_counting,
        per_ack=flow.delayed_ack,
        initial_window=flow.initial_window / segment,
        initial_threshold=flow.initial_ssthresh / segment,
        min_rto=flow.min_rto,
        initial_rto=flow.initial_rto,
        shared=flow.protocol == "mptcp",
    )


def _buffered_windows(flow: Flow) -> float:
    """Return the number of congestion windows that Linux's MPTCP writes ahead.

    A send buffer has room for twice the memory of the largest window's segments
    (`tcp_sndbuf_expand`), a connection's for those of all subflows. A sent segment takes memory in
    addition to its payload, counted on its subflow if there are several paths.
    """
    if not flow.send_buffer_autotuning:
        return math.inf
    segment = flow.segment
    memory = 2 ** math.ceil(math.log2(segment + SENT_HEADERS)) + SK_BUFF
    sent = SENT_MEMORY / segment if flow.protocol != "mptcp" else 0.0
    return WIDEST * (2 * float(memory) / float(segment) - sent)


def _path(setup: Setup, path: ConnectionPath, packet: float, ack: float) -> fluid.FluidPath:
    links = [setup.links[hop] for hop in path.hops]
    there = sum(8 * packet / link.forward.rate for link in links)
    back = sum(8 * ack / link.reverse.rate for link in links)
    return fluid.FluidPath(
        links=path.hops,
        delay=path.delay + there,
        rtt=max(path.rtt + there + back, 1e-6),
        loss=min(path.loss, MAX_LOSS),
        reverse_loss=min(path.reverse_loss, MAX_LOSS),
    )
